//! Writes the config that `spec` prints: a shell in a fresh container, to be edited.

use serde_json::{Value, json};

use crate::cgroup::Rights;
use crate::state::OCI_VERSION;

/// Paths of `/proc` and `/sys` that tell about the host or reach into it.
const MASKED: [&str; 10] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/sys/firmware",
    "/proc/scsi",
];

/// Paths of `/proc` that change the host.
const READ_ONLY: [&str; 5] =
    ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// A config for a caller with `rights`, whose ids are `uid` and `gid`.
pub fn spec_template(rights: Rights, uid: u32, gid: u32) -> Value {
    let capabilities = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"];
    let mut namespaces = vec!["pid", "ipc", "uts", "mount", "cgroup"];
    let mut linux = json!({
        "resources": {"devices": [{"allow": false, "access": "rwm"}]},
        "maskedPaths": MASKED,
        "readonlyPaths": READ_ONLY,
    });
    match rights {
        Rights::Root => namespaces.insert(1, "network"),
        Rights::Rootless => {
            namespaces.push("user");
            linux = json!({
                "uidMappings": [{"containerID": 0, "hostID": uid, "size": 1}],
                "gidMappings": [{"containerID": 0, "hostID": gid, "size": 1}],
                "maskedPaths": MASKED,
                "readonlyPaths": READ_ONLY,
            });
        }
    }
    let typed = |kind: &str| json!({"type": kind});
    linux["namespaces"] = namespaces.into_iter().map(typed).collect();
    json!({
        "ociVersion": OCI_VERSION,
        "process": {
            "terminal": true,
            "user": {"uid": 0, "gid": 0},
            "args": ["sh"],
            "env": [
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "TERM=xterm",
            ],
            "cwd": "/",
            "capabilities": {
                "bounding": capabilities, "effective": capabilities, "permitted": capabilities,
            },
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
            "noNewPrivileges": true,
        },
        "root": {"path": "rootfs", "readonly": true},
        "hostname": "mur",
        "mounts": mounts(rights),
        "linux": linux,
    })
}

/// User and group of the caller.
pub fn caller_ids() -> (u32, u32) {
    (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw())
}

fn mounts(rights: Rights) -> Vec<Value> {
    let mount = |target: &str, kind: &str, source: &str, options: &[&str]| json!({"destination": target, "type": kind, "source": source, "options": options});
    // The group of terminals has no number in a user namespace of one.
    let pts: &[&str] = match rights {
        Rights::Root => &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
        Rights::Rootless => &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
    };
    let quiet = ["nosuid", "noexec", "nodev"];
    let sys = match rights {
        Rights::Root => mount("/sys", "sysfs", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
        // Without a network namespace of its own sysfs cannot be mounted anew.
        Rights::Rootless => {
            mount("/sys", "none", "/sys", &["rbind", "nosuid", "noexec", "nodev", "ro"])
        }
    };
    let shm = ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"];
    let mut list = vec![
        json!({"destination": "/proc", "type": "proc", "source": "proc"}),
        mount("/dev", "tmpfs", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
        mount("/dev/pts", "devpts", "devpts", pts),
        mount("/dev/shm", "tmpfs", "shm", &shm),
        mount("/dev/mqueue", "mqueue", "mqueue", &quiet),
        sys,
    ];
    if rights == Rights::Root {
        let options = ["nosuid", "noexec", "nodev", "relatime", "ro"];
        list.push(mount("/sys/fs/cgroup", "cgroup", "cgroup", &options));
    }
    list
}

#[cfg(test)]
mod tests {
    use oci_spec::runtime::Spec;

    use super::*;

    #[test]
    fn both_configs_are_specs_and_the_rootless_one_maps_the_caller() {
        let rootful: Spec = serde_json::from_value(spec_template(Rights::Root, 0, 0)).unwrap();
        assert!(rootful.linux().as_ref().unwrap().uid_mappings().is_none());
        let rootless = spec_template(Rights::Rootless, 1000, 100);
        assert_eq!(rootless.pointer("/linux/gidMappings/0/hostID"), Some(&100.into()));
        let rootless: Spec = serde_json::from_value(rootless).unwrap();
        assert!(rootless.linux().as_ref().unwrap().resources().is_none());
    }
}
