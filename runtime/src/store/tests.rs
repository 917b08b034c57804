use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::cgroup::{Manager, Placement};
use crate::state::{Phase, ProcessMark};

fn record(id: &str) -> Record {
    Record {
        format: RECORD_FORMAT,
        id: id.parse().unwrap(),
        bundle: "/b".into(),
        rootfs: "/b/rootfs".into(),
        created: "1970-01-01T00:00:00.000000000Z".to_owned(),
        owner: 0,
        annotations: std::collections::BTreeMap::new(),
        phase: Phase::Creating,
        init: None,
        placement: Placement::default(),
        manager: Manager::Disabled,
        own_pids: true,
        hooks: None,
        limits: None,
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("deep/root"));
    (folder, store)
}

#[test]
fn a_container_goes_from_creating_over_created_and_running_to_stopped() {
    let (_folder, store) = store();
    let id = "web".parse().unwrap();
    let dir = store.reserve(&id).unwrap();
    dir.write_first(&record("web")).unwrap();
    assert_eq!(store.load(&id).unwrap().status(), Status::Creating);
    let gate = dir.make_gate().unwrap();
    let mut made = record("web");
    made.phase = Phase::Made;
    made.init = ProcessMark::read(nix::unistd::Pid::this());
    let mut container = dir.keep(made).unwrap();
    assert_eq!(container.status(), Status::Created);
    drop(gate);
    container.remove_gate();
    assert_eq!(store.load(&id).unwrap().status(), Status::Running);
    container.change(|record| record.init.as_mut().unwrap().started += 1).unwrap();
    let view = store.load(&id).unwrap().view();
    assert_eq!((view.status, view.pid), (Status::Stopped, 0));
    container.remove().unwrap();
    assert!(matches!(store.load(&id), Err(StoreError::NotFound { .. })));
}

#[test]
fn a_name_is_taken_once_and_free_again_when_creation_fails() {
    let (_folder, store) = store();
    let id = "web".parse().unwrap();
    let dir = store.reserve(&id).unwrap();
    assert!(matches!(store.reserve(&id), Err(StoreError::Exists { .. })));
    assert!(matches!(store.load(&id), Err(StoreError::HalfMade { .. })));
    let mode = fs::metadata(store.root.join("web")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
    drop(dir);
    drop(store.reserve(&id).unwrap());
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn only_readable_containers_are_listed_in_order() {
    let (_folder, store) = store();
    for id in ["b", "a"] {
        let dir = store.reserve(&id.parse().unwrap()).unwrap();
        dir.keep(record(id)).unwrap();
    }
    fs::create_dir(store.root.join("half")).unwrap();
    fs::write(store.root.join("a-file"), "").unwrap();
    let ids: Vec<_> = store.list().unwrap().iter().map(|c| c.id().to_string()).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn a_file_of_another_version_is_told_from_a_broken_one() {
    for (text, start) in [
        (r#"{"format": 9, "else": 1}"#, "`/x` has format 9, this `mur` writes 1"),
        (r#"{"format": 1}"#, "cannot understand `/x`"),
        ("{", "cannot understand `/x`"),
    ] {
        let error = parse_record(text.as_bytes(), Path::new("/x")).unwrap_err();
        assert!(error.to_string().starts_with(start), "{error}");
    }
}
