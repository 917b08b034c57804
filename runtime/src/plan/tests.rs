//! What a config.json becomes: the order of steps, and what is refused.

use serde_json::{Value, json};

use super::*;

fn base() -> Value {
    json!({
        "ociVersion": "1.3.0",
        "root": {"path": "rootfs", "readonly": true},
        "hostname": "box",
        "process": {
            "user": {"uid": 7, "gid": 8, "additionalGids": [9]},
            "args": ["true"], "env": ["PATH=/bin"], "cwd": "/work",
            "noNewPrivileges": true,
            "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 64, "hard": 64}],
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/w", "type": "bind", "source": "w", "options": ["rbind", "rro"]},
        ],
        "linux": {
            "namespaces": [
                {"type": "mount"}, {"type": "pid"}, {"type": "network"}, {"type": "uts"},
                {"type": "user"}, {"type": "ipc"}, {"type": "cgroup"},
            ],
            "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 10}],
            "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 10}],
            "maskedPaths": ["/proc/kcore"], "readonlyPaths": ["/proc/sys"],
            "sysctl": {"net.ipv4.ip_forward": "1"},
        },
        "annotations": {"org.murmur.landlock": r#"{"abi":1,"handledAccess":{"fs":["execute"]},"rules":{}}"#},
    })
}

fn planned(config: Value) -> Result<ExecPlan, ExecPlanError> {
    let spec: Spec = serde_json::from_value(config).unwrap();
    plan(&spec, Path::new("/bundle"), &ExecOptions::default())
}

/// Changes one place of the base config.
fn with(pointer: &str, value: Value) -> Value {
    let mut config = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    config.pointer_mut(parent).unwrap()[key] = value;
    config
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(Step::to_string).collect()
}

#[test]
fn steps_come_in_the_order_that_each_relies_on() {
    let mut config = base();
    config["linux"]["seccomp"] = json!({"defaultAction": "SCMP_ACT_ALLOW"});
    let plan = planned(config).unwrap();
    assert_eq!(
        names(&plan.steps),
        [
            "cannot join the cgroup",
            "cannot receive from the runtime",
            "cannot make a cgroup namespace",
            "cannot hide from debuggers",
            "cannot become a user of its user namespace",
            "cannot make a session",
            "cannot bring `lo` up",
            "cannot set the host name `box`",
            "cannot prepare the root file system `/bundle/rootfs`",
            "cannot mount proc on `/proc`",
            "cannot bind `/bundle/w` to `/w`",
            "cannot make the device `/dev/null`",
            "cannot make the device `/dev/zero`",
            "cannot make the device `/dev/full`",
            "cannot make the device `/dev/random`",
            "cannot make the device `/dev/urandom`",
            "cannot make the device `/dev/tty`",
            "cannot make the links in `/dev`",
            "cannot make the working folder `/work`",
            "cannot run prestart and createRuntime hooks",
            "cannot run createContainer hooks",
            "cannot write the sysctl `net/ipv4/ip_forward`",
            "cannot make read-only `/proc/sys`",
            "cannot mask `/proc/kcore`",
            "cannot restrict the root's mount",
            "cannot enter the root file system",
            "cannot build the Landlock ruleset",
            "cannot set `RLIMIT_NOFILE`",
            "cannot set the umask",
            "cannot enter the working folder `/work`",
            "cannot limit the bounding capabilities",
            "cannot become user `7`, group `8`",
            "cannot execute the program",
            "cannot set `no_new_privs`",
            "cannot set the capabilities",
            "cannot enter the Landlock domain",
            "cannot load the syscall filter",
            "cannot tell the runtime that all is prepared",
            "cannot wait for `start`",
            "cannot run startContainer hooks",
            "cannot execute the program",
        ]
    );
}

#[test]
fn without_no_new_privs_the_filter_is_loaded_while_capabilities_are_there() {
    let mut config = with("/process/noNewPrivileges", json!(false));
    config["linux"]["seccomp"] = json!({"defaultAction": "SCMP_ACT_ALLOW"});
    let plan = planned(config).unwrap();
    let confining: Vec<&Step> =
        plan.steps.iter().filter(|step| matches!(step, Step::Confinement(_))).skip(1).collect();
    assert!(matches!(
        confining[..],
        [
            Step::Confinement(Confinement::RegainCapabilities),
            Step::Confinement(Confinement::LandlockDomain),
            Step::Confinement(Confinement::SyscallFilter(_)),
            Step::Confinement(Confinement::Capabilities(_)),
        ]
    ));
}

#[test]
fn a_later_process_is_held_by_the_same() {
    let mut config = base();
    config["linux"]["seccomp"] = json!({"defaultAction": "SCMP_ACT_ALLOW"});
    let first = planned(config).unwrap();
    let process: Process = serde_json::from_value(base()["process"].clone()).unwrap();
    let later = plan_tenant(&first.tenant_base(), &process, &ExecOptions::default()).unwrap();
    let confining = |steps: &[Step]| -> Vec<Step> {
        steps.iter().filter(|step| matches!(step, Step::Confinement(_))).cloned().collect()
    };
    assert_eq!(confining(&later.steps), confining(&first.steps));
    let words = names(&later.steps);
    let at = |word: &str| words.iter().position(|other| other == word).unwrap();
    assert!(at("cannot hide from debuggers") < at("cannot enter the container's namespaces"));
    assert!(!words.contains(&"cannot wait for `start`".to_owned()));
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let ns = |kinds: Value| with("/linux/namespaces", kinds);
    let mount = |mount: Value| with("/mounts", json!([mount]));
    for (config, key) in [
        (with("/process", Value::Null), "process"),
        (with("/root", Value::Null), "root"),
        (with("/process/args", json!([])), "process.args"),
        (with("/process/args", json!(["a\0b"])), "process.args[0]"),
        (with("/process/cwd", json!("relative")), "process.cwd"),
        (with("/process/ioPriority", json!({"priority": 9})), "process.ioPriority"),
        (with("/process/consoleSize", json!({"height": 70000})), ""),
        (ns(json!([{"type": "mount"}, {"type": "mount"}])), "linux.namespaces[1]"),
        (ns(json!([{"type": "mount", "path": "ns/mnt"}])), "linux.namespaces[0]"),
        (ns(json!([{"type": "mount"}, {"type": "uts"}])), "linux"),
        (with("/linux/uidMappings", Value::Null), "linux"),
        (with("/linux/timeOffsets", json!({"monotonic": {"secs": 1}})), "linux.timeOffsets"),
        (with("/linux/sysctl", json!({"kernel.core_pattern": "x"})), "linux.sysctl"),
        (with("/linux/maskedPaths", json!(["proc"])), "linux.maskedPaths[0]"),
        (with("/linux/rootfsPropagation", json!("loud")), "linux.rootfsPropagation"),
        (with("/linux/intelRdt", json!({})), "linux.intelRdt"),
        (
            with("/linux/devices", json!([{"path": "dev/x", "type": "c", "major": 1, "minor": 1}])),
            "linux.devices[0].path",
        ),
        (mount(json!({"destination": "/", "type": "tmpfs"})), "mounts[0].destination"),
        (mount(json!({"destination": "/a"})), "mounts[0].type"),
        (mount(json!({"destination": "/a", "type": "bind"})), "mounts[0].source"),
        (
            mount(json!({"destination": "/a", "type": "tmpfs", "options": ["idmap"]})),
            "mounts[0].options",
        ),
        (
            mount(json!({"destination": "/a", "type": "proc", "options": ["tmpcopyup"]})),
            "mounts[0].options",
        ),
        (
            mount(json!({"destination": "/a", "type": "bind", "source": "/b",
            "uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]})),
            "mounts[0]",
        ),
        (with("/annotations/org.murmur.landlock", json!("{")), "org.murmur.landlock"),
    ] {
        match planned(config) {
            Err(error) => assert!(error.to_string().contains(key), "{key}: {error}"),
            Ok(_) => assert_eq!(key, "", "accepted"),
        }
    }
}

#[test]
fn a_container_without_mounts_of_its_own_may_not_ask_for_any() {
    let mut config = base();
    config["linux"] = json!({"namespaces": [{"type": "pid"}, {"type": "uts"}]});
    let error = planned(config.clone()).unwrap_err();
    assert!(error.to_string().contains("`mounts` needs a mount namespace"), "{error}");
    config["mounts"] = json!([]);
    config["root"]["readonly"] = json!(false);
    let plan = planned(config).unwrap();
    assert!(names(&plan.steps).contains(&"cannot change the root to `/bundle/rootfs`".to_owned()));
    assert_eq!(plan.tenant_base().host_root.as_deref(), Some(Path::new("/bundle/rootfs")));
}

#[test]
fn sockets_passed_to_the_runtime_are_announced_once() {
    let mut config = base();
    config["process"]["env"] = json!(["LISTEN_FDS=9", "A=1", "LISTEN_PID=3"]);
    let spec: Spec = serde_json::from_value(config).unwrap();
    let options = ExecOptions { listen_fds: 2, ..ExecOptions::default() };
    let plan = plan(&spec, Path::new("/b"), &options).unwrap();
    assert_eq!(plan.program.env, ["A=1", "LISTEN_FDS=2"]);
}

#[test]
fn plans_survive_being_written_down() {
    let mut config = base();
    config["linux"]["seccomp"] = json!({"defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]});
    let plan = planned(config).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<ExecPlan>(&text).unwrap(), plan);
}

#[test]
fn mount_options_add_up_in_their_order() {
    use crate::sys::mount::{ATTR_ATIME, ATTR_NOATIME, ATTR_NOSUID, ATTR_RDONLY};
    for (options, set, clear) in [
        (vec!["ro", "nosuid"], ATTR_RDONLY | ATTR_NOSUID, 0),
        (vec!["ro", "rw"], 0, ATTR_RDONLY),
        (vec!["rw", "ro"], ATTR_RDONLY, 0),
        (vec!["noatime", "relatime"], 0, ATTR_ATIME),
        (vec!["relatime", "noatime"], ATTR_NOATIME, ATTR_ATIME),
    ] {
        let config =
            with("/mounts", json!([{"destination": "/t", "type": "tmpfs", "options": options}]));
        let plan = planned(config).unwrap();
        let attributes = plan.steps.iter().find_map(|step| {
            let Step::Root(RootStep::Mount(mount)) = step else { return None };
            Some(mount.attributes)
        });
        assert_eq!(attributes, Some(Attributes { set, clear }), "{options:?}");
    }
}
