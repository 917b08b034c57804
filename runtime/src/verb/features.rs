//! Says what this runtime understands of a config, whatever the host can do.

use oci_spec::runtime::Spec;
use serde_json::{Value, json};

use crate::confine::capability;
use crate::plan::known_words;
use crate::state::OCI_VERSION;

/// Annotations of a config that change what runs, or how it is held.
const UNSAFE_ANNOTATIONS: [&str; 1] = ["org.murmur."];

/// The features structure of the runtime-spec.
pub fn features(version: &str) -> Value {
    json!({
        "ociVersionMin": "1.0.0",
        "ociVersionMax": OCI_VERSION,
        "hooks": [
            "prestart", "createRuntime", "createContainer", "startContainer", "poststart",
            "poststop",
        ],
        "mountOptions": known_words(),
        "linux": {
            "namespaces": ["cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"],
            "capabilities": capability::NAMES.map(|name| format!("CAP_{name}")),
            "cgroup": {
                "v1": true, "v2": true, "systemd": true, "systemdUser": true, "rdma": true,
            },
            "seccomp": seccomp(),
            "apparmor": {"enabled": true},
            "selinux": {"enabled": true},
            "intelRdt": {"enabled": true, "schemata": true, "monitoring": true},
            "memoryPolicy": {
                "modes": [
                    "MPOL_DEFAULT", "MPOL_BIND", "MPOL_INTERLEAVE", "MPOL_WEIGHTED_INTERLEAVE",
                    "MPOL_PREFERRED", "MPOL_PREFERRED_MANY", "MPOL_LOCAL",
                ],
                "flags": [
                    "MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES",
                ],
            },
            "mountExtensions": {"idmap": {"enabled": true}},
            "netDevices": {"enabled": true},
        },
        "annotations": {
            "org.murmur.version": version,
            "org.murmur.landlock.enabled": "true",
            "org.murmur.policy.enabled": "true",
            "org.opencontainers.runc.checkpoint.enabled": "true",
        },
        "potentiallyUnsafeConfigAnnotations": UNSAFE_ANNOTATIONS,
    })
}

/// A word of the structure and a config that uses it; a test plans each.
type Sample = fn(&str) -> Value;

fn seccomp() -> Value {
    json!({
        "enabled": true,
        "actions": ACTIONS,
        "operators": OPERATORS,
        "archs": ARCHITECTURES,
        "knownFlags": FLAGS,
        "supportedFlags": FLAGS,
    })
}
