//! Hooks that fail, and hooks that do not end.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::json;

/// The specification since 1.3: an error, the container is stopped and destroyed, and its poststop hooks run.
/// Before, it asked for a warning alone; of what runtimes do with a foreground `run`, this is what all agree on.
#[test]
fn a_poststart_hook_that_fails_ends_the_container_and_its_poststop_hooks_run() {
    let Some(scratch) = need::root_scratch() else { return };
    let told = scratch.path().join("told");
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]).edit(|config| {
        config["hooks"] = json!({
            "poststart": [{"path": "/bin/false"}],
            "poststop": [{"path": "/bin/touch", "args": ["touch", told]}],
        });
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    if !need::better_than_both(
        Runtime::under_test(),
        "Debian's versions differ from each other and from 1.3",
    ) {
        return;
    }
    container.run().refused();
    assert!(told.exists(), "poststop was not called");
    container.on_it("state", &[]).finish().refused();
    leftover::nothing_of(&scratch);
}

/// The specification: a warning, and the deletion goes on. Else the state is half gone and a retry finds none.
#[test]
fn a_poststop_hook_that_fails_does_not_keep_the_container() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]).edit(|config| {
        config["hooks"] = json!({"poststop": [{"path": "/bin/false"}]});
    });
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    container.wait_until("stopped");
    let deleted = container.delete();
    let state = container.on_it("state", &[]).finish();
    assert_ne!(state.code, 0, "{state}\nafter {deleted}");
    leftover::nothing_of(&scratch);
    leftover::no_state_in(container.root());
    if need::as_crun_does(Runtime::under_test(), "runc reports the hook's failure as its own") {
        assert!(deleted.ok().is_empty());
    }
}

#[test]
fn a_hook_that_fails_or_takes_too_long_never_leaves_the_caller_waiting() {
    let Some(scratch) = need::root_scratch() else { return };
    for (name, hook) in [
        ("fails", json!([{"path": "/bin/false"}])),
        (
            "sleeps",
            json!([{"path": "/bin/sh", "args": ["sh", "-c", "sleep 61 & sleep 61"], "timeout": 1}]),
        ),
    ] {
        if name == "sleeps"
            && !need::better_than_both(
                Runtime::under_test(),
                "they leave or wait for a hook's children",
            )
        {
            continue;
        }
        let bundle = Bundle::busybox(&scratch, name).args(["true"]);
        let bundle = bundle.edit(|config| config["hooks"] = json!({"createRuntime": hook}));
        let container = Container::new(Runtime::under_test(), &scratch, &bundle, name);
        let began = Instant::now();
        let mut child = container
            .begin("create", &[])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A reader waits until the last holder of the pipe is gone, as conmon does.
        let mut said = String::new();
        let mut stderr = child.stderr.take().unwrap();
        let reader = std::thread::spawn(move || {
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        let status = child.wait().unwrap();
        let took = began.elapsed();
        assert!(
            !status.success() && took < Duration::from_secs(5),
            "{name}: {status} after {took:?}"
        );
        assert!(!reader.join().unwrap().is_empty(), "{name}: refused without a word");
        assert!(began.elapsed() < Duration::from_secs(6), "{name}: the pipe was kept open");
        leftover::nothing_of(&scratch);
    }
}
