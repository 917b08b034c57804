use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use mur_policy::ContainmentClass;

use super::*;
use crate::fixture::{Maker, decision, layout, policy};
use crate::plan;

/// A plan that an ordinary user, or root, can write: everything belongs to whoever writes it.
fn planned() -> BundlePlan {
    let (policy, layout) = (policy(ContainmentClass::Sealed), {
        let mut layout = layout(Maker::User);
        layout.identity.uid.host = own_uid();
        layout.identity.gid.host = own_gid();
        layout
    });
    plan(&policy, &decision(&policy, &layout), &layout).unwrap().with_scope("{}\n".into())
}

fn own_uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

fn own_gid() -> u32 {
    fs::metadata("/proc/self").unwrap().gid()
}

#[test]
fn a_written_bundle_opens_as_it_was_planned() {
    let parent = tempfile::tempdir().unwrap();
    let plan = planned();
    let written = write(&plan, &parent.path().join("b")).unwrap();
    let opened = Bundle::open(&parent.path().join("b")).unwrap();
    assert_eq!(written, opened);
    assert_eq!(opened.spec(), plan.spec());
    let dir = opened.dir();
    assert_eq!(fs::read(dir.join("config.json")).unwrap(), plan.config_json().unwrap());
    assert_eq!(fs::read_to_string(dir.join("murmur-scope.json")).unwrap(), "{}\n");
    assert_eq!(fs::read_link(dir.join("rootfs/bin")).unwrap(), Path::new("usr/bin"));
    assert!(fs::read_to_string(dir.join("rootfs/etc/passwd")).unwrap().contains("capsule:x:1000"));
    for (path, mode) in
        [("rootfs", 0o755), ("tmp", 0o700), ("rootfs/etc/passwd", 0o644), ("config.json", 0o644)]
    {
        let mode_of = fs::metadata(dir.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode_of, mode, "{path}");
    }
}

#[test]
fn an_existing_folder_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("b");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("mine"), "x").unwrap();
    assert!(matches!(write(&planned(), &dir), Err(WriteError::Exists { .. })));
    assert_eq!(fs::read_to_string(dir.join("mine")).unwrap(), "x");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_bundle_that_cannot_be_finished_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("b");
    let mut plan = planned();
    let twice = plan.rootfs()[0].clone();
    plan.push_step(twice);
    assert!(matches!(write(&plan, &dir), Err(WriteError::Make { .. })));
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    let nowhere = parent.path().join("gone/b");
    assert!(matches!(write(&planned(), &nowhere), Err(WriteError::Make { .. })));
}

#[test]
fn an_archive_is_written_once_and_never_over_another() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("demo.tar");
    let plan = planned();
    write_archive(&plan, &file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), archive(&plan).unwrap());
    fs::write(&file, "mine").unwrap();
    assert!(matches!(write_archive(&plan, &file), Err(WriteError::Exists { .. })));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn what_is_no_bundle_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Bundle::open(&dir.path().join("gone")), Err(OpenError::Folder { .. })));
    assert!(matches!(Bundle::open(dir.path()), Err(OpenError::Read { .. })));
    fs::write(dir.path().join("config.json"), "{\n  \"ociVersion\": 1\n").unwrap();
    let error = Bundle::open(dir.path()).unwrap_err();
    assert!(matches!(error, OpenError::Config { .. }));
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("line 2"));
}
