//! Ids, versions, and containers that are half there or not at all.

use std::fs;
use std::time::Duration;

use mur_integration::{Bundle, Container, Kind, Run, Runtime, leftover, need};
use serde_json::json;

use crate::run;

#[test]
fn an_id_that_is_no_name_is_refused_before_anything_is_made() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let beside = || -> Vec<_> {
        let mut names: Vec<_> =
            fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    scratch.folder("state");
    let before = beside();
    let long = "x".repeat(1025);
    for id in [".", "..", "a/b", "../b", "", "new\nline", "sp ace", "ü", &long] {
        let container = Container::with_id(Runtime::under_test(), &scratch, &bundle, id);
        let finished = container.create();
        let as_we_do = finished.code != 0 || Runtime::under_test().kind() != Kind::Crun;
        if !as_we_do {
            need::as_runc_does(Runtime::under_test(), "crun takes more for an id");
            container.delete_by_force();
            continue;
        }
        finished.refused();
        assert_eq!(beside(), before, "`{id}` made something beside the state folder");
        leftover::no_state_in(container.root());
        std::mem::forget(container);
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn an_id_that_looks_like_a_flag_is_not_taken_for_a_name() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let container = Container::with_id(Runtime::under_test(), &scratch, &bundle, "-x");
    container.create().refused();
    leftover::no_state_in(container.root());
    std::mem::forget(container);
}

#[test]
fn ids_as_long_and_as_odd_as_engines_make_them_are_taken() {
    let Some(scratch) = need::root_scratch() else { return };
    let hex = format!(
        "{}{}",
        scratch.tag().replace(|c: char| !c.is_ascii_hexdigit(), "0"),
        "f".repeat(64)
    );
    for id in [&hex[..64], "A+b_c-d.e", "0", "a..b"] {
        let id = if id.len() == 64 { id.to_owned() } else { format!("{}{id}", scratch.tag()) };
        let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
        let container = Container::with_id(Runtime::under_test(), &scratch, &bundle, &id);
        container.launch();
        assert_eq!(container.state().json()["id"], id.as_str());
        container.exec(&["true"]).ok();
        container.delete_by_force().ok();
        fs::remove_dir_all(bundle.folder()).unwrap();
    }
    leftover::nothing_of(&scratch);
}

/// A check that is too narrow is the worse mistake: engines write the version they were built with.
#[test]
fn every_first_version_of_the_specification_is_taken_and_nothing_else() {
    let Some(scratch) = need::root_scratch() else { return };
    for (version, is_good) in [
        (json!("1.0.0"), true),
        (json!("1.0.2-dev"), true),
        (json!("1.2.1"), true),
        (json!("1.3.0"), true),
        (json!("1.99.0"), true),
        (json!("junk"), false),
        (json!("2.0.0"), false),
        (json!("0.9.0"), false),
        (json!(""), false),
        (json!(null), false),
        (json!("1"), false),
        (json!(1), false),
    ] {
        let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
        let bundle = bundle.edit(|config| {
            if version.is_null() {
                config.as_object_mut().unwrap().remove("ociVersion");
            } else {
                config["ociVersion"] = version.clone();
            }
        });
        let finished = run(&scratch, &bundle);
        fs::remove_dir_all(bundle.folder()).unwrap();
        if (finished.code == 0) != is_good
            && !need::better_than_both(
                Runtime::under_test(),
                &format!("they answer otherwise to {version}"),
            )
        {
            continue;
        }
        if is_good {
            finished.ok();
        } else {
            finished.refused();
        }
    }
}

#[test]
fn deletion_by_force_of_what_is_not_there_succeeds_and_without_force_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "nosuch");
    assert_eq!(container.delete_by_force().ok(), "");
    container.delete().refused();
}

#[test]
fn a_create_that_was_killed_half_way_leaves_nothing_that_force_does_not_delete() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let runtime = Runtime::under_test();
    if !need::better_than_both(runtime, "a killed create leaves their control group or their init")
    {
        return;
    }
    for step in 0..40_u64 {
        let container = Container::new(runtime, &scratch, &bundle, &format!("c{step}"));
        let mut creating =
            container.begin("create", &[]).stdin(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(step * 250));
        creating.kill().unwrap();
        creating.wait().unwrap();
        container.delete_by_force().ok();
        leftover::nothing_of(&scratch);
        container.create().ok();
        container.delete_by_force().ok();
    }
    leftover::nothing_of(&scratch);
}

/// containerd and podman look for these words.
#[test]
fn a_signal_to_a_stopped_container_is_answered_in_the_words_engines_know() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    container.wait_until("stopped");
    let stopped = container.kill("TERM").refused();
    if need::as_runc_does(Runtime::under_test(), "crun says `No such process`") {
        assert!(stopped.stderr.contains("container not running"), "{stopped}");
    }
    container.verb("kill", &["--all", container.id(), "KILL"]).finish().ok();
    if !need::as_runc_does(Runtime::under_test(), "crun names the file that it did not find") {
        return;
    }
    let missing = container.verb("kill", &["nosuch", "TERM"]).finish().refused();
    assert!(missing.stderr.contains("does not exist"), "{missing}");
}
