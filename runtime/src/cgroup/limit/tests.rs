use std::path::Path;

use super::super::layout::{V1Hierarchy, V2Hierarchy};
use super::*;

fn v1() -> Layout {
    let names = ["memory", "cpu", "cpuset", "pids", "blkio", "hugetlb", "net_cls", "net_prio"];
    let v1 = names.map(|name| V1Hierarchy {
        subsystems: vec![name.to_owned()],
        mount: Path::new("/cg").join(name),
        own: "/".into(),
    });
    Layout { v1: v1.to_vec(), v2: None }
}

fn v2() -> Layout {
    let names = ["memory", "cpu", "cpuset", "pids", "io", "hugetlb", "rdma"];
    let controllers = names.map(str::to_owned).to_vec();
    let v2 = V2Hierarchy { controllers, mount: "/cg".into(), own: "/".into() };
    Layout { v1: Vec::new(), v2: Some(v2) }
}

/// The first way of each step, as `file=value` text.
fn lowered(json: &serde_json::Value, layout: &Layout) -> Result<Vec<String>, String> {
    let resources = serde_json::from_value(json.clone()).unwrap();
    let steps = lower(&resources, layout).map_err(|error| error.to_string())?;
    let first = |step: &Step| {
        let writes = step.tries[0].iter().map(|w| format!("{}={}", w.file, w.value));
        writes.collect::<Vec<_>>().join(" ")
    };
    Ok(steps.iter().map(first).collect())
}

#[test]
fn each_limit_has_its_file_in_both_versions() {
    for (json, first, second) in [
        (
            serde_json::json!({"memory": {"limit": 1000, "swap": 3000, "reservation": 500}}),
            vec![
                "memory.limit_in_bytes=1000 memory.memsw.limit_in_bytes=3000",
                "memory.soft_limit_in_bytes=500",
            ],
            vec!["memory.max=1000", "memory.swap.max=2000", "memory.low=500"],
        ),
        (
            serde_json::json!({"memory": {"limit": -1}}),
            vec!["memory.memsw.limit_in_bytes=-1 memory.limit_in_bytes=-1"],
            vec!["memory.max=max", "memory.swap.max=max"],
        ),
        (serde_json::json!({"memory": {"limit": 0, "swap": 0, "kernel": -1}}), vec![], vec![]),
        (
            serde_json::json!({"cpu": {"shares": 1024, "quota": 50000, "period": 100_000}}),
            vec!["cpu.shares=1024", "cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000"],
            vec!["cpu.weight=100", "cpu.max=50000 100000"],
        ),
        (
            serde_json::json!({"cpu": {"quota": -1, "burst": 7, "cpus": "0-1", "mems": "0"}}),
            vec!["cpu.cfs_quota_us=-1 cpu.cfs_burst_us=7", "cpuset.cpus=0-1", "cpuset.mems=0"],
            vec!["cpu.max=max 100000 cpu.max.burst=7", "cpuset.cpus=0-1", "cpuset.mems=0"],
        ),
        (serde_json::json!({"pids": {"limit": -1}}), vec!["pids.max=max"], vec!["pids.max=max"]),
        (serde_json::json!({"pids": {"limit": 0}}), vec!["pids.max=0"], vec!["pids.max=1"]),
        (
            serde_json::json!({"blockIO": {
                "weight": 500,
                "throttleReadBpsDevice": [{"major": 8, "minor": 0, "rate": 600}],
                "throttleWriteIOPSDevice": [{"major": 8, "minor": 16, "rate": 0}],
            }}),
            vec![
                "blkio.weight=500",
                "blkio.throttle.read_bps_device=8:0 600",
                "blkio.throttle.write_iops_device=8:16 0",
            ],
            vec!["io.bfq.weight=500", "io.max=8:0 rbps=600", "io.max=8:16 wiops=max"],
        ),
        (
            serde_json::json!({"hugepageLimits": [{"pageSize": "2MB", "limit": 4096}]}),
            vec!["hugetlb.2MB.limit_in_bytes=4096", "hugetlb.2MB.rsvd.limit_in_bytes=4096"],
            vec!["hugetlb.2MB.max=4096", "hugetlb.2MB.rsvd.max=4096"],
        ),
    ] {
        assert_eq!(lowered(&json, &v1()).unwrap(), first, "v1 {json}");
        assert_eq!(lowered(&json, &v2()).unwrap(), second, "v2 {json}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn what_an_interface_cannot_express_is_refused_with_its_key() {
    for (json, layout, message) in [
        (
            serde_json::json!({"memory": {"swappiness": 0}}),
            v2(),
            "cannot set `linux.resources.memory.swappiness`: cgroup v2 has no such limit",
        ),
        (
            serde_json::json!({"cpu": {"realtimeRuntime": 5}}),
            v2(),
            "cannot set `linux.resources.cpu.realtimeRuntime`: cgroup v2 has no such limit",
        ),
        (
            serde_json::json!({"blockIO": {"leafWeight": 50}}),
            v2(),
            "cannot set `linux.resources.blockIO.leafWeight`: cgroup v2 has no such limit",
        ),
        (
            serde_json::json!({"unified": {"memory.high": "1"}}),
            v1(),
            "cannot set `linux.resources.unified`: cgroup v1 has no such limit",
        ),
        (
            serde_json::json!({"unified": {"misc.max": "1"}}),
            v2(),
            "cannot set `linux.resources.unified`: no `misc (cgroup v2)` controller is at hand",
        ),
        (
            serde_json::json!({"unified": {"../memory.max": "1"}}),
            v2(),
            "cannot set `linux.resources.unified` to `../memory.max`: a key is the name of a file \
             of cgroup v2, `controller.name`",
        ),
        (
            serde_json::json!({"rdma": {"mlx5_1": {"hcaHandles": 3}}}),
            v1(),
            "cannot set `linux.resources.rdma`: no `rdma` controller is at hand",
        ),
        (
            serde_json::json!({"network": {"classID": 5}}),
            v2(),
            "cannot set `linux.resources.network.classID`: no `net_cls` controller is at hand",
        ),
        (
            serde_json::json!({"hugepageLimits": [{"pageSize": "../x", "limit": 1}]}),
            v1(),
            "cannot set `linux.resources.hugepageLimits` to `../x`: a page size is a number with \
             `KB`, `MB` or `GB`",
        ),
        (
            serde_json::json!({"memory": {"limit": 500, "swap": 100}}),
            v2(),
            "cannot set `linux.resources.memory.swap` to `100`: it includes memory and is below \
             that limit",
        ),
        (
            serde_json::json!({"memory": {"limit": 500}}),
            Layout::default(),
            "cannot set `linux.resources.memory`: no `memory` controller is at hand",
        ),
    ] {
        assert_eq!(lowered(&json, &layout).unwrap_err(), message, "{json}");
    }
}

#[test]
fn a_line_of_unified_is_a_write_of_its_own() {
    let json = serde_json::json!({"unified": {"io.max": "259:0 rbps=1\n253:0 rbps=2"}});
    assert_eq!(lowered(&json, &v2()).unwrap(), ["io.max=259:0 rbps=1 io.max=253:0 rbps=2"]);
}

#[test]
fn quota_and_period_are_tried_in_every_order() {
    let json = serde_json::json!({"cpu": {"quota": 1, "period": 2, "burst": 3}});
    let steps = lower(&serde_json::from_value(json).unwrap(), &v1()).unwrap();
    assert_eq!(steps[0].tries.len(), 6);
}

#[test]
fn device_rules_and_unset_values_are_no_limits() {
    for (json, asks) in [
        (serde_json::json!({"devices": [{"allow": false, "access": "rwm"}]}), false),
        (serde_json::json!({"memory": {"limit": -1, "disableOOMKiller": false}}), false),
        (serde_json::json!({"memory": {"limit": 5}}), true),
        (serde_json::json!({"unified": {"memory.high": "max"}}), true),
        (serde_json::json!({"pids": {"limit": 50}}), true),
    ] {
        assert_eq!(asks_for_limits(&serde_json::from_value(json.clone()).unwrap()), asks, "{json}");
    }
}
