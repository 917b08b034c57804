//! Policies, decisions and hosts that the tests start from.

use std::path::{Path, PathBuf};

use mur_policy::{
    CapabilityPolicy, ContainmentClass, ContainmentDecision, HostProbe, Placement, decide,
};
use serde_json::json;

use crate::{
    EntryKind, EtcEntry, Folder, GrantedPath, HostLayout, IdPair, Identity, ImportPath,
    LibraryFolder, PathLink, Program, ReadPath, RootEntry, SessionFolders, WorkFolder,
};

/// Who makes a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// root, in a work folder of root's.
    Root,
    /// An ordinary user, in its own.
    User,
}

/// A capsule with one program, one protected folder and one folder of the host.
pub(crate) fn policy(floor: ContainmentClass) -> CapabilityPolicy {
    serde_json::from_value(json!({
        "capsule": {"name": "demo", "version": "1.0.0", "manifest_digest": "00"},
        "floor": floor, "manifest_floor": floor,
        "unconfined": false,
        "files": {"scope": null, "scope_path": null, "workdir_exec": false,
            "read_only": ["tests/data"], "read_only_paths": ["tests/data"]},
        "network": {"allow": [], "rules": [], "unix_sockets": false},
        "shell": {"allow": ["python3"], "strip_env": ["CI_*"], "baseline_env": ["EDITOR"],
            "interpreter_runtime": [], "staged_runtime": []},
        "env_allow": ["MODE"],
        "process": {"args": ["python3", "-m", "pytest"], "cwd": null, "env": [["A", "b"]],
            "terminal": false},
        "resources": {"max_processes": 128, "max_open_files": 1024,
            "max_file_size_bytes": 4_294_967_296_u64, "cpu_seconds": 3600,
            "memory_bytes": 2_147_483_648_u64, "cgroup_memory_bytes": 4_294_967_296_u64,
            "cgroup_pids_max": 256, "cgroup_cpu_percent": 200,
            "cgroup_io_bytes_per_sec": 104_857_600, "workdir_max_bytes": 10_737_418_240_u64,
            "declared": []},
        "host_paths": [{"path": "/srv/models", "writable": false}],
        "carried": mur_policy::Carried::default(),
    }))
    .unwrap()
}

/// A host where everything works.
pub(crate) fn host() -> HostProbe {
    let works = json!({"outcome": "works"});
    serde_json::from_value(json!({
        "os": "linux", "arch": "x86_64", "kernel": "6.12",
        "caller": {"uid": 1000, "gid": 1000, "privileged": false},
        "landlock": {"abi": 7, "enforced": works, "errata": null},
        "namespaces": {"network": works, "mount": works, "composed_root": works, "procfs": works,
            "mount_setattr": true, "openat2": true},
        "apparmor": {"enabled": null, "restrict_unprivileged_userns": null, "profile": null},
        "seccomp": true, "cgroup": "v2",
    }))
    .unwrap()
}

/// What is decided for a policy there.
pub(crate) fn decision(policy: &CapabilityPolicy, layout: &HostLayout) -> ContainmentDecision {
    let home = Path::new("/home/u/.murmur");
    decide(policy, &host(), &Placement::of_session(&layout.workdir.path, home, Path::new("/tmp")))
}

/// A Debian-like host with python in `/usr`, and a work folder `/home/u/proj`.
pub(crate) fn layout(maker: Maker) -> HostLayout {
    let (identity, owner) = identity(maker);
    HostLayout {
        root: root(),
        workdir: WorkFolder {
            path: "/home/u/proj".into(),
            source: "/home/u/proj".into(),
            uid: owner,
            gid: owner,
            scope: None,
            read_only: vec![entry("tests/data", EntryKind::Folder)],
            read_only_missing: Vec::new(),
            native_modules: Vec::new(),
        },
        folders: SessionFolders {
            runtime: folder("/murmur/runtime", "runtime"),
            records: folder("/murmur/records", "records"),
            tmp: folder("/murmur/records/tmp", "tmp"),
            home: folder("/murmur/records/home", "home"),
        },
        programs: vec![python()],
        library_folders: vec![LibraryFolder {
            path: "/usr/lib/python3.11/lib-dynload".into(),
            masked_programs: vec!["/usr/lib/python3.11/lib-dynload/odd".into()],
        }],
        interpreter_imports: vec![ImportPath {
            binary: "python3".into(),
            path: "/usr/lib/python3.11".into(),
            folder: true,
        }],
        trust_store: vec![ReadPath { path: "/etc/ssl/certs".into(), folder: true }],
        etc: vec![
            etc("hosts", "/etc/hosts", false),
            etc("localtime", "/usr/share/zoneinfo/Etc/UTC", false),
            etc("passwd", "/etc/passwd", false),
            etc("resolv.conf", "/run/resolv.conf", false),
            etc("ssl", "/etc/ssl", true),
        ],
        identity,
        libc_files: vec!["/usr/lib/libgcc_s.so.1".into()],
        links: vec![
            link("/bin", "usr/bin"),
            link("/lib64", "usr/lib64"),
            link("/usr/bin/python3", "python3.11"),
        ],
        grants: vec![GrantedPath {
            declared: "/srv/models".into(),
            found: Some("/srv/models".into()),
            folder: true,
            owner: (0, 0),
        }],
        closed_folders: vec!["/home/u".into(), "/root".into()],
        environment: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("GITHUB_TOKEN".into(), "secret".into()),
        ],
        hard_limits: [("RLIMIT_NOFILE".to_owned(), 512)].into(),
        no_limits_because: None,
        disk: None,
    }
}

fn identity(maker: Maker) -> (Identity, u32) {
    let same = IdPair { inside: 1000, host: 1000 };
    let other = IdPair { inside: 1000, host: 1_900_000_001 };
    let (pair, spare, idmapped, owner) = match maker {
        Maker::Root => (other, Some(1_900_000_002), true, 0),
        Maker::User => (same, None, false, 1000),
    };
    (Identity { uid: pair, gid: pair, spare, idmapped, host_root_because: None }, owner)
}

fn root() -> Vec<RootEntry> {
    let folders = ["boot", "dev", "etc", "home", "proc", "root", "run", "srv", "sys", "tmp", "usr"];
    let mut root: Vec<RootEntry> =
        folders.iter().map(|name| entry(name, EntryKind::Folder)).collect();
    root.push(entry("bin", EntryKind::Link("usr/bin".into())));
    root.push(entry("lib64", EntryKind::Link("usr/lib64".into())));
    root.push(entry("swapfile", EntryKind::File));
    root.sort_by(|a, b| a.name.cmp(&b.name));
    root
}

fn python() -> Program {
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
    Program {
        name: "python3".into(),
        path: Some("/usr/bin/python3".into()),
        executables: paths(&["/usr/bin/python3.11", "/usr/lib64/ld-linux-x86-64.so.2"]),
        helpers: Vec::new(),
        libraries: paths(&["/usr/lib/libc.so.6", "/usr/lib/libm.so.6"]),
    }
}

pub(crate) fn entry(name: &str, kind: EntryKind) -> RootEntry {
    RootEntry { name: name.into(), kind }
}

fn folder(path: &str, source: &str) -> Folder {
    Folder { path: path.into(), source: source.into() }
}

fn etc(name: &str, source: &str, folder: bool) -> EtcEntry {
    EtcEntry { name: name.into(), source: source.into(), folder }
}

fn link(path: &str, target: &str) -> PathLink {
    PathLink { path: path.into(), target: target.into() }
}
