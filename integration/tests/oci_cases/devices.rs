//! Device files that an image replaced by links to files of the kernel.

use std::fs;
use std::os::unix::fs::symlink;

use mur_integration::{Bundle, ConsoleSocket, Container, Run, Runtime, leftover, need};
use serde_json::json;

use crate::writable;

/// Stands for `core_pattern`, which a runtime with this fault would overwrite for the whole host: a setting of the
/// container's own namespaces.
const HARMLESS: &str = "/proc/sys/kernel/shm_rmid_forced";

/// The default mounts without those below `/dev`, so that `/dev` is the image's.
fn with_its_own_dev(bundle: Bundle) -> Bundle {
    bundle.without_mounts(&["/dev", "/dev/pts", "/dev/shm", "/dev/mqueue"])
}

/// Masking binds `/dev/null` over a path: of a link in its place it would bind the link's target, writable.
#[test]
fn a_masked_path_never_becomes_what_the_images_null_device_points_to() {
    let Some(scratch) = need::root_scratch() else { return };
    for (name, target) in [("setting", HARMLESS), ("name", "/proc/sys/kernel/domainname")] {
        let bundle = with_its_own_dev(writable(&scratch, name))
            .shell("stat -c '%F %t:%T' /proc/kcore")
            .edit(|config| {
                config["linux"]["maskedPaths"] = json!(["/proc/kcore"]);
            });
        symlink(target, bundle.inside("dev/null")).unwrap();
        let container = Container::new(Runtime::under_test(), &scratch, &bundle, name);
        let finished = container.run();
        if finished.code == 0 {
            let real = finished.stdout == "character special file 1:3\n";
            if !real
                && !need::better_than_both(
                    Runtime::under_test(),
                    "they bind the link's target over the path",
                )
            {
                continue;
            }
            assert!(real, "{finished}");
        } else if Runtime::under_test().is_ours() {
            finished.refused();
        }
        leftover::nothing_of(&scratch);
    }
}

#[test]
fn a_console_never_lands_on_what_the_images_console_points_to() {
    let Some(scratch) = need::root_scratch() else { return };
    // It even makes the target of a dangling one on the host.
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 follows the link, out of the root") {
        return;
    }
    let before = fs::read_to_string(HARMLESS).unwrap();
    let nowhere = scratch.path().join("nowhere");
    for (name, target) in [("setting", HARMLESS), ("dangling", nowhere.to_str().unwrap())] {
        let bundle = with_its_own_dev(writable(&scratch, name))
            .shell("cat /proc/mounts >/tmp/mounts")
            .edit(|config| {
                config["process"]["terminal"] = json!(true);
            });
        let bundle = bundle
            .mount(json!({"destination": "/dev/pts", "type": "devpts", "source": "devpts",
            "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]}));
        fs::create_dir_all(bundle.inside("dev/pts")).unwrap();
        symlink(target, bundle.inside("dev/console")).unwrap();
        let socket = ConsoleSocket::new(&scratch, &format!("{name}.sock"));
        let container = Container::new(Runtime::under_test(), &scratch, &bundle, name);
        let created = container.begin("create", &["--console-socket", socket.as_str()]).finish();
        if created.code == 0 {
            let _terminal = socket.receive();
            container.start().ok();
            container.wait_until("stopped");
            let mounts = fs::read_to_string(bundle.inside("tmp/mounts")).unwrap();
            let on_target = mounts.lines().any(|line| line.split(' ').nth(1) == Some(target));
            if on_target
                && !need::better_than_both(
                    Runtime::under_test(),
                    "they bind over the link's target",
                )
            {
                continue;
            }
            assert!(!on_target, "{mounts}");
        } else {
            created.refused();
        }
        assert!(!nowhere.exists());
        container.delete_by_force().ok();
        leftover::nothing_of(&scratch);
    }
    assert_eq!(fs::read_to_string(HARMLESS).unwrap(), before);
}
