//! Called as root: nothing inside is host root, and what is made belongs to root all the same.

use std::fs;
use std::os::unix::fs::MetadataExt;

use mur_integration::{Caller, Scratch, hierarchies, leftover, need};

use crate::Control::Succeeds;
use crate::{expect, in_each_shape, possible};

#[test]
fn a_capsule_of_root_cannot_change_the_kernels_settings_or_leave_its_limits() {
    if !(possible() && need::root()) {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let groups = hierarchies()[0].mount.join("cgroup.procs");
    let groups = format!("append-nothing={}", groups.display());
    in_each_shape(&scratch, |class, caller, capsule| {
        if caller != Caller::Root {
            return;
        }
        expect(
            &capsule,
            &format!("{class:?} by {caller:?}"),
            &[
                // Opened for writing and nothing written: outside this is harmless.
                ("append-nothing=/proc/sys/kernel/core_pattern", "EACCES|EROFS", Succeeds),
                ("append-nothing=/proc/sys/vm/swappiness", "EACCES|EROFS", Succeeds),
                ("append-nothing=/proc/sysrq-trigger", "EACCES|EROFS|ENOENT", Succeeds),
                (&groups, "EACCES|ENOENT|EROFS", Succeeds),
                ("append-nothing=/dev/kmsg", "EACCES|ENOENT", Succeeds),
            ]
            .into_iter()
            .filter(|(word, _, _)| capsule.probe_outside(&[word])[0].result == "ok")
            .collect::<Vec<_>>(),
        );
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn what_a_capsule_makes_in_the_work_folder_belongs_to_its_owner() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let owned = capsule.work().join("owners");
        fs::write(&owned, "before").unwrap();
        fs::set_permissions(&owned, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        if let Some(user) = capsule.user() {
            user.own(&owned);
        }
        let words = [
            format!("create={}/new", capsule.work().display()),
            format!("write={},after", owned.display()),
        ];
        let results = capsule.probe(&[&words[0], &words[1], "ids"]);
        let what = format!("{class:?} by {caller:?}: {results:?}");
        assert!(results[..2].iter().all(|one| one.result == "ok"), "{what}");
        let made = fs::metadata(capsule.work().join("new")).unwrap();
        let folder = fs::metadata(capsule.work()).unwrap();
        assert_eq!((made.uid(), made.gid()), (folder.uid(), folder.gid()), "{what}");
        assert!(fs::read_to_string(owned).unwrap().starts_with("after"), "{what}");
    });
    leftover::nothing_of(&scratch);
}
