//! Symbolic links of an image, where the runtime mounts, makes files, or changes folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::json;

use crate::{run, writable};

fn replace_by_link(bundle: &Bundle, path: &str, target: &str) {
    let place = bundle.inside(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let _ = fs::remove_dir(&place);
    let _ = fs::remove_file(&place);
    symlink(target, place).unwrap();
}

/// Else the masks of `/proc` lie on an empty folder and the real one is open elsewhere.
#[test]
fn proc_and_sys_are_mounted_on_ordinary_folders_alone() {
    let Some(scratch) = need::root_scratch() else { return };
    for (name, path, target) in [
        ("absolute-proc", "proc", "/tmp/evil"),
        ("relative-proc", "proc", "tmp/evil"),
        ("absolute-sys", "sys", "/tmp/evil"),
        ("relative-sys", "sys", "tmp/evil"),
    ] {
        let bundle = writable(&scratch, name).args(["ls", "/tmp/evil"]);
        fs::create_dir_all(bundle.inside("tmp/evil")).unwrap();
        replace_by_link(&bundle, path, target);
        if name == "relative-sys" || name == "absolute-sys" || name == "relative-proc" {
            // crun 1.8 follows them inside the root.
            if !need::as_runc_does(Runtime::under_test(), "crun mounts on the link's target") {
                continue;
            }
        }
        run(&scratch, &bundle).refused();
        assert!(!Path::new("/tmp/evil").exists());
    }
}

/// `CVE-2024-21626`: a descriptor of the host's that is open in the runtime is a way out of the root.
#[test]
fn a_working_folder_named_by_a_descriptor_reaches_nothing_of_the_host() {
    let Some(scratch) = need::root_scratch() else { return };
    let outside = scratch.folder("outside");
    scratch.file("outside/secret", "of the host");
    for number in 3..=30 {
        let bundle = writable(&scratch, "b").args(["cat", "secret"]).edit(|config| {
            config["process"]["cwd"] = json!(format!("/proc/self/fd/{number}"));
        });
        let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
        let finished = Command::new("sh")
            // The caller leaks a folder as well, on the number that is asked for.
            .args(["-c", &format!("exec {}<\"$1\"; shift; exec \"$@\"", number.min(9)), "sh"])
            .arg(&outside)
            .arg(Runtime::under_test().program())
            .args(container.begin("run", &[]).get_args())
            .finish();
        let is_kept = !finished.both().contains("of the host");
        if !is_kept
            && !need::as_runc_does(Runtime::under_test(), "crun 1.8 takes the caller's folder")
        {
            fs::remove_dir_all(bundle.folder()).unwrap();
            continue;
        }
        assert!(is_kept, "{number}: {finished}");
        finished.refused();
        fs::remove_dir_all(bundle.folder()).unwrap();
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn the_place_of_a_mount_is_made_inside_the_root_and_never_on_the_host() {
    let Some(scratch) = need::root_scratch() else { return };
    let target = format!("/opt/{}", scratch.name("place"));
    let file = scratch.file("file", "bound\n");
    let bundle = writable(&scratch, "b")
        .mount(json!({"destination": "/etc/resolv.conf", "source": file, "options": ["bind"]}))
        .args(["cat", "/etc/resolv.conf"]);
    replace_by_link(&bundle, "etc/resolv.conf", &target);
    let finished = run(&scratch, &bundle);
    assert!(!Path::new(&target).exists(), "made on the host");
    assert_eq!(finished.ok(), "bound\n");
}

#[test]
fn a_place_with_dots_in_its_link_stays_inside_the_root() {
    let Some(scratch) = need::root_scratch() else { return };
    let outside = scratch.folder("outside");
    let file = scratch.file("file", "bound\n");
    let bundle = writable(&scratch, "b")
        .mount(json!({"destination": "/etc/deep/file", "source": file, "options": ["bind"]}))
        .args(["true"]);
    replace_by_link(&bundle, "etc/deep", &format!("../../../../../..{}", outside.display()));
    // Made inside, or refused; both are right.
    run(&scratch, &bundle);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "made on the host");
}

#[test]
fn a_file_is_bound_on_a_link_whose_target_is_missing() {
    let Some(scratch) = need::root_scratch() else { return };
    let file = scratch.file("file", "bound\n");
    let bundle = writable(&scratch, "b")
        .mount(json!({"destination": "/etc/localtime", "source": file, "options": ["bind"]}))
        .args(["cat", "/etc/localtime"]);
    replace_by_link(&bundle, "etc/localtime", "/usr/share/zoneinfo/X");
    assert_eq!(run(&scratch, &bundle).ok(), "bound\n");
}

#[test]
fn a_tmpfs_below_a_linked_folder_is_mounted_where_the_link_leads() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = writable(&scratch, "b")
        .mount(json!({"destination": "/conf/stack", "type": "tmpfs", "source": "tmpfs", "options": ["size=64k"]}))
        .args(["sh", "-c", "grep -o ' /[a-z]*/conf/stack tmpfs' /proc/mounts"]);
    fs::create_dir_all(bundle.inside("real/conf")).unwrap();
    replace_by_link(&bundle, "conf", "/real/conf");
    assert_eq!(run(&scratch, &bundle).ok(), " /real/conf/stack tmpfs\n");
}

#[test]
fn a_read_only_tmpfs_with_a_mode_is_both() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = writable(&scratch, "b")
        .mount(json!({"destination": "/t", "type": "tmpfs", "source": "tmpfs",
                      "options": ["ro", "mode=0755", "size=64k"]}))
        .shell("stat -c %a /t; touch /t/x");
    fs::create_dir(bundle.inside("t")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(bundle.inside("t"), mode).unwrap();
    let refused = run(&scratch, &bundle).refused();
    if need::as_crun_does(Runtime::under_test(), "runc 1.1 takes the mode of the folder below") {
        assert_eq!(refused.stdout, "755\n");
    }
    assert!(refused.stderr.contains("Read-only"), "{refused}");
}
