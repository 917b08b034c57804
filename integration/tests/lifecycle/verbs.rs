//! `create start state kill delete run pause resume list ps`: what each verb changes, and what it refuses.

use std::fs;
use std::path::Path;

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::Value;

use crate::{run, sleeper};

#[test]
fn a_container_is_created_started_killed_deleted_and_gone() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("touch /tmp/began; exec sleep 1000");
    let bundle = bundle.edit(|config| config["root"]["readonly"] = false.into());
    let began = bundle.inside("tmp/began");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.create().ok();
    let created = container.state();
    assert_eq!(created.status(), "created");
    assert!(Path::new(&format!("/proc/{}", created.pid())).exists());
    assert!(!began.exists(), "the process ran before start");
    container.start().ok();
    let running = container.wait_until("running");
    assert_eq!(running.pid(), created.pid());
    container.kill("KILL").ok();
    container.wait_until("stopped");
    assert!(began.exists());
    container.delete().ok();
    container.on_it("state", &[]).finish().refused();
    leftover::nothing_of(&scratch);
}

#[test]
fn state_says_what_the_specification_asks_for() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let bundle = bundle.edit(|config| config["annotations"]["org.example.key"] = "value".into());
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let state = container.state();
    assert_eq!(state.json()["id"], container.id());
    assert_eq!(state.json()["bundle"], bundle.folder().to_str().unwrap());
    assert_eq!(state.json()["annotations"]["org.example.key"], "value");
    assert!(state.json()["ociVersion"].as_str().unwrap().starts_with("1."));
    assert_eq!(state.status(), "running");
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn run_gives_the_output_and_the_exit_code_of_the_process() {
    let Some(scratch) = need::root_scratch() else { return };
    for (script, code) in
        [("echo out; echo err >&2", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("exit 255", 255)]
    {
        // Wrapped, since the kernel does not deliver a signal to a namespace's init that it does not handle.
        let bundle =
            Bundle::busybox(&scratch, "b").args(["sh", "-c", "sh -c \"$0\"; exit $?", script]);
        let finished = run(&scratch, &bundle).exited(code);
        if code == 0 {
            assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        }
        fs::remove_dir_all(bundle.folder()).unwrap();
    }
}

#[test]
fn run_of_a_killed_process_exits_with_128_and_the_signal() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    let foreground = std::thread::scope(|scope| {
        let running = scope.spawn(|| container.run());
        while !container.root().join(container.id()).exists()
            || container.on_it("state", &[]).finish().stdout.is_empty()
        {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        container.wait_until("running");
        container.kill("KILL").ok();
        running.join().unwrap()
    });
    assert_eq!(foreground.code, 137, "{foreground}");
    leftover::nothing_of(&scratch);
}

#[test]
fn run_detached_returns_while_the_process_runs() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    let pid_file = scratch.path().join("pid");
    container.begin("run", &["--detach", "--pid-file", pid_file.to_str().unwrap()]).finish().ok();
    let state = container.wait_until("running");
    assert_eq!(fs::read_to_string(pid_file).unwrap(), state.pid().to_string());
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn a_second_container_with_the_same_id_is_refused_and_the_first_lives() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let pid = container.state().pid();
    container.create().refused();
    container.run().refused();
    let state = container.state();
    assert_eq!((state.status(), state.pid()), ("running", pid));
}

#[test]
fn verbs_that_do_not_fit_the_state_are_refused_and_change_nothing() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    container.start().refused();
    container.delete().refused();
    assert_eq!(container.state().status(), "running");
    container.kill("KILL").ok();
    container.wait_until("stopped");
    container.start().refused();
    container.kill("TERM").refused();
    container.exec(&["true"]).refused();
    container.delete().ok();
    container.delete().refused();
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn what_was_created_and_never_started_is_deleted() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.create().ok();
    container.kill("KILL").ok();
    container.wait_until("stopped");
    container.delete().ok();
    container.create().ok();
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
    leftover::no_state_in(container.root());
}

#[test]
fn signals_are_taken_by_name_with_and_without_sig_and_by_number() {
    let Some(scratch) = need::root_scratch() else { return };
    let script =
        "trap 'echo got >>/tmp/got' USR1; echo ready >/tmp/ready; while :; do sleep 0.02; done";
    let bundle = Bundle::busybox(&scratch, "b").shell(script);
    let bundle = bundle.edit(|config| config["root"]["readonly"] = false.into());
    let got = bundle.inside("tmp/got");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let eventually = |wanted: &dyn Fn() -> bool| {
        for _ in 0..500 {
            if wanted() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        false
    };
    assert!(eventually(&|| bundle.inside("tmp/ready").exists()));
    for (times, signal) in ["USR1", "SIGUSR1", "10"].into_iter().enumerate() {
        container.kill(signal).ok();
        let lines = || fs::read_to_string(&got).unwrap_or_default().lines().count();
        assert!(eventually(&|| lines() == times + 1), "`{signal}` did not arrive");
    }
    if need::as_runc_does(Runtime::under_test(), "crun 1.8 takes any word for a signal") {
        container.kill("NOSUCH").refused();
    }
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn pause_stops_every_process_and_resume_lets_them_go_on() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle =
        Bundle::busybox(&scratch, "b").shell("while :; do echo >>/tmp/ticks; sleep 0.02; done");
    let bundle = bundle.edit(|config| config["root"]["readonly"] = false.into());
    let size = || fs::metadata(bundle.inside("tmp/ticks")).map_or(0, |file| file.len());
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let moves = || {
        let before = size();
        std::thread::sleep(std::time::Duration::from_millis(300));
        size() > before
    };
    assert!(moves());
    container.on_it("pause", &[]).finish().ok();
    assert_eq!(container.state().status(), "paused");
    assert!(!moves());
    container.on_it("resume", &[]).finish().ok();
    assert_eq!(container.state().status(), "running");
    assert!(moves());
    container.on_it("pause", &[]).finish().ok();
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn list_names_every_container_with_its_pid_status_and_bundle() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    let empty: Value =
        serde_json::from_str(&container.verb("list", &["--format", "json"]).finish().ok()).unwrap();
    assert!(empty.is_null() || empty.as_array().is_some_and(Vec::is_empty), "{empty}");
    container.launch();
    let found: Value =
        serde_json::from_str(&container.verb("list", &["--format", "json"]).finish().ok()).unwrap();
    let state = container.state();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["id"], container.id());
    assert_eq!(found[0]["pid"], state.pid());
    assert_eq!(found[0]["status"], "running");
    assert_eq!(found[0]["bundle"], state.json()["bundle"]);
    assert_eq!(container.verb("list", &["--quiet"]).finish().ok().trim(), container.id());
    let table = container.verb("list", &[]).finish().ok();
    assert!(table.lines().next().unwrap().contains("PID"), "{table}");
    assert!(table.contains(container.id()), "{table}");
}

#[test]
fn ps_gives_the_pids_of_every_process_inside() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("sleep 1000 & sleep 1000 & wait");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let pids = || -> Vec<i64> {
        let text = container.verb("ps", &["--format", "json", container.id()]).finish().ok();
        serde_json::from_str(&text).unwrap()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while pids().len() < 3 {
        assert!(std::time::Instant::now() < deadline, "{:?}", pids());
    }
    assert!(pids().contains(&i64::from(container.state().pid())));
}

#[test]
fn features_says_what_the_runtime_honours() {
    let runtime = Runtime::under_test();
    if !need::as_runc_does(runtime, "crun has `features` since 1.8.6 only") {
        return;
    }
    let features: Value =
        serde_json::from_str(&runtime.command(["features"]).finish().ok()).unwrap();
    let strings = |key: &Value| -> Vec<String> { serde_json::from_value(key.clone()).unwrap() };
    assert!(features["ociVersionMax"].as_str().unwrap().starts_with("1."));
    let namespaces = strings(&features["linux"]["namespaces"]);
    for wanted in ["cgroup", "ipc", "mount", "network", "pid", "user", "uts"] {
        assert!(namespaces.contains(&wanted.to_owned()), "{wanted}");
    }
    assert!(strings(&features["hooks"]).contains(&"createRuntime".to_owned()));
    assert_eq!(features["linux"]["seccomp"]["enabled"], true);
    if runtime.is_ours() {
        assert!(
            features["annotations"]
                .as_object()
                .unwrap()
                .keys()
                .any(|key| key.starts_with("org.murmur."))
        );
    }
}

#[test]
fn spec_writes_a_config_that_runs_as_it_is() {
    let Some(scratch) = need::root_scratch() else { return };
    let runtime = Runtime::under_test();
    let bundle = Bundle::busybox(&scratch, "b");
    fs::remove_file(bundle.folder().join("config.json")).unwrap();
    runtime.command(["spec"]).current_dir(bundle.folder()).finish().ok();
    let written = Bundle::open(bundle.folder());
    assert_eq!(written.config()["process"]["args"], serde_json::json!(["sh"]));
    assert_eq!(written.config()["root"]["path"], "rootfs");
    let bundle = written.args(["echo", "as written"]).edit(|config| {
        config["process"]["terminal"] = false.into();
    });
    assert_eq!(run(&scratch, &bundle).ok(), "as written\n");
    // It never overwrites one.
    runtime.command(["spec"]).current_dir(bundle.folder()).finish().refused();
}

#[test]
fn an_error_is_one_json_line_in_the_log_and_the_same_words_on_stderr() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["/no/such/program"]);
    let log = scratch.path().join("log");
    let finished = Runtime::under_test()
        .command(["--root"])
        .arg(scratch.folder("state"))
        .arg("--log")
        .arg(&log)
        .args(["--log-format", "json", "create", "--bundle"])
        .arg(bundle.folder())
        .arg(scratch.name("c"))
        .finish()
        .refused();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = lines.iter().find(|line| line["level"] == "error").expect("no error in the log");
    let message = error["msg"].as_str().unwrap();
    assert!(message.contains("/no/such/program"), "{message}");
    assert!(error["time"].as_str().unwrap().contains('T'));
    assert!(finished.stderr.contains("/no/such/program"), "{finished}");
    leftover::nothing_of(&scratch);
}

#[test]
fn version_names_the_runtime_and_the_specification() {
    let said = Runtime::under_test().command(["--version"]).finish().ok();
    assert!(said.contains("spec: 1."), "{said}");
}
