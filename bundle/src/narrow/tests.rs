use std::path::Path;

use mur_manifest::{Code, Coded as _};
use mur_policy::landlock::{FsAccess, LandlockRuleset};
use mur_policy::{ContainmentClass, HostProbe, Placement, decide};
use oci_spec::runtime::PosixRlimitType;
use serde_json::json;

use super::*;

fn policy(change: impl FnOnce(&mut CapabilityPolicy)) -> CapabilityPolicy {
    let mut policy: CapabilityPolicy = serde_json::from_value(json!({
        "capsule": {"name": "demo", "version": "1", "manifest_digest": "00"},
        "floor": "sealed", "manifest_floor": "sealed",
        "unconfined": false,
        "files": {"scope": null, "scope_path": null, "workdir_exec": false, "read_only": [],
            "read_only_paths": []},
        "network": {"allow": [], "rules": [], "unix_sockets": false},
        "shell": {"allow": ["sh"], "strip_env": ["CI_*"], "baseline_env": [],
            "interpreter_runtime": [], "staged_runtime": []},
        "env_allow": [],
        "process": null,
        "resources": {"max_processes": 128, "max_open_files": 512, "max_file_size_bytes": 4096,
            "cpu_seconds": 60, "memory_bytes": 1 << 30, "cgroup_memory_bytes": 1 << 26,
            "cgroup_pids_max": 32, "cgroup_cpu_percent": 150, "cgroup_io_bytes_per_sec": 1,
            "workdir_max_bytes": 1, "declared": []},
        "host_paths": [],
        "carried": mur_policy::Carried::default(),
    }))
    .unwrap();
    change(&mut policy);
    policy
}

fn host() -> HostProbe {
    let works = json!({"outcome": "works"});
    let mut host = json!({
        "os": "linux", "arch": "x86_64", "kernel": "6.18",
        "caller": {"uid": 0, "gid": 0, "privileged": true},
        "landlock": {"abi": 7, "enforced": works, "errata": null},
        "namespaces": {"network": works, "mount": works, "composed_root": works, "procfs": works,
            "mount_setattr": true, "openat2": true},
        "apparmor": {"enabled": null, "restrict_unprivileged_userns": null, "profile": null},
        "seccomp": true, "cgroup": "hybrid",
    });
    host["namespaces"]["user"] = works;
    serde_json::from_value(host).unwrap()
}

fn decision(policy: &CapabilityPolicy) -> ContainmentDecision {
    let placement =
        Placement::of_session(Path::new("/work"), Path::new("/home/u/.murmur"), Path::new("/tmp"));
    decide(policy, &host(), &placement)
}

fn image() -> ImageLayout {
    ImageLayout {
        root: "/var/lib/image".into(),
        programs: vec![Program {
            name: "sh".into(),
            path: Some("/bin/sh".into()),
            executables: vec!["/bin/busybox".into()],
            helpers: vec![],
            libraries: vec!["/lib/libc.so".into()],
        }],
    }
}

/// What an engine hands over, with everything it likes to give.
fn engine(change: impl FnOnce(&mut serde_json::Value)) -> Spec {
    let mut spec = json!({
        "ociVersion": "1.0.2",
        "root": {"path": "/var/lib/image", "readonly": false},
        "process": {
            "terminal": false, "user": {"uid": 0, "gid": 0}, "cwd": "/work", "args": ["sh"],
            "env": ["PATH=/bin", "GITHUB_TOKEN=secret", "CI_JOB=1"],
            "noNewPrivileges": false,
            "capabilities": {"bounding": ["CAP_SYS_ADMIN"], "effective": ["CAP_SYS_ADMIN"],
                "permitted": ["CAP_SYS_ADMIN"]},
            "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 100, "hard": 1_048_576}],
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid"]},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["rw"]},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["exec"]},
            {"destination": "/work", "type": "bind", "source": "/srv/w", "options": ["rbind", "rw"]},
        ],
        "linux": {
            "namespaces": [{"type": "mount"}, {"type": "pid"}, {"type": "ipc"}, {"type": "uts"},
                {"type": "network", "path": "/run/netns/engine"}],
            "resources": {"memory": {"limit": 1 << 20}, "pids": {"limit": 2048}},
            "devices": [{"path": "/dev/kvm", "type": "c", "major": 10, "minor": 232}],
        },
    });
    change(&mut spec);
    serde_json::from_value(spec).unwrap()
}

fn narrowed(spec: &Spec, policy: &CapabilityPolicy) -> Result<Spec, NarrowError> {
    narrow(spec, policy, &decision(policy), &image())
}

#[test]
fn nothing_the_engine_gave_beyond_the_policy_is_left() {
    let spec = narrowed(&engine(|_| {}), &policy(|_| {})).unwrap();
    let process = spec.process().as_ref().unwrap();
    let capabilities = process.capabilities().as_ref().unwrap();
    assert!(capabilities.bounding().as_ref().unwrap().is_empty());
    assert!(capabilities.permitted().as_ref().unwrap().is_empty());
    assert_eq!(process.no_new_privileges(), Some(true));
    assert_eq!(process.env().as_ref().unwrap(), &["PATH=/bin"]);
    assert_eq!(spec.root().as_ref().unwrap().readonly(), Some(true));
    let linux = spec.linux().as_ref().unwrap();
    assert!(linux.devices().is_none());
    let network = linux.namespaces().as_ref().unwrap();
    let network =
        network.iter().find(|it| it.typ() == LinuxNamespaceType::Network).expect("a network");
    assert!(network.path().is_none());
    assert!(spec.annotations().as_ref().unwrap().contains_key(SECCOMP_ANNOTATION));
}

#[test]
fn the_lower_of_two_limits_holds_whoever_set_it() {
    let spec = narrowed(&engine(|_| {}), &policy(|_| {})).unwrap();
    let limits = spec.process().as_ref().unwrap().rlimits().clone().unwrap();
    let files = limits.iter().find(|it| it.typ() == PosixRlimitType::RlimitNofile).unwrap();
    assert_eq!((files.soft(), files.hard()), (100, 512));
    let resources = spec.linux().as_ref().unwrap().resources().clone().unwrap();
    let memory = resources.memory().unwrap();
    assert_eq!((memory.limit(), memory.swap()), (Some(1 << 20), Some(1 << 20)));
    assert_eq!(resources.pids().unwrap().limit(), 32);
    assert_eq!(resources.cpu().as_ref().unwrap().quota(), Some(150_000));
}

#[test]
fn what_is_writable_is_not_executable_and_the_other_way_round() {
    let spec = narrowed(&engine(|_| {}), &policy(|_| {})).unwrap();
    let mounts = spec.mounts().as_ref().unwrap();
    let has = |path: &str, option: &str| {
        let mount = mounts.iter().find(|mount| mount.destination() == Path::new(path)).unwrap();
        mount.options().as_ref().unwrap().iter().any(|own| own == option)
    };
    assert!(spec.annotations().as_ref().unwrap().contains_key(ROOT_NOEXEC_ANNOTATION));
    for path in ["/tmp", "/work", "/proc", "/sys", "/dev"] {
        assert!(has(path, "noexec"), "{path}");
    }
    for path in ["/bin/busybox", "/lib/libc.so"] {
        assert!(has(path, "ro") && !has(path, "noexec"), "{path}");
    }
    assert!(has("/sys", "ro") && !has("/sys", "rw") && !has("/tmp", "exec"));
    let rules = &spec.annotations().as_ref().unwrap()["org.murmur.landlock"];
    let rules: LandlockRuleset = serde_json::from_str(rules).unwrap();
    for rule in &rules.rules.path_beneath {
        let executes = rule.allowed_access.contains(&FsAccess::Execute);
        let writes = rule.allowed_access.contains(&FsAccess::MakeReg);
        assert!(!(executes && writes), "{rule:?}");
        assert_eq!(executes, rule.paths == [Path::new("/bin/busybox")], "{rule:?}");
    }
}

#[test]
fn a_read_only_subtree_cannot_be_moved_aside_with_its_parent() {
    let policy = policy(|it| it.files.read_only_paths = vec!["a/b/c".into()]);
    let spec = narrowed(&engine(|_| {}), &policy).unwrap();
    let places: Vec<_> = spec.mounts().as_ref().unwrap().iter().rev().take(3).collect();
    let ends: Vec<_> = places.iter().map(|mount| mount.destination().to_str().unwrap()).collect();
    assert_eq!(ends, ["/work/a/b/c", "/work/a/b", "/work/a"]);
    assert_eq!(places[0].source().as_deref(), Some(Path::new("/srv/w/a/b/c")));
}

#[test]
fn what_cannot_be_held_is_refused_and_says_why() {
    let host_pid = |spec: &mut serde_json::Value| {
        spec["linux"]["namespaces"] = json!([{"type": "mount"}, {"type": "ipc"}, {"type": "uts"}]);
    };
    let nowhere = |it: &mut CapabilityPolicy| it.files.read_only_paths = vec!["x".into()];
    let no_bind = |spec: &mut serde_json::Value| spec["process"]["cwd"] = json!("/tmp");
    let refused = |spec: &Spec, policy: &CapabilityPolicy| narrowed(spec, policy).unwrap_err();
    assert!(matches!(
        refused(&engine(host_pid), &policy(|_| {})),
        NarrowError::HostNamespace { kind } if kind == "pid"
    ));
    assert!(matches!(refused(&engine(no_bind), &policy(nowhere)), NarrowError::ReadOnly { .. }));
    let egress = policy(|it| it.network.allow = vec!["example.org".into()]);
    let error = refused(&engine(|_| {}), &egress);
    assert!(matches!(error, NarrowError::NotInAnImage { key: "capabilities.network.allow", .. }));
    let mut weak = decision(&policy(|_| {}));
    weak.achieved = ContainmentClass::Advisory;
    let error = narrow(&engine(|_| {}), &policy(|_| {}), &weak, &image()).unwrap_err();
    assert!(matches!(error, NarrowError::FloorUnmet { .. }));
    let mut bare = image();
    bare.programs[0].path = None;
    let error =
        narrow(&engine(|_| {}), &policy(|_| {}), &decision(&policy(|_| {})), &bare).unwrap_err();
    assert!(matches!(error, NarrowError::ProgramMissing { .. }));
}

#[test]
fn a_program_below_a_writable_folder_is_no_grant() {
    let mut image = image();
    image.programs[0].executables = vec!["/work/sh".into()];
    let policy = policy(|_| {});
    let error = narrow(&engine(|_| {}), &policy, &decision(&policy), &image).unwrap_err();
    assert!(matches!(error, NarrowError::ProgramWritable { .. }));
    assert_eq!(error.code(), Code::EBun206);
}
