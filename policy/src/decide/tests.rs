use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};

use super::*;
use crate::fixture::{host, host_without_namespaces, placement, placement_at, policy, refused};
use crate::{Attempt, NotMappedReason, SealedBlocker, sealed_blocker};
use ContainmentClass::{Advisory, Scoped, Sealed, Unconfined};

/// A host by what it can do: Landlock, composed root, mount namespace.
fn host_with(landlock: bool, root: bool, mount: bool) -> HostProbe {
    let mut host = host(landlock.then_some(6));
    if !root {
        host.namespaces.composed_root = refused("pivot_root", 1);
    }
    if !mount {
        host.namespaces.mount = refused("unshare(NEWNS)", 1);
    }
    host
}

#[test]
fn each_floor_on_each_host_reads_as_the_table() {
    for (landlock, root, floor, applied, achieved, backed) in [
        (true, true, Advisory, Tier::Full, Scoped, Sealed),
        (true, true, Scoped, Tier::Full, Scoped, Sealed),
        (true, true, Sealed, Tier::Sealed, Sealed, Sealed),
        (true, false, Advisory, Tier::Full, Scoped, Scoped),
        (true, false, Sealed, Tier::Full, Scoped, Scoped),
        (false, true, Advisory, Tier::SeccompOnly, Advisory, Advisory),
        (false, true, Scoped, Tier::SeccompOnly, Advisory, Advisory),
        (false, false, Sealed, Tier::SeccompOnly, Advisory, Advisory),
    ] {
        let decision = decide(&policy(floor), &host_with(landlock, root, true), &placement());
        let case = format!("landlock={landlock} root={root} floor={floor}");
        assert_eq!(decision.applied, applied, "{case}");
        assert_eq!(decision.achieved, achieved, "{case}");
        assert_eq!(decision.host, backed, "{case}");
        assert_eq!(decision.floor_met(), achieved >= floor, "{case}");
        assert_eq!(decision.shortfall_reason.is_none(), decision.floor_met(), "{case}");
        assert_eq!(decision.landlock_abi, landlock.then_some(6), "{case}");
    }
}

#[test]
fn a_cap_lowers_the_class_and_never_the_tier() {
    for (workdir_exec, workdir) in [(true, "/srv/proj"), (false, "/home/u"), (true, "/home/u")] {
        for (floor, applied) in [(Advisory, Tier::Full), (Sealed, Tier::Sealed)] {
            let mut policy = policy(floor);
            policy.files.workdir_exec = workdir_exec;
            let decision = decide(&policy, &host(Some(7)), &placement_at(workdir));
            assert_eq!(decision.achieved, Advisory);
            assert_eq!(decision.applied, applied);
            assert_eq!(decision.host, Sealed);
        }
    }
}

#[test]
fn the_first_cause_in_order_words_the_shortfall() {
    let bare = host(None);
    for (workdir_exec, workdir, host, cause, words) in [
        (true, "/home/u", &bare, ShortfallCause::WorkdirExec, "workdir_exec"),
        (
            false,
            "/home/u",
            &bare,
            ShortfallCause::InsideWorkdir,
            "inside the work folder `/home/u`",
        ),
        (false, "/srv/proj", &bare, ShortfallCause::Host, "landlock_unavailable"),
    ] {
        for floor in [Scoped, Sealed] {
            let mut policy = policy(floor);
            policy.files.workdir_exec = workdir_exec;
            let decision = decide(&policy, host, &placement_at(workdir));
            let reason = decision.shortfall_reason.expect("a shortfall");
            assert_eq!(decision.shortfall_cause, Some(cause), "{reason}");
            assert!(reason.contains(words), "{reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
    }
}

#[test]
fn each_cause_names_the_three_places_of_a_floor() {
    for cause in [ShortfallCause::WorkdirExec, ShortfallCause::InsideWorkdir, ShortfallCause::Host]
    {
        for place in ["`capabilities.containment`", "workspace config", "`--containment`"] {
            assert!(cause.fix().contains(place), "{cause:?} {place}");
        }
    }
}

#[test]
fn an_unconfined_capsule_gets_nothing_and_misses_nothing() {
    let mut policy = policy(Unconfined);
    policy.unconfined = true;
    policy.files.workdir_exec = true;
    let decision = decide(&policy, &host(Some(7)), &placement_at("/home/u"));
    assert_eq!((decision.achieved, decision.applied), (Unconfined, Tier::Unconfined));
    assert_eq!(decision.host, Sealed);
    assert!(decision.floor_met() && !decision.mount_namespace && !decision.private_proc);
    assert_eq!(decision.landlock_abi, None);
    assert_eq!(decision.temp, TempMapping::NotMapped(NotMappedReason::Unconfined));
}

#[test]
fn no_kernel_tier_stands_without_a_syscall_filter() {
    let mut host = host(Some(7));
    host.seccomp = false;
    let decision = decide(&policy(Scoped), &host, &placement());
    assert_eq!((decision.applied, decision.achieved), (Tier::EnvironmentOnly, Advisory));
    assert!(decision.shortfall_reason.expect("a shortfall").contains("no syscall filter"));
    host.seccomp = true;
    "plan9".clone_into(&mut host.os);
    let decision = decide(&policy(Sealed), &host, &placement());
    assert_eq!((decision.applied, decision.userns_grant), (Tier::EnvironmentOnly, None));
    assert!(decision.shortfall_reason.expect("a shortfall").contains("not_linux"));
}

#[test]
fn the_domain_is_built_at_what_kernel_and_crate_share() {
    for (kernel, built) in [(1, 1), (7, 7), (10, 10), (42, LANDLOCK_TARGET_ABI)] {
        let decision = decide(&policy(Advisory), &host(Some(kernel)), &placement());
        assert_eq!(decision.landlock_abi, Some(built));
    }
    let mut shy = host(Some(3));
    shy.landlock.abi = None;
    assert_eq!(decide(&policy(Advisory), &shy, &placement()).landlock_abi, Some(1));
}

#[test]
fn a_private_proc_needs_a_mount_namespace() {
    for (mount, procfs, private) in [(true, true, true), (true, false, false), (false, true, false)]
    {
        let mut host = host_with(true, false, mount);
        if !procfs {
            host.namespaces.procfs = refused("mount(proc)", 1);
        }
        let decision = decide(&policy(Advisory), &host, &placement());
        assert_eq!(decision.private_proc, private, "mount={mount} procfs={procfs}");
        assert_eq!(decision.mount_namespace, mount);
    }
}

#[test]
fn each_refused_step_has_its_one_blocker() {
    use SealedBlocker::{
        IdMapDenied, KernelUnsupported, MountDenied, NamespaceCreationDenied,
        NetworkNamespaceUnavailable, PivotRootDenied,
    };
    for (step, errno, blocker) in [
        ("unshare(NEWUSER|NEWNET)", 28, KernelUnsupported),
        ("unshare(NEWUSER|NEWNET)", 22, KernelUnsupported),
        ("unshare(NEWUSER|NEWNET)", 38, KernelUnsupported),
        ("unshare(NEWUSER|NEWNET)", 87, KernelUnsupported),
        ("unshare(NEWUSER|NEWNET)", 1, NamespaceCreationDenied),
        ("uid_map", 1, IdMapDenied),
        ("setgroups", 13, IdMapDenied),
        ("loopback up", 1, NetworkNamespaceUnavailable),
        ("route", 95, NetworkNamespaceUnavailable),
    ] {
        let host = host_without_namespaces(Some(6), step, errno);
        assert_eq!(sealed_blocker(&host), Some(blocker), "{step} {errno}");
    }
    for (step, errno, blocker) in [
        ("unshare(NEWUSER|NEWNS)", 87, KernelUnsupported),
        ("unshare(NEWUSER|NEWNS)", 1, NamespaceCreationDenied),
        ("setns(net)", 1, NetworkNamespaceUnavailable),
        ("gid_map", 1, IdMapDenied),
        ("mount(private)", 13, MountDenied),
        ("tmpfs", 1, MountDenied),
        ("parking folder", 30, PivotRootDenied),
        ("pivot_root", 22, PivotRootDenied),
        ("detach", 1, PivotRootDenied),
    ] {
        let mut host = host(Some(6));
        host.namespaces.composed_root = refused(step, errno);
        assert_eq!(sealed_blocker(&host), Some(blocker), "{step} {errno}");
    }
}

#[test]
fn the_other_blockers_are_chosen_by_what_was_read() {
    assert_eq!(sealed_blocker(&host(Some(6))), None);
    assert_eq!(sealed_blocker(&host(None)), Some(SealedBlocker::LandlockUnavailable));
    let mut untried = host(Some(6));
    untried.namespaces.composed_root = Attempt::NotTried { reason: "fork failed".to_owned() };
    assert_eq!(sealed_blocker(&untried), Some(SealedBlocker::ProbeUnavailable));
    untried.namespaces.network = untried.namespaces.composed_root.clone();
    assert_eq!(sealed_blocker(&untried), Some(SealedBlocker::ProbeUnavailable));

    let mut ubuntu = host_without_namespaces(Some(6), "uid_map", 13);
    ubuntu.apparmor.enabled = Some("Y".to_owned());
    ubuntu.apparmor.restrict_unprivileged_userns = Some("1".to_owned());
    assert_eq!(sealed_blocker(&ubuntu), Some(SealedBlocker::AppArmorProfileMissing));
    ubuntu.apparmor.profile = Some("docker-default (enforce)".to_owned());
    assert_eq!(sealed_blocker(&ubuntu), Some(SealedBlocker::IdMapDenied));
}

#[test]
fn a_host_reason_ends_with_the_failed_call_and_the_readings() {
    let host = host_without_namespaces(Some(6), "unshare(NEWUSER|NEWNET)", 28);
    let reason = decide(&policy(Sealed), &host, &placement()).shortfall_reason.expect("a reason");
    for part in [
        "kernel_unsupported",
        "`user.max_user_namespaces`",
        "`unshare(NEWUSER|NEWNET)` failed with ENOSPC, no space left on device",
        "kernel 6.12.0, landlock abi 6, apparmor enabled absent",
    ] {
        assert!(reason.contains(part), "{part} in: {reason}");
    }
}

/// Any outcome of an attempt.
fn attempt() -> impl Strategy<Value = Attempt> {
    let step = prop_oneof![Just("unshare"), Just("uid_map"), Just("pivot_root"), Just("setns")];
    prop_oneof![
        Just(Attempt::Works),
        (step, 1..100_i32).prop_map(|(step, errno)| refused(step, errno)),
    ]
}

proptest! {
    #[test]
    fn a_better_host_never_lowers_the_class(
        (network, mount, root, procfs) in (attempt(), attempt(), attempt(), attempt()),
        landlock in attempt(),
        seccomp in any::<bool>(),
        floor in prop_oneof![Just(Advisory), Just(Scoped), Just(Sealed)],
        which in 0..6_usize,
    ) {
        let mut worse = host(Some(6));
        worse.seccomp = seccomp;
        worse.landlock.enforced = landlock;
        worse.namespaces.network = network;
        worse.namespaces.mount = mount;
        worse.namespaces.composed_root = root;
        worse.namespaces.procfs = procfs;
        let mut better = worse.clone();
        match which {
            0 => better.seccomp = true,
            1 => better.landlock.enforced = Attempt::Works,
            2 => better.namespaces.network = Attempt::Works,
            3 => better.namespaces.mount = Attempt::Works,
            4 => better.namespaces.composed_root = Attempt::Works,
            _ => better.namespaces.procfs = Attempt::Works,
        }
        let policy = policy(floor);
        let (before, after) = (decide(&policy, &worse, &placement()), decide(&policy, &better, &placement()));
        prop_assert!(after.achieved >= before.achieved);
        prop_assert!(after.host >= before.host);
        prop_assert!(after.floor_met() || !before.floor_met());
    }
}
