//! `process` of the config: what the container's process finds about itself.

use std::os::fd::AsRawFd;
use std::process::Command;

use mur_integration::{Bundle, Container, Run, Runtime, need};
use serde_json::json;

use crate::run;

#[test]
fn the_process_has_the_user_groups_umask_and_folder_of_the_config() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("id -u; id -g; id -G; umask; pwd");
    let bundle = bundle.edit(|config| {
        config["process"]["user"] =
            json!({"uid": 11, "gid": 22, "additionalGids": [33, 44], "umask": 0o027});
        config["process"]["cwd"] = json!("/usr");
    });
    assert_eq!(run(&scratch, &bundle).ok(), "11\n22\n22 33 44\n0027\n/usr\n");
}

#[test]
fn a_folder_that_is_missing_is_made_where_the_root_may_be_written() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["pwd"]).edit(|config| {
        config["process"]["cwd"] = json!("/var/deep/er");
        config["root"]["readonly"] = json!(false);
    });
    assert_eq!(run(&scratch, &bundle).ok(), "/var/deep/er\n");
}

#[test]
fn the_environment_is_the_one_of_the_config_and_nothing_of_the_callers() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["/bin/env"]).edit(|config| {
        config["process"]["env"] = json!(["PATH=/bin", "A=with = and space", "HOME=/here"]);
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let said = container.begin("run", &[]).env("SECRET_OF_THE_CALLER", "x").finish().ok();
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=with = and space", "HOME=/here", "PATH=/bin"]);
}

#[test]
fn capabilities_are_exactly_those_of_the_config() {
    let Some(scratch) = need::root_scratch() else { return };
    let set = |names: &[&str]| json!(names);
    let bundle =
        Bundle::busybox(&scratch, "b").args(["grep", "^Cap", "/proc/self/status"]).edit(|config| {
            config["process"]["capabilities"] = json!({
                "bounding": set(&["CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW"]),
                "permitted": set(&["CAP_CHOWN", "CAP_KILL"]),
                "effective": set(&["CAP_CHOWN", "CAP_KILL"]),
                "inheritable": set(&["CAP_KILL"]),
                "ambient": set(&["CAP_KILL"]),
            });
            config["process"]["user"] = json!({"uid": 1000, "gid": 1000});
        });
    // An ordinary user's program keeps what is ambient: CAP_KILL is bit 5. Bounding: bits 0, 5 and 13.
    let said = run(&scratch, &bundle).ok().replace("0000000000", "");
    let found: Vec<&str> = said.split_whitespace().collect();
    assert_eq!(
        found,
        [
            "CapInh:", "000020", "CapPrm:", "000020", "CapEff:", "000020", "CapBnd:", "002021",
            "CapAmb:", "000020"
        ]
    );
}

#[test]
fn no_new_privileges_is_as_the_config_says() {
    let Some(scratch) = need::root_scratch() else { return };
    for (wanted, shown) in [(true, "NoNewPrivs:\t1\n"), (false, "NoNewPrivs:\t0\n")] {
        let name = format!("b{wanted}");
        let bundle =
            Bundle::busybox(&scratch, &name).args(["grep", "NoNewPrivs", "/proc/self/status"]);
        let bundle = bundle.edit(|config| config["process"]["noNewPrivileges"] = json!(wanted));
        assert_eq!(run(&scratch, &bundle).ok(), shown);
    }
}

#[test]
fn limits_of_the_process_are_those_of_the_config() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Ss";
    let bundle = Bundle::busybox(&scratch, "b").shell(script).edit(|config| {
        config["process"]["rlimits"] = json!([
            {"type": "RLIMIT_NOFILE", "soft": 100, "hard": 200},
            {"type": "RLIMIT_CORE", "soft": 0, "hard": 0},
            {"type": "RLIMIT_STACK", "soft": 1_048_576, "hard": 2_097_152},
        ]);
    });
    assert_eq!(run(&scratch, &bundle).ok(), "100\n200\n0\n1024\n");
}

#[test]
fn the_out_of_memory_score_is_adjusted() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["cat", "/proc/self/oom_score_adj"]);
    let bundle = bundle.edit(|config| config["process"]["oomScoreAdj"] = json!(321));
    assert_eq!(run(&scratch, &bundle).ok(), "321\n");
}

#[test]
fn only_the_standard_streams_are_open_inside() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle =
        Bundle::busybox(&scratch, "b").shell("ls /proc/self/fd | wc -l; ls -l /proc/self/fd/");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    // A folder of the host, open in the caller and inherited by the runtime.
    let said = Command::new("sh")
        .args(["-c", "exec 7</ 9</etc/hostname; exec \"$@\"", "sh"])
        .arg(Runtime::under_test().program())
        .args(container.begin("run", &[]).get_args())
        .finish()
        .ok();
    // 0, 1, 2 and the folder that `ls` reads.
    assert_eq!(said.lines().next(), Some("4"), "{said}");
}

#[test]
fn descriptors_to_preserve_arrive_at_their_numbers() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("cat <&3; cat <&4; ls /proc/self/fd | wc -l");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let (one, two) = (scratch.file("one", "first\n"), scratch.file("two", "second\n"));
    let said = Command::new("sh")
        .args(["-c", "exec 3<\"$1\" 4<\"$2\" 5</; shift 2; exec \"$@\"", "sh"])
        .args([one, two])
        .arg(Runtime::under_test().program())
        .args(container.begin("run", &["--preserve-fds", "2"]).get_args())
        .finish()
        .ok();
    assert_eq!(said, "first\nsecond\n6\n");
}

#[test]
fn standard_input_is_the_callers() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["cat"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    assert_eq!(
        container.begin("run", &[]).finish_with(b"through and through").ok(),
        "through and through"
    );
}

#[test]
fn a_pipe_of_the_caller_can_be_opened_again_by_its_name() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle =
        Bundle::busybox(&scratch, "b").shell("echo named >/proc/self/fd/1; echo std >/dev/stdout");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let (mut reader, writer) = std::io::pipe().unwrap();
    assert!(writer.as_raw_fd() > 2);
    let mut command = container.begin("run", &[]);
    let status = command.stdout(writer).status().unwrap();
    drop(command);
    assert!(status.success());
    assert_eq!(std::io::read_to_string(&mut reader).unwrap(), "named\nstd\n");
}

#[test]
fn personality_makes_a_32_bit_machine_of_it() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["uname", "-m"]);
    let bundle =
        bundle.edit(|config| config["linux"]["personality"] = json!({"domain": "LINUX32"}));
    let runtime = Runtime::under_test();
    if !need::as_crun_does(runtime, "runc 1.1 knows no personality") {
        return;
    }
    assert_eq!(run(&scratch, &bundle).ok(), "i686\n");
}
