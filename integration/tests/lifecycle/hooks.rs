//! Hooks: their order, what they are told, and what comes of one that fails.

use std::fs;
use std::path::Path;

use mur_integration::{Bundle, Container, Kind, Run, Runtime, Scratch, leftover, need};
use serde_json::{Value, json};

const OUTSIDE: [&str; 5] =
    ["prestart", "createRuntime", "createContainer", "poststart", "poststop"];

/// A hook that appends its name and the state that it reads to a file.
fn writer(kind: &str, file: &Path) -> Value {
    let script = format!("read -r state; echo \"{kind} $state\" >>{}", file.display());
    json!([{"path": "/bin/sh", "args": ["sh", "-c", script]}])
}

fn with_hooks(scratch: &Scratch, file: &Path) -> Bundle {
    Bundle::busybox(scratch, "b").args(["true"]).edit(|config| {
        for kind in OUTSIDE {
            config["hooks"][kind] = writer(kind, file);
        }
        // Runs in the container's root; the file is bound there.
        config["hooks"]["startContainer"] = writer("startContainer", Path::new("/hooks"));
        config["mounts"]
            .as_array_mut()
            .unwrap()
            .push(json!({"destination": "/hooks", "source": file, "options": ["bind", "rw"]}));
        config["root"]["readonly"] = json!(false);
    })
}

#[test]
fn hooks_run_in_their_order_each_told_the_state() {
    let Some(scratch) = need::root_scratch() else { return };
    let file = scratch.file("told", "");
    let bundle = with_hooks(&scratch, &file);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    if !need::as_crun_does(Runtime::under_test(), "runc 1.1 calls poststart at create") {
        return;
    }
    container.create().ok();
    let told = || -> Vec<(String, Value)> {
        let text = fs::read_to_string(&file).unwrap();
        let words = text.lines().map(|line| line.split_once(' ').unwrap());
        words.map(|(kind, state)| (kind.to_owned(), serde_json::from_str(state).unwrap())).collect()
    };
    let kinds = || told().into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    assert_eq!(kinds(), ["prestart", "createRuntime", "createContainer"]);
    container.start().ok();
    container.wait_until("stopped");
    let mut after_start = kinds().split_off(3);
    // poststart may be told before the process inside gets to its own hook.
    after_start.sort();
    assert_eq!(after_start, ["poststart", "startContainer"]);
    container.delete().ok();
    assert_eq!(kinds().last().unwrap(), "poststop");
    for (kind, state) in told() {
        assert_eq!(state["id"], container.id(), "{kind}");
        // crun tells a hook inside the container paths and numbers of the inside; we tell the host's, as runc.
        let of_inside = ["createContainer", "startContainer"].contains(&kind.as_str())
            && Runtime::under_test().kind() == Kind::Crun;
        if of_inside {
            continue;
        }
        assert_eq!(state["bundle"], bundle.folder().to_str().unwrap(), "{kind}");
        let status = state["status"].as_str().unwrap();
        let right = match kind.as_str() {
            "prestart" | "createRuntime" | "createContainer" => {
                ["creating", "created"].contains(&status)
            }
            "startContainer" => status == "created",
            "poststart" => status == "running",
            _ => status == "stopped",
        };
        assert!(right, "{kind} was told `{status}`");
        if kind != "poststop" && kind != "startContainer" {
            assert!(state["pid"].as_i64().is_some_and(|pid| pid > 0), "{kind}: {state}");
        }
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn a_hook_has_the_environment_of_its_own_entry() {
    let Some(scratch) = need::root_scratch() else { return };
    let file = scratch.path().join("told");
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]).edit(|config| {
        let script = format!("env >{}", file.display());
        config["hooks"]["createRuntime"] =
            json!([{"path": "/bin/sh", "args": ["any name", "-c", script], "env": ["ONLY=this"]}]);
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.begin("run", &[]).env("OF_THE_CALLER", "x").finish().ok();
    let told = fs::read_to_string(&file).unwrap();
    assert!(told.contains("ONLY=this") && !told.contains("OF_THE_CALLER"), "{told}");
}

#[test]
fn a_hook_before_the_start_that_fails_refuses_the_container() {
    let Some(scratch) = need::root_scratch() else { return };
    for kind in ["prestart", "createRuntime", "createContainer"] {
        let bundle = Bundle::busybox(&scratch, kind).args(["true"]).edit(|config| {
            config["hooks"][kind] = json!([{"path": "/bin/false"}]);
        });
        let container = Container::new(Runtime::under_test(), &scratch, &bundle, kind);
        container.create().refused();
        container.on_it("state", &[]).finish().refused();
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn a_hook_that_takes_too_long_is_ended_with_its_children() {
    let Some(scratch) = need::root_scratch() else { return };
    let tag = scratch.name("hook");
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]).edit(|config| {
        let script = format!("exec -a {tag} sleep 60");
        config["hooks"]["createRuntime"] =
            json!([{"path": "/bin/bash", "args": ["bash", "-c", script], "timeout": 1}]);
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let refused = container.create().refused();
    assert!(refused.took.as_secs_f64() < 3.0, "{refused}");
    leftover::nothing_of(&scratch);
}

#[test]
fn a_hook_that_is_missing_or_a_relative_path_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    for (name, path) in [("missing", "/no/such/hook"), ("relative", "bin/true")] {
        let bundle = Bundle::busybox(&scratch, name).args(["true"]).edit(|config| {
            config["hooks"]["createRuntime"] = json!([{"path": path}]);
        });
        Container::new(Runtime::under_test(), &scratch, &bundle, name).create().refused();
    }
    leftover::nothing_of(&scratch);
}
