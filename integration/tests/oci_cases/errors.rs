//! What engines read: error texts, codes, logs; and what a process finds without being told.

use std::fs;

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::{Value, json};

use crate::{run, writable};

/// podman makes 127 of what is missing and 126 of what cannot be executed, by these words.
#[test]
fn a_program_that_cannot_be_started_is_refused_in_the_words_engines_know() {
    let Some(scratch) = need::root_scratch() else { return };
    for (program, words) in [
        ("/no/such", &["no such file or directory"][..]),
        (
            "nosuch",
            &["executable file not found in $path", "executable file `nosuch` not found in $path"]
                [..],
        ),
        ("/etc", &["is a directory", "permission denied", "is not a regular file"][..]),
        ("/etc/passwd", &["permission denied"][..]),
    ] {
        let bundle = Bundle::busybox(&scratch, "b").args([program]);
        let refused = run(&scratch, &bundle).refused();
        fs::remove_dir_all(bundle.folder()).unwrap();
        let said = refused.stderr.to_lowercase();
        if program.starts_with("/etc")
            && !need::as_runc_does(Runtime::under_test(), "crun does not name the program")
        {
            continue;
        }
        assert!(words.iter().any(|word| said.contains(word)), "{program}: {refused}");
        assert!(said.contains(program), "{program}: {refused}");
    }
    let bundle = Bundle::busybox(&scratch, "empty").args([""]);
    run(&scratch, &bundle).refused();
    let none = bundle.edit(|config| config["process"]["args"] = json!([]));
    run(&scratch, &none).refused();
}

#[test]
fn a_broken_config_is_told_in_the_log_and_on_stderr() {
    let Some(scratch) = need::root_scratch() else { return };
    let state = scratch.folder("state");
    for (name, flags) in [("missing", &[][..]), ("no-systemd", &["--systemd-cgroup"][..])] {
        if name == "no-systemd" && std::path::Path::new("/run/systemd/system").exists() {
            continue;
        }
        let bundle = Bundle::busybox(&scratch, name).args(["true"]);
        if name == "missing" {
            fs::remove_file(bundle.folder().join("config.json")).unwrap();
        }
        let log = scratch.path().join(format!("{name}.log"));
        let mut command = Runtime::under_test().command(["--root"]);
        command.arg(&state).arg("--log").arg(&log).args(["--log-format", "json"]).args(flags);
        command.args(["create", "--bundle"]).arg(bundle.folder()).arg(scratch.name(name));
        let refused = command.finish().refused();
        let text = fs::read_to_string(&log).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert!(!lines.is_empty(), "{name}: nothing in the log: {refused}");
        for line in &lines {
            for key in ["level", "msg", "time"] {
                assert!(line[key].is_string(), "{name}: no `{key}` in {line}");
            }
        }
        leftover::nothing_of(&scratch);
    }
}

#[test]
fn home_is_found_in_the_images_passwd_and_is_the_root_otherwise() {
    let Some(scratch) = need::root_scratch() else { return };
    let home_of = |name: &str, uid: u32, passwd: bool, env: Value| {
        let bundle = writable(&scratch, name).args(["/bin/env"]).edit(|config| {
            config["process"]["user"] = json!({"uid": uid, "gid": 0});
            config["process"]["env"] = env;
        });
        fs::write(
            bundle.inside("etc/passwd"),
            "root:x:0:0::/root:/bin/sh\nuser:x:7:7::/home/user:/bin/sh\n",
        )
        .unwrap();
        if !passwd {
            fs::remove_file(bundle.inside("etc/passwd")).unwrap();
        }
        let said = run(&scratch, &bundle).ok();
        said.lines().find_map(|line| line.strip_prefix("HOME=")).map(str::to_owned)
    };
    let path = json!(["PATH=/bin"]);
    assert_eq!(home_of("root", 0, true, path.clone()).as_deref(), Some("/root"));
    assert_eq!(home_of("named", 7, true, path.clone()).as_deref(), Some("/home/user"));
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 sets no HOME for an unknown user") {
        return;
    }
    assert_eq!(home_of("unknown", 4242, true, path.clone()).as_deref(), Some("/"));
    assert_eq!(home_of("no-passwd", 7, false, path).as_deref(), Some("/"));
    assert_eq!(
        home_of("given", 7, true, json!(["PATH=/bin", "HOME=/given"])).as_deref(),
        Some("/given")
    );
    assert_eq!(home_of("nothing-given", 4242, true, json!([])).as_deref(), Some("/"));
}

#[test]
fn exec_by_a_process_file_without_an_environment_finds_home() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let process = json!({"user": {"uid": 0, "gid": 0}, "cwd": "/", "args": ["/bin/env"]});
    let file = scratch.file("process.json", process.to_string());
    let said = container.on_it("exec", &["--process", file.to_str().unwrap()]).finish().ok();
    assert!(said.lines().any(|line| line == "HOME=/root"), "{said}");
}
