use mur_policy::ContainmentClass::{Scoped, Sealed};
use mur_policy::{CapabilityPolicy, HostPath};

use proptest::prelude::*;

use super::Direction::{Narrower, Other, Wider};
use super::*;
use crate::fixture::{Maker, decision, layout, policy};
use crate::{HostLayout, Program, plan};

fn planned(change: impl FnOnce(&mut CapabilityPolicy, &mut HostLayout)) -> Spec {
    let (mut policy, mut layout) = (policy(Sealed), layout(Maker::User));
    change(&mut policy, &mut layout);
    plan(&policy, &decision(&policy, &layout), &layout).unwrap().spec().clone()
}

fn base() -> Spec {
    planned(|_, _| {})
}

fn git() -> Program {
    Program {
        name: "git".into(),
        path: Some("/usr/bin/git".into()),
        executables: vec!["/usr/bin/git".into()],
        helpers: Vec::new(),
        libraries: Vec::new(),
    }
}

type Edit = fn(&mut CapabilityPolicy, &mut HostLayout);

/// A name, an edit, which way it goes, and where it is felt.
const EDITS: &[(&str, Edit, Direction, &str)] = &[
    ("a program", |_, layout| layout.programs.push(git()), Wider, "`/usr/bin/git`"),
    (
        "no protected folder",
        |_, layout| layout.workdir.read_only.clear(),
        Wider,
        "`/home/u/proj/tests/data`",
    ),
    ("workdir_exec", |policy, _| policy.files.workdir_exec = true, Wider, "`/home/u/proj`"),
    (
        "a writable host path",
        |policy, _| {
            policy.host_paths = vec![HostPath { path: "/srv/models".into(), writable: true }];
        },
        Wider,
        "`/srv/models`",
    ),
    ("no host path", |policy, _| policy.host_paths.clear(), Narrower, "`/srv/models`"),
    ("unix sockets", |policy, _| policy.network.unix_sockets = true, Wider, "system call `socket`"),
    (
        "a destination",
        |policy, _| policy.network.allow = vec!["a.test:443".into()],
        Wider,
        "network destinations",
    ),
    (
        "less memory",
        |policy, _| policy.resources.cgroup_memory_bytes = 1 << 20,
        Narrower,
        "memory (bytes)",
    ),
    ("more files", |_, layout| layout.hard_limits.clear(), Wider, "RLIMIT_NOFILE"),
    (
        "another command",
        |policy, _| policy.process.as_mut().unwrap().args = vec!["python3".into()],
        Other,
        "command",
    ),
    (
        "the host's root",
        |_, layout| layout.identity.uid = crate::IdPair { inside: 0, host: 0 },
        Wider,
        "users",
    ),
];

#[test]
fn a_change_of_the_manifest_is_felt_where_and_which_way_the_table_says() {
    for (name, edit, direction, what) in EDITS {
        let edited = planned(*edit);
        let changes = diff(&base(), &edited);
        let found = changes.iter().find(|change| change.what == *what);
        assert_eq!(found.map(|it| it.direction), Some(*direction), "{name}: {changes:#?}");
        // The way back goes the other way.
        let back = diff(&edited, &base());
        let opposite = match direction {
            Wider => Narrower,
            Narrower => Wider,
            Other => Other,
        };
        let found = back.iter().find(|change| change.what == *what);
        assert_eq!(found.map(|it| it.direction), Some(opposite), "back from {name}: {back:#?}");
    }
}

#[test]
fn what_cannot_be_felt_is_no_change() {
    let mut renamed = base();
    let mut annotations = renamed.annotations().clone().unwrap();
    annotations.insert("org.murmur.capsule.version".into(), "2".into());
    renamed.set_annotations(Some(annotations));
    assert_eq!(diff(&base(), &renamed), []);
    assert_eq!(diff(&base(), &base()), []);
}

#[test]
fn losing_a_whole_mechanism_is_wider_and_said_once() {
    let mut without = base();
    let mut linux = without.linux().clone().unwrap();
    linux.set_seccomp(None);
    without.set_linux(Some(linux));
    without.set_annotations(None);
    let changes = diff(&base(), &without);
    let whats: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(whats, ["Landlock", "syscall filter"]);
    assert!(changes.iter().all(|change| change.direction == Wider));
}

#[test]
fn a_scoped_capsule_shows_more_of_the_host_than_a_sealed_one() {
    let (policy, layout) = (policy(Scoped), layout(Maker::User));
    let scoped = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
    let changes = diff(&base(), scoped.spec());
    let found = changes.iter().find(|change| change.what == "`/srv`").unwrap();
    assert_eq!(found.direction, Wider);
    assert_eq!(changes[0].direction, Wider, "what is wider stands first");
}

/// What two capsules may differ in, each as how much is granted.
#[derive(Debug, Clone)]
struct Grants {
    programs: usize,
    protected: usize,
    host_path: u8,
    unix_sockets: bool,
    workdir_exec: bool,
    memory: u64,
    files: u64,
}

impl Grants {
    fn any() -> impl Strategy<Value = Self> {
        (0..4_usize, 0..4_usize, 0..3_u8, any::<bool>(), any::<bool>(), 1..9_u64, 1..9_u64)
            .prop_map(
                |(programs, protected, host_path, unix_sockets, workdir_exec, memory, files)| {
                    Self {
                        programs,
                        protected,
                        host_path,
                        unix_sockets,
                        workdir_exec,
                        memory,
                        files,
                    }
                },
            )
    }

    /// What both grant.
    fn common(&self, other: &Self) -> Self {
        Self {
            programs: self.programs.min(other.programs),
            protected: self.protected.max(other.protected),
            host_path: self.host_path.min(other.host_path),
            unix_sockets: self.unix_sockets && other.unix_sockets,
            workdir_exec: self.workdir_exec && other.workdir_exec,
            memory: self.memory.min(other.memory),
            files: self.files.min(other.files),
        }
    }

    fn plan(&self, floor: mur_policy::ContainmentClass) -> Spec {
        let (mut policy, mut layout) = (policy(floor), layout(Maker::Root));
        for number in 0..self.programs {
            let path: std::path::PathBuf = format!("/usr/bin/tool{number}").into();
            layout.programs.push(Program {
                name: format!("tool{number}"),
                path: Some(path.clone()),
                executables: vec![path],
                ..git()
            });
        }
        layout.workdir.read_only = (0..self.protected)
            .map(|number| crate::fixture::entry(&format!("a/b{number}"), crate::EntryKind::Folder))
            .collect();
        policy.host_paths = (0..u8::from(self.host_path > 0))
            .map(|_| HostPath { path: "/srv/models".into(), writable: self.host_path > 1 })
            .collect();
        policy.network.unix_sockets = self.unix_sockets;
        policy.files.workdir_exec = self.workdir_exec;
        policy.resources.cgroup_memory_bytes = self.memory << 20;
        policy.resources.max_open_files = self.files;
        plan(&policy, &decision(&policy, &layout), &layout).unwrap().spec().clone()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_narrower_capsule_never_opens_anything(
        one in Grants::any(), other in Grants::any(), sealed in any::<bool>(),
    ) {
        let floor = if sealed { Sealed } else { Scoped };
        let changes = diff(&one.plan(floor), &one.common(&other).plan(floor));
        let wider: Vec<_> = changes.iter().filter(|it| it.direction == Wider).collect();
        prop_assert!(wider.is_empty(), "{wider:#?}");
    }

    #[test]
    fn the_way_back_is_the_same_way_reversed(one in Grants::any(), other in Grants::any()) {
        let (one, other) = (one.plan(Sealed), other.plan(Sealed));
        let count = |changes: &[Change], direction| {
            changes.iter().filter(|change| change.direction == direction).count()
        };
        let (there, back) = (diff(&one, &other), diff(&other, &one));
        prop_assert_eq!(count(&there, Wider), count(&back, Narrower));
        prop_assert_eq!(count(&there, Narrower), count(&back, Wider));
        prop_assert_eq!(count(&there, Other), count(&back, Other));
    }
}
