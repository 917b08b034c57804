//! A policy that tests start from.

use mur_policy::{CapabilityPolicy, Carried, ContainmentClass};
use serde_json::json;

/// A sealed capsule that may run these programs, and nothing else.
pub(crate) fn policy(allow: &[&str]) -> CapabilityPolicy {
    serde_json::from_value(json!({
        "capsule": {"name": "demo", "version": "1.0.0", "manifest_digest": "00"},
        "floor": ContainmentClass::Sealed, "manifest_floor": ContainmentClass::Sealed,
        "unconfined": false,
        "files": {"scope": null, "scope_path": null, "workdir_exec": false, "read_only": [],
            "read_only_paths": []},
        "network": {"allow": [], "rules": [], "unix_sockets": false},
        "shell": {"allow": allow, "strip_env": [], "baseline_env": [],
            "interpreter_runtime": [], "staged_runtime": []},
        "env_allow": [], "process": null,
        "resources": {"max_processes": 1, "max_open_files": 1, "max_file_size_bytes": 1,
            "cpu_seconds": 1, "memory_bytes": 1, "cgroup_memory_bytes": 1, "cgroup_pids_max": 1,
            "cgroup_cpu_percent": 1, "cgroup_io_bytes_per_sec": 1, "workdir_max_bytes": 1,
            "declared": []},
        "host_paths": [],
        "carried": Carried::default(),
    }))
    .unwrap()
}
