use std::path::Path;

use mur_policy::ContainmentClass::{Advisory, Scoped, Sealed};
use mur_policy::{ContainmentClass, HostPath, InterpreterRuntime, StagedRuntime, Tier};

use super::*;
use crate::fixture::{Maker, decision, entry, layout, policy};
use crate::{EntryKind, GrantedPath, StepKind};

fn planned(floor: ContainmentClass, maker: Maker) -> BundlePlan {
    let (policy, layout) = (policy(floor), layout(maker));
    plan(&policy, &decision(&policy, &layout), &layout).unwrap()
}

/// The config.json as text, without the syscall filter and the policy, which have tests of their own.
fn config(plan: &BundlePlan) -> String {
    let mut config: serde_json::Value =
        serde_json::from_slice(&plan.config_json().unwrap()).unwrap();
    config["linux"]["seccomp"] = "…".into();
    config["annotations"]["org.murmur.policy"] = "…".into();
    serde_json::to_string_pretty(&config).unwrap()
}

#[test]
fn a_bundle_is_what_the_golden_files_say() {
    for (name, floor, maker) in [
        ("sealed_root", Sealed, Maker::Root),
        ("sealed_user", Sealed, Maker::User),
        ("scoped_root", Scoped, Maker::Root),
        ("scoped_user", Scoped, Maker::User),
    ] {
        let plan = planned(floor, maker);
        insta::assert_snapshot!(format!("config_{name}"), config(&plan));
        let steps: Vec<String> = plan.rootfs().iter().map(|step| format!("{step:?}")).collect();
        insta::assert_snapshot!(format!("rootfs_{name}"), steps.join("\n"));
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let first = planned(Sealed, Maker::Root);
    for _ in 0..8 {
        let again = planned(Sealed, Maker::Root);
        assert_eq!(first.config_json().unwrap(), again.config_json().unwrap());
        assert_eq!(first.rootfs(), again.rootfs());
    }
}

#[test]
fn a_plan_survives_being_written_down() {
    let plan = planned(Scoped, Maker::Root).with_scope("{}".into());
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<BundlePlan>(&text).unwrap(), plan);
}

#[test]
fn the_report_is_held_by_its_digest() {
    let plan = planned(Sealed, Maker::User).with_scope("{}".into());
    let annotations = plan.spec().annotations().clone().unwrap();
    assert_eq!(
        annotations[SCOPE_DIGEST],
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    );
}

#[test]
fn no_secret_of_the_host_is_in_a_bundle() {
    let config = planned(Sealed, Maker::User).config_json().unwrap();
    assert!(!String::from_utf8(config).unwrap().contains("secret"));
}

#[test]
fn every_mount_has_a_place_to_stand_on() {
    for (floor, maker) in [(Sealed, Maker::Root), (Scoped, Maker::User)] {
        let plan = planned(floor, maker);
        let mounts = plan.spec().mounts().clone().unwrap();
        for (index, mount) in mounts.iter().enumerate() {
            let target = mount.destination();
            let above = mounts[..index].iter().rev().find(|above| {
                target.starts_with(above.destination()) && target != above.destination()
            });
            let made = |below: &Path| plan.rootfs().iter().any(|step| step.path == below);
            let source = above.and_then(|above| above.source().clone());
            let stands = match (above, source) {
                (None, _) => made(&Path::new("rootfs").join(target.strip_prefix("/").unwrap())),
                // A folder of the bundle: its mountpoint is made in it.
                (Some(above), Some(source)) if source.is_relative() => {
                    let bind = above.typ().as_deref() == Some("bind");
                    let below = target.strip_prefix(above.destination()).unwrap();
                    !bind || made(&source.join(below)) || source == Path::new("anchor")
                }
                // The host's own folder, at its own path.
                (Some(above), source) => source.as_deref() == Some(above.destination()),
            };
            assert!(stands, "{}", target.display());
        }
    }
}

#[test]
fn what_may_be_written_is_never_executable_and_what_is_executable_is_read_only() {
    for (floor, maker) in [(Sealed, Maker::Root), (Scoped, Maker::User)] {
        for mount in planned(floor, maker).spec().mounts().clone().unwrap() {
            let options = mount.options().clone().unwrap();
            let has = |names: [&str; 2]| options.iter().any(|own| names.contains(&own.as_str()));
            let held = has(["ro", "rro"]) || has(["noexec", "rnoexec"]);
            // devpts holds terminals alone.
            assert!(held, "{} {options:?}", mount.destination().display());
            assert!(has(["nosuid", "rnosuid"]), "{}", mount.destination().display());
        }
    }
}

#[test]
fn what_makes_a_bundle_impossible_is_said() {
    type Edit = fn(&mut CapabilityPolicy, &mut HostLayout);
    let edits: &[(&str, Edit)] = &[
        ("no process", |policy, _| policy.process = None),
        ("no program `python3`", |_, layout| layout.programs[0].path = None),
        ("lies in a folder the capsule may write", |_, layout| {
            layout.programs[0].executables = vec!["/home/u/proj/bin/python3".into()];
        }),
        ("a root folder cannot be mounted in itself", |_, layout| {
            layout.workdir.path = "/".into();
        }),
        ("it belongs to the kernel", |_, layout| layout.workdir.path = "/dev/shm/x".into()),
        ("temporary folder is mounted there", |_, layout| layout.workdir.path = "/tmp".into()),
        ("leaves nothing", |_, layout| {
            layout.workdir.scope = Some("tests/data".into());
        }),
        ("`host_paths` names `/srv/models`", |_, layout| layout.grants.clear()),
        ("`capabilities.shell.staged_runtime` names `/opt/x`", |policy, _| {
            let staged = StagedRuntime {
                binary: "python3".into(),
                source_path: "/opt/x".into(),
                pin: "1".into(),
            };
            policy.shell.as_mut().unwrap().staged_runtime = vec![staged];
        }),
        ("holds a `:`", |_, layout| layout.folders.home.path = "/a:b".into()),
    ];
    for (message, edit) in edits {
        let (mut policy, mut layout) = (policy(Sealed), layout(Maker::User));
        edit(&mut policy, &mut layout);
        let decision = decision(&policy, &layout);
        let error = plan(&policy, &decision, &layout).unwrap_err().to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
}

#[test]
fn only_a_tier_that_holds_something_is_a_container() {
    let (policy, layout) = (policy(Advisory), layout(Maker::User));
    let decided = decision(&policy, &layout);
    for (tier, mounts, refused) in [
        (Tier::Unconfined, true, true),
        (Tier::EnvironmentOnly, true, true),
        (Tier::SeccompOnly, false, true),
        (Tier::SeccompOnly, true, false),
        (Tier::Full, true, false),
    ] {
        let decision =
            ContainmentDecision { applied: tier, mount_namespace: mounts, ..decided.clone() };
        assert_eq!(plan(&policy, &decision, &layout).is_err(), refused, "{tier} {mounts}");
    }
}

#[test]
fn the_hosts_root_is_never_held_by_a_filter_alone() {
    let (policy, mut layout) = (policy(Advisory), layout(Maker::User));
    layout.identity.uid = crate::IdPair { inside: 0, host: 0 };
    layout.identity.host_root_because = Some("no idmap".into());
    let mut decision = decision(&policy, &layout);
    assert!(plan(&policy, &decision, &layout).is_ok());
    decision.applied = Tier::SeccompOnly;
    decision.landlock_abi = None;
    assert!(matches!(plan(&policy, &decision, &layout), Err(PlanError::HostRoot)));
}

#[test]
fn an_interpreter_runtime_below_the_work_folder_is_executable_only_where_it_is_read_only() {
    for (read_only, executable) in [(true, true), (false, false)] {
        let (mut policy, mut layout) = (policy(Sealed), layout(Maker::User));
        let venv = Path::new("/home/u/proj/.venv");
        policy.shell.as_mut().unwrap().interpreter_runtime = vec![InterpreterRuntime {
            binary: "python3".into(),
            path: venv.into(),
            list_dir: true,
        }];
        layout.grants.push(GrantedPath {
            declared: venv.into(),
            found: Some(venv.into()),
            folder: true,
            owner: (1000, 1000),
        });
        if read_only {
            layout.workdir.read_only.push(entry(".venv", EntryKind::Folder));
        }
        let plan = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
        let mounts = plan.spec().mounts().clone().unwrap();
        let mount = mounts.iter().find(|mount| mount.destination() == venv);
        let options = mount.and_then(|mount| mount.options().clone()).unwrap_or_default();
        let is_executable = options.contains(&"rro".into()) && !options.contains(&"rnoexec".into());
        assert_eq!(is_executable, executable, "{options:?}");
    }
}

#[test]
fn a_scope_shows_that_part_of_the_work_folder_alone() {
    for floor in [Sealed, Scoped] {
        let (policy, mut layout) = (policy(floor), layout(Maker::User));
        layout.workdir.scope = Some("src".into());
        layout.closed_folders.clear();
        let plan = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
        let mounts = plan.spec().mounts().clone().unwrap();
        let shows = |target: &str, source: &str| {
            mounts.iter().any(|mount| {
                mount.destination() == Path::new(target)
                    && mount.source().as_deref() == Some(Path::new(source))
            })
        };
        assert!(shows("/home/u/proj/src", "/home/u/proj/src"));
        assert!(!shows("/home/u/proj", "/home/u/proj"));
        assert_eq!(shows("/home/u/proj", "cover/home/u/proj"), floor == Scoped);
        // The protected folder is outside of the scope, so nothing of it is there to protect.
        assert!(!mounts.iter().any(|mount| mount.destination().ends_with("tests/data")));
        assert_eq!(plan.spec().process().as_ref().unwrap().cwd(), Path::new("/home/u/proj/src"));
    }
}

#[test]
fn a_writable_folder_of_the_host_is_mapped_to_the_capsule_where_its_owner_is_the_same() {
    for (owner, mapped) in [((0, 0), true), ((5, 5), false)] {
        let (mut policy, mut layout) = (policy(Sealed), layout(Maker::Root));
        policy.host_paths = vec![HostPath { path: "/srv/models".into(), writable: true }];
        layout.grants[0].owner = owner;
        let plan = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
        let mounts = plan.spec().mounts().clone().unwrap();
        let mount = mounts.iter().find(|mount| mount.destination().ends_with("models")).unwrap();
        assert_eq!(mount.uid_mappings().is_some(), mapped, "{owner:?}");
    }
}

#[test]
fn a_folder_that_only_the_capsule_writes_belongs_to_it() {
    let plan = planned(Sealed, Maker::Root);
    for (path, mode, owner) in [
        ("tmp", 0o700, Some((1_900_000_001, 1_900_000_001))),
        ("home", 0o700, Some((1_900_000_001, 1_900_000_001))),
        ("runtime", 0o755, None),
        ("records", 0o755, None),
    ] {
        let step = plan.rootfs().iter().find(|step| step.path == Path::new(path)).unwrap();
        assert_eq!((&step.kind, step.owner), (&StepKind::Folder(mode), owner), "{path}");
    }
}
