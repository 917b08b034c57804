//! System calls that no capsule may make.

use mur_integration::{Caller, Scratch, leftover, need};

use crate::Control::{Differs, Succeeds};
use crate::{expect, in_each_shape, possible};

#[test]
fn calls_that_reach_past_a_capsule_are_refused_each_with_its_own_errno() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let by_root = if caller == Caller::Root { Succeeds } else { Differs("EPERM") };
        expect(
            &capsule,
            &format!("{class:?} by {caller:?}"),
            &[
                ("socket-unix", "EACCES", Succeeds),
                ("socket-netlink", "EACCES", Succeeds),
                ("socket-packet", "EACCES", by_root),
                ("socketpair-unix", "ok", Succeeds),
                ("socket-inet", "ok", Succeeds),
                ("socket-inet6", "ok", Succeeds),
                ("unshare-user", "EPERM", Succeeds),
                ("clone-user", "EPERM", Succeeds),
                ("clone3", "ENOSYS", Succeeds),
                ("clone-plain", "ok", Succeeds),
                ("memfd", "ENOSYS", Succeeds),
                ("setuid-0", "EPERM|EINVAL", by_root),
                ("open-tree", "EPERM", by_root),
                ("fsopen", "EPERM", by_root),
                ("mount-tmpfs=/tmp", "EPERM", by_root),
                (
                    "remount-rw=/usr",
                    "EPERM",
                    Differs(if caller == Caller::Root { "EINVAL" } else { "EPERM" }),
                ),
                ("umount=/tmp", "EPERM", by_root),
                ("chroot=/", "EPERM", by_root),
            ],
        );
    });
    leftover::nothing_of(&scratch);
}

/// These are refused to ordinary users outside as well, or have no success that is safe to try: the errno alone
/// tells, and it is another one outside.
#[test]
fn calls_of_the_administrator_are_refused_to_a_capsule_of_root() {
    if !(possible() && need::root()) {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        if caller != Caller::Root {
            return;
        }
        expect(
            &capsule,
            &format!("{class:?} by {caller:?}"),
            &[
                ("bpf", "EPERM", Differs("EINVAL")),
                ("keyctl", "EPERM", Succeeds),
                ("init-module", "EPERM", Differs("EFAULT")),
                ("reboot-bad-magic", "EPERM", Differs("EINVAL")),
                ("swapoff", "EPERM", Differs("ENOENT")),
                ("set-clock", "EPERM", Differs("EFAULT")),
                ("sethostname", "EPERM", Differs("EFAULT")),
                ("syslog", "EPERM", Succeeds),
                ("quotactl", "EPERM", Differs("ENOTBLK")),
                ("personality-32", "EPERM", Succeeds),
                ("userfaultfd", "EPERM", Succeeds),
                ("fanotify", "EPERM", Succeeds),
            ]
            .into_iter()
            // What the kernel of this machine was built without, or what this machine's root may not do, proves nothing.
            .filter(|(word, _, control)| {
                let found = &capsule.probe_outside(&[word])[0].result;
                match control {
                    Succeeds => found == "ok",
                    Differs(result) => found == result,
                }
            })
            .collect::<Vec<_>>(),
        );
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn io_uring_and_calls_that_are_not_known_yet_are_not_there() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let results: Vec<String> = capsule
            .probe(&["io-uring", "syscall=4095", "syscall=467", "exec-memfd=/bin/true"])
            .into_iter()
            .map(|one| one.result)
            .collect();
        assert_eq!(results, ["ENOSYS", "ENOSYS", "ENOSYS", "ENOSYS"], "{class:?} by {caller:?}");
    });
}

#[test]
fn the_gates_of_other_architectures_are_shut() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        let inside = capsule.probe(&["i386-getpid", "i386-socket", "x32-socket"]);
        for attempt in &inside {
            let is_shut =
                ["signal 31", "signal 11", "ENOSYS", "EPERM"].contains(&attempt.result.as_str());
            assert!(is_shut, "{what}: {attempt:?}");
        }
    });
}

#[test]
fn another_process_of_the_capsule_cannot_be_traced_or_read() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let results: Vec<String> = capsule
            .probe(&["ptrace-attach=1", "process-vm-read=1"])
            .into_iter()
            .map(|one| one.result)
            .collect();
        assert_eq!(results, ["EPERM", "EPERM"], "{class:?} by {caller:?}");
    });
}

#[test]
fn no_capability_is_left_and_none_can_be_gained() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let words =
            ["status=CapInh", "status=CapPrm", "status=CapEff", "status=CapBnd", "status=CapAmb"];
        for attempt in capsule.probe(&words) {
            assert_eq!(
                attempt.detail, "0000000000000000",
                "{class:?} by {caller:?}: {}",
                attempt.what
            );
        }
        let rest = capsule.probe(&["status=NoNewPrivs", "status=Seccomp", "descriptors"]);
        let details: Vec<&str> = rest.iter().map(|one| one.detail.as_str()).collect();
        assert_eq!(details[..2], ["1", "2"], "{class:?} by {caller:?}");
        // The three streams, the probe's own pipe, and the folder that it lists.
        assert_eq!(details[2], "0 1 2 3 4 5", "{class:?} by {caller:?}");
    });
}
