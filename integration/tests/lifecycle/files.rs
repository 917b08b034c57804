//! Root file system, mounts, devices, masked and read-only paths.

use std::fs;
use std::process::Command;

use mur_integration::{Attempt, Bundle, Container, Run, Runtime, leftover, need, probe_program};
use serde_json::json;

use crate::run;

/// The probe's answers from inside a container whose config was edited.
fn probe(bundle: Bundle, words: &[&str], scratch: &mur_integration::Scratch) -> Vec<String> {
    let bundle = bundle
        .mount(
            json!({"destination": "/probe", "source": probe_program(), "options": ["bind", "ro"]}),
        )
        .edit(|config| {
            let all: Vec<&str> = std::iter::once("/probe").chain(words.iter().copied()).collect();
            config["process"]["args"] = json!(all);
        });
    let said = run(scratch, &bundle).ok();
    Attempt::read_all(&said).into_iter().map(|attempt| attempt.result).collect()
}

#[test]
fn a_read_only_root_refuses_writing_and_a_writable_one_does_not() {
    let Some(scratch) = need::root_scratch() else { return };
    let words = ["create=/etc/new", "create=/dev/shm/new"];
    assert_eq!(probe(Bundle::busybox(&scratch, "ro"), &words, &scratch), ["EROFS", "ok"]);
    let writable =
        Bundle::busybox(&scratch, "rw").edit(|config| config["root"]["readonly"] = json!(false));
    assert_eq!(probe(writable, &words, &scratch), ["ok", "ok"]);
}

#[test]
fn masked_paths_are_empty_and_read_only_paths_refuse_writing() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").edit(|config| {
        config["linux"]["maskedPaths"] =
            json!(["/etc/passwd", "/root", "/proc/kcore", "/no/such/path"]);
        config["linux"]["readonlyPaths"] = json!(["/proc/sys", "/tmp", "/no/such/path"]);
        config["root"]["readonly"] = json!(false);
    });
    fs::write(bundle.inside("root/secret"), "x").unwrap();
    let words = [
        "read=/etc/passwd",
        "list=/root",
        "create=/root/new",
        "create=/tmp/new",
        "read=/root/secret",
        "append-nothing=/proc/sys/kernel/core_pattern",
        "create=/etc/new",
    ];
    let bundle = bundle.mount(
        json!({"destination": "/probe", "source": probe_program(), "options": ["bind", "ro"]}),
    );
    let bundle = bundle.edit(|config| {
        let all: Vec<&str> = std::iter::once("/probe").chain(words).collect();
        config["process"]["args"] = json!(all);
    });
    let attempts = Attempt::read_all(&run(&scratch, &bundle).ok());
    let shown: Vec<(&str, &str)> =
        attempts.iter().map(|one| (one.result.as_str(), one.detail.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("ok", ""),
            ("ok", ""),
            ("EROFS", ""),
            ("EROFS", ""),
            ("ENOENT", ""),
            ("EROFS", ""),
            ("ok", "")
        ]
    );
}

#[test]
fn mount_options_hold() {
    let Some(scratch) = need::root_scratch() else { return };
    let source = scratch.folder("source");
    fs::copy("/bin/busybox", source.join("program")).unwrap();
    let bind = |place: &str, options: &[&str]| {
        let all: Vec<&str> = ["bind"].iter().chain(options).copied().collect();
        json!({"destination": place, "source": source, "options": all})
    };
    let bundle = Bundle::busybox(&scratch, "b")
        .edit(|config| config["root"]["readonly"] = json!(false))
        .mount(bind("/ro", &["ro"]))
        .mount(bind("/noexec", &["noexec"]))
        .mount(bind("/plain", &[]))
        .mount(json!({"destination": "/tiny", "type": "tmpfs", "source": "tmpfs",
                      "options": ["size=4k", "mode=0711", "nodev"]}));
    let words = [
        "create=/ro/x",
        "create=/noexec/x",
        "create=/plain/y",
        "map-exec=/noexec/program",
        "map-exec=/ro/program",
    ];
    let results = probe(bundle, &words, &scratch);
    assert_eq!(results, ["EROFS", "ok", "ok", "EPERM", "ok"]);
    assert!(source.join("x").exists() && source.join("y").exists());
}

#[test]
fn a_tmpfs_has_the_size_and_mode_of_its_options() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "stat -c %a /t; df -k /t | tail -1 | awk '{print $2}'; grep ' /t ' /proc/mounts";
    let bundle = Bundle::busybox(&scratch, "b")
        .edit(|config| config["root"]["readonly"] = json!(false))
        .mount(json!({"destination": "/t", "type": "tmpfs", "source": "tmpfs",
                      "options": ["nosuid", "noexec", "size=128k", "mode=0711"]}))
        .shell(script);
    let said = run(&scratch, &bundle).ok();
    assert!(said.starts_with("711\n128\n"), "{said}");
    assert!(said.contains("noexec") && said.contains("nosuid"), "{said}");
}

#[test]
fn a_recursive_bind_brings_the_mounts_below_it_and_a_plain_one_does_not() {
    let Some(scratch) = need::root_scratch() else { return };
    let source = scratch.folder("source");
    let below = scratch.folder("source/below");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&below).finish();
    mounted.ok();
    fs::write(below.join("deep"), "x").unwrap();
    let bundle = Bundle::busybox(&scratch, "b")
        .edit(|config| config["root"]["readonly"] = json!(false))
        .mount(json!({"destination": "/all", "source": source, "options": ["rbind"]}))
        .mount(json!({"destination": "/one", "source": source, "options": ["bind"]}))
        .shell("ls /all/below /one/below");
    let said = Container::new(Runtime::under_test(), &scratch, &bundle, "c").run();
    Command::new("umount").arg(&below).finish().ok();
    assert_eq!(said.ok(), "/all/below:\ndeep\n\n/one/below:\n");
    leftover::nothing_of(&scratch);
}

#[test]
fn mounts_of_the_container_do_not_reach_the_host() {
    let Some(scratch) = need::root_scratch() else { return };
    let before = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    assert!(leftover::mounts_below(scratch.path()).is_empty());
    container.delete_by_force().ok();
    let after = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    // Other tests may mount meanwhile, but not a whole container's worth.
    assert!(after < before + 8);
}

#[test]
fn the_standard_devices_are_there_and_are_what_they_say() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "cd /dev; for d in null zero full random urandom tty; do stat -c '%n %t:%T %F' $d; done
        for l in fd stdin stdout stderr; do echo $l $(readlink $l); done; readlink ptmx; ls -d pts shm mqueue";
    let said = run(&scratch, &Bundle::busybox(&scratch, "b").shell(script)).ok();
    let special = "character special file";
    assert_eq!(
        said,
        format!(
            "null 1:3 {special}\nzero 1:5 {special}\nfull 1:7 {special}\nrandom 1:8 {special}\n\
             urandom 1:9 {special}\ntty 5:0 {special}\nfd /proc/self/fd\nstdin /proc/self/fd/0\n\
             stdout /proc/self/fd/1\nstderr /proc/self/fd/2\npts/ptmx\nmqueue\npts\nshm\n"
        )
    );
}

#[test]
fn a_device_of_the_config_is_made_with_its_mode_and_owner() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("stat -c '%t:%T %a %u:%g' /dev/mine").edit(|config| {
        config["linux"]["devices"] = json!([
            {"path": "/dev/mine", "type": "c", "major": 1, "minor": 3, "fileMode": 0o640, "uid": 3, "gid": 4},
        ]);
    });
    assert_eq!(run(&scratch, &bundle).ok(), "1:3 640 3:4\n");
}

#[test]
fn a_file_is_bound_over_a_file_and_its_place_is_made() {
    let Some(scratch) = need::root_scratch() else { return };
    let file = scratch.file("file", "bound\n");
    let bundle = Bundle::busybox(&scratch, "b")
        .mount(json!({"destination": "/new/place/file", "source": file, "options": ["bind", "ro"]}))
        .edit(|config| config["root"]["readonly"] = json!(false))
        .args(["cat", "/new/place/file"]);
    assert_eq!(run(&scratch, &bundle).ok(), "bound\n");
}

#[test]
fn a_bind_of_what_is_not_there_is_refused_by_name() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let bundle = bundle
        .mount(json!({"destination": "/tmp", "source": "/no/such/source", "options": ["bind"]}));
    let refused = run(&scratch, &bundle).refused();
    assert!(refused.stderr.contains("/no/such/source"), "{refused}");
}

#[test]
fn a_missing_root_or_config_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    let gone = bundle.edit(|config| config["root"]["path"] = json!("no-such-root"));
    run(&scratch, &gone).refused();
    fs::remove_file(gone.folder().join("config.json")).unwrap();
    run(&scratch, &gone).refused();
    let broken = gone.folder().join("config.json");
    fs::write(broken, "{\"ociVersion\": \"1.0.2\", ").unwrap();
    run(&scratch, &gone).refused();
}

#[test]
fn the_host_is_out_of_reach_of_the_root() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("cd /; ls ../../../..; ls /proc/1/root/");
    let said = run(&scratch, &bundle).ok();
    assert!(!said.contains("config.json") && !said.contains("home"), "{said}");
}
