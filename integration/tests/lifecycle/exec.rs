//! `exec`: a second process in a running container.

use std::fs;
use std::time::{Duration, Instant};

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::json;

use crate::sleeper;

#[test]
fn exec_gives_the_output_and_the_exit_code() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    assert_eq!(container.exec(&["echo", "hi"]).ok(), "hi\n");
    container.exec(&["sh", "-c", "exit 9"]).exited(9);
    container.exec(&["sh", "-c", "kill -KILL $$"]).exited(137);
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn exec_lives_in_the_namespaces_root_and_control_groups_of_the_container() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let namespaces = ["pid", "net", "ipc", "uts", "mnt", "cgroup"];
    for namespace in namespaces {
        let link = format!("/proc/self/ns/{namespace}");
        let inside = container.exec(&["readlink", &link]).ok();
        let of_init =
            fs::read_link(format!("/proc/{}/ns/{namespace}", container.state().pid())).unwrap();
        assert_eq!(inside.trim(), of_init.to_str().unwrap());
        assert_ne!(of_init, fs::read_link(&link).unwrap());
    }
    let groups = container.exec(&["cat", "/proc/self/cgroup"]).ok();
    let of_init = container.exec(&["cat", "/proc/1/cgroup"]).ok();
    assert_eq!(groups, of_init);
}

#[test]
fn exec_takes_environment_folder_and_user_from_its_flags() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    if !need::as_runc_does(
        Runtime::under_test(),
        "crun 1.8 drops the container's environment with --env",
    ) {
        return;
    }
    let script = "echo $A $B; pwd; id -u; id -g";
    let flags = ["--env", "A=1", "--env", "B=2", "--cwd", "/tmp", "--user", "12:34"];
    assert_eq!(container.exec_with(&flags, &["sh", "-c", script]).ok(), "1 2\n/tmp\n12\n34\n");
    // Without flags they are the container's own.
    assert_eq!(container.exec(&["sh", "-c", "echo $TERM; pwd; id -u"]).ok(), "xterm\n/\n0\n");
}

#[test]
fn exec_takes_everything_from_a_process_file() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let process = json!({
        "terminal": false, "user": {"uid": 5, "gid": 6, "additionalGids": [7, 8]}, "cwd": "/usr",
        "args": ["sh", "-c", "id -u; id -G; pwd; echo $X; grep CapEff /proc/self/status"],
        "env": ["PATH=/bin", "X=y"], "noNewPrivileges": true,
    });
    let file = scratch.file("process.json", process.to_string());
    let said = container.on_it("exec", &["--process", file.to_str().unwrap()]).finish().ok();
    assert_eq!(said, "5\n6 7 8\n/usr\ny\nCapEff:\t0000000000000000\n");
}

#[test]
fn exec_detached_returns_at_once_and_writes_the_pid() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let pid_file = scratch.path().join("pid");
    container
        .exec_with(&["--detach", "--pid-file", pid_file.to_str().unwrap()], &["sleep", "999"])
        .ok();
    let pid = fs::read_to_string(&pid_file).unwrap();
    // It may come back before the new process has become its program.
    let words = || fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while words() != "sleep\u{0}999\u{0}" {
        assert!(Instant::now() < deadline, "{}", words());
        std::thread::sleep(Duration::from_millis(10));
    }
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn exec_has_the_capabilities_of_the_container_and_those_asked_for() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let effective = ["grep", "CapEff", "/proc/self/status"];
    // kill 5, net_bind_service 10, audit_write 29
    assert_eq!(container.exec(&effective).ok(), "CapEff:\t0000000020000420\n");
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 takes --cap instead of the container's")
    {
        return;
    }
    let more = container.exec_with(&["--cap", "CAP_SYS_CHROOT"], &effective).ok();
    assert_eq!(more, "CapEff:\t0000000020040420\n");
}

#[test]
fn exec_is_under_the_filter_of_the_container() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]).edit(|config| {
        config["linux"]["seccomp"] = json!({
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 93}],
        });
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let refused = container.exec(&["mkdir", "/tmp/x"]).refused();
    assert!(refused.stderr.contains("Protocol not supported"), "{refused}");
}

#[test]
fn exec_of_what_cannot_be_found_leaves_the_container_running() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    // Engines know 255 from a program's own codes by the text alone.
    container.exec(&["/no/such"]).refused().exited(255);
    assert_eq!(container.state().status(), "running");
    assert_eq!(container.exec(&["echo", "still here"]).ok(), "still here\n");
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn exec_into_a_paused_container_is_refused_unless_that_is_to_be_ignored() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    container.on_it("pause", &[]).finish().ok();
    let refused = container.exec(&["true"]).refused();
    assert!(refused.stderr.contains("paused"), "{refused}");
    container.on_it("resume", &[]).finish().ok();
    container.exec(&["true"]).ok();
}
