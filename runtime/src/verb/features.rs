//! Says what this runtime understands of a config, whatever the host can do.

use serde_json::{Value, json};

use crate::confine::capability;
use crate::plan::mount_words;
use crate::state::OCI_VERSION;

/// Annotations of a config that change what runs, or how it is held; a final dot names all below.
const UNSAFE_ANNOTATIONS: [&str; 1] = ["org.murmur."];

const HOOKS: [&str; 6] =
    ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"];

const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"];

const ACTIONS: [&str; 9] = [
    "SCMP_ACT_ALLOW",
    "SCMP_ACT_ERRNO",
    "SCMP_ACT_KILL",
    "SCMP_ACT_KILL_PROCESS",
    "SCMP_ACT_KILL_THREAD",
    "SCMP_ACT_LOG",
    "SCMP_ACT_NOTIFY",
    "SCMP_ACT_TRACE",
    "SCMP_ACT_TRAP",
];

const OPERATORS: [&str; 7] = [
    "SCMP_CMP_EQ",
    "SCMP_CMP_GE",
    "SCMP_CMP_GT",
    "SCMP_CMP_LE",
    "SCMP_CMP_LT",
    "SCMP_CMP_MASKED_EQ",
    "SCMP_CMP_NE",
];

/// Others are accepted and never met: a call by one of them ends the process on these machines.
const ARCHITECTURES: [&str; 5] =
    ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM", "SCMP_ARCH_X32", "SCMP_ARCH_X86", "SCMP_ARCH_X86_64"];

const FILTER_FLAGS: [&str; 4] = [
    "SECCOMP_FILTER_FLAG_LOG",
    "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
    "SECCOMP_FILTER_FLAG_TSYNC",
    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
];

const MEMORY_MODES: [&str; 7] = [
    "MPOL_BIND",
    "MPOL_DEFAULT",
    "MPOL_INTERLEAVE",
    "MPOL_LOCAL",
    "MPOL_PREFERRED",
    "MPOL_PREFERRED_MANY",
    "MPOL_WEIGHTED_INTERLEAVE",
];

const MEMORY_FLAGS: [&str; 3] =
    ["MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES"];

/// The features structure of the runtime-spec; `version` is that of the program.
pub fn features(version: &str) -> Value {
    let annotations = json!({
        "org.murmur.version": version,
        "org.murmur.landlock.enabled": "true",
        "org.murmur.policy.enabled": "true",
        "org.opencontainers.runc.checkpoint.enabled": "true",
    });
    json!({
        "ociVersionMin": "1.0.0",
        "ociVersionMax": OCI_VERSION,
        "hooks": HOOKS,
        "mountOptions": mount_words(),
        "linux": linux(),
        "annotations": annotations,
        "potentiallyUnsafeConfigAnnotations": UNSAFE_ANNOTATIONS,
    })
}

fn linux() -> Value {
    let capabilities: Vec<_> = capability::NAMES.iter().map(|name| format!("CAP_{name}")).collect();
    json!({
        "namespaces": NAMESPACES,
        "capabilities": capabilities,
        "cgroup": {"v1": true, "v2": true, "systemd": true, "systemdUser": true, "rdma": true},
        "seccomp": {
            "enabled": true,
            "actions": ACTIONS,
            "operators": OPERATORS,
            "archs": ARCHITECTURES,
            "knownFlags": FILTER_FLAGS,
            "supportedFlags": FILTER_FLAGS,
        },
        "apparmor": {"enabled": true},
        "selinux": {"enabled": true},
        "intelRdt": {"enabled": false},
        "memoryPolicy": {"modes": MEMORY_MODES, "flags": MEMORY_FLAGS},
        "mountExtensions": {"idmap": {"enabled": true}},
        "netDevices": {"enabled": false},
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use oci_spec::runtime::Spec;

    use super::*;
    use crate::cgroup::Rights;
    use crate::plan::{ExecOptions, plan};
    use crate::verb::spec_template;

    /// Plans the template with `value` at `pointer`.
    fn plans(pointer: &str, value: Value) -> Result<(), String> {
        let mut config = spec_template(Rights::Root, 0, 0);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        config.pointer_mut(parent).unwrap()[key] = value;
        let spec: Spec = serde_json::from_value(config).map_err(|error| error.to_string())?;
        let planned = plan(&spec, Path::new("/bundle"), &ExecOptions::default());
        planned.map(drop).map_err(|error| error.to_string())
    }

    fn seccomp(key: &str, value: Value) -> Value {
        let mut profile = json!({"defaultAction": "SCMP_ACT_ALLOW"});
        profile[key] = value;
        if profile["flags"].is_null() {
            profile["listenerPath"] = json!("/run/listener");
        }
        profile
    }

    #[test]
    fn every_word_that_is_claimed_can_be_planned() {
        let rule = |action: &str, args: Value| json!([{"names": ["mkdir"], "action": action, "args": args}]);
        let at = "/linux/seccomp";
        for word in ACTIONS {
            let profile = seccomp("syscalls", rule(word, json!([])));
            assert_eq!(plans(at, profile), Ok(()), "{word}");
        }
        for word in OPERATORS {
            let args = json!([{"index": 0, "value": 1, "valueTwo": 1, "op": word}]);
            let profile = seccomp("syscalls", rule("SCMP_ACT_ERRNO", args));
            assert_eq!(plans(at, profile), Ok(()), "{word}");
        }
        for word in ARCHITECTURES {
            assert_eq!(plans(at, seccomp("architectures", json!([word]))), Ok(()), "{word}");
        }
        for word in FILTER_FLAGS {
            assert_eq!(plans(at, seccomp("flags", json!([word]))), Ok(()), "{word}");
        }
        for word in MEMORY_MODES {
            let nodes = if word.ends_with("DEFAULT") || word.ends_with("LOCAL") { "" } else { "0" };
            let policy = json!({"mode": word, "nodes": nodes});
            assert_eq!(plans("/linux/memoryPolicy", policy), Ok(()), "{word}");
        }
        for word in capability::NAMES {
            let sets = json!({"bounding": [format!("CAP_{word}")]});
            assert_eq!(plans("/process/capabilities", sets), Ok(()), "{word}");
        }
    }
}
