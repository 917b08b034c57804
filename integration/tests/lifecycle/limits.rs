//! `linux.resources`, `cgroupsPath`, `update` and `events`: limits, and what was used of them.

use std::fs;

use mur_integration::{
    Bundle, Container, Run, Runtime, Scratch, hierarchies, leftover, need, read_limit,
};
use serde_json::{Value, json};

use crate::sleeper;

fn limit(container: &Container<'_>, controller: &str, v1: &str, v2: &str) -> String {
    read_limit(container.state().pid(), controller, v1, v2)
}

fn limited(scratch: &Scratch, resources: &Value) -> Bundle {
    Bundle::busybox(scratch, "b").args(["sleep", "1000"]).edit(|config| {
        for (key, value) in resources.as_object().unwrap() {
            config["linux"]["resources"][key] = value.clone();
        }
    })
}

#[test]
fn memory_pids_and_cpu_limits_are_written() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = limited(
        &scratch,
        &json!({
            "memory": {"limit": 67_108_864}, "pids": {"limit": 50},
            "cpu": {"quota": 50_000, "period": 100_000},
        }),
    );
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    assert_eq!(limit(&container, "memory", "memory.limit_in_bytes", "memory.max"), "67108864");
    assert_eq!(limit(&container, "pids", "pids.max", "pids.max"), "50");
    let quota = limit(&container, "cpu", "cpu.cfs_quota_us", "cpu.max");
    assert!(["50000", "50000 100000"].contains(&quota.as_str()), "{quota}");
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn a_limit_on_processes_holds() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; echo all started";
    let bundle = limited(&scratch, &json!({"pids": {"limit": 5}})).shell(script);
    let finished = Container::new(Runtime::under_test(), &scratch, &bundle, "c").run();
    assert!(finished.both().contains("can't fork"), "{finished}");
    leftover::nothing_of(&scratch);
}

#[test]
fn devices_that_are_not_allowed_cannot_be_opened() {
    let Some(scratch) = need::root_scratch() else { return };
    let full =
        json!({"path": "/dev/kmsg", "type": "c", "major": 1, "minor": 11, "fileMode": 0o666});
    let script = "head -c 1 /dev/zero | wc -c; head -c 1 /dev/kmsg >/dev/null";
    let bundle = Bundle::busybox(&scratch, "b").shell(script);
    let bundle = bundle.edit(|config| config["linux"]["devices"] = json!([full]));
    let refused = Container::new(Runtime::under_test(), &scratch, &bundle, "c").run().refused();
    assert!(refused.stdout.starts_with('1'), "{refused}");
    assert!(refused.stderr.contains("not permitted"), "{refused}");
    leftover::nothing_of(&scratch);
}

#[test]
fn the_control_group_is_where_the_config_says() {
    let Some(scratch) = need::root_scratch() else { return };
    let path = format!("/{}/deep/er", scratch.name("group"));
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let bundle = bundle.edit(|config| config["linux"]["cgroupsPath"] = json!(path));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let own = fs::read_to_string(format!("/proc/{}/cgroup", container.state().pid())).unwrap();
    assert!(
        own.lines().any(|line| line.contains("pids") && line.ends_with(&path))
            || own.contains(&format!("0::{path}")),
        "{own}"
    );
    container.delete_by_force().ok();
    for hierarchy in hierarchies() {
        assert!(!hierarchy.mount.join(path.trim_start_matches('/')).exists());
        // The parents were made on the way; runtimes differ on removing them, so the test does.
        for parent in [format!("{}/deep", scratch.name("group")), scratch.name("group")] {
            let _ = fs::remove_dir(hierarchy.mount.join(parent));
        }
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn update_changes_limits_of_a_running_container() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    container.on_it("update", &["--memory", "33554432", "--pids-limit", "20"]).finish().ok();
    assert_eq!(limit(&container, "memory", "memory.limit_in_bytes", "memory.max"), "33554432");
    assert_eq!(limit(&container, "pids", "pids.max", "pids.max"), "20");
    let resources = json!({"memory": {"limit": 50_331_648}, "pids": {"limit": 30}}).to_string();
    container.on_it("update", &["--resources", "-"]).finish_with(resources.as_bytes()).ok();
    assert_eq!(limit(&container, "memory", "memory.limit_in_bytes", "memory.max"), "50331648");
    assert_eq!(limit(&container, "pids", "pids.max", "pids.max"), "30");
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn events_with_stats_gives_one_reading_of_what_is_used() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    if !need::as_runc_does(Runtime::under_test(), "crun has no `events`") {
        return;
    }
    let said = container.on_it("events", &["--stats"]).finish().ok();
    let reading: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(reading["type"], "stats");
    assert_eq!(reading["id"], container.id());
    assert!(reading["data"]["memory"]["usage"]["usage"].as_u64().unwrap() > 0, "{reading}");
    assert_eq!(reading["data"]["pids"]["current"], 1, "{reading}");
    assert!(reading["data"]["cpu"]["usage"]["total"].as_u64().is_some(), "{reading}");
}
