//! A bundle is one that every OCI runtime accepts.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mur_integration::{Caller, Capsule, Class, Kind, Run, Runtime, Scratch, leftover, need};
use serde_json::Value;

use crate::possible;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples")
}

/// A capsule whose project is an example, copied so that nothing is made in the repository.
fn example(scratch: &Scratch, name: &str, caller: Caller) -> Capsule {
    let capsule = Capsule::new(scratch, Class::Sealed, caller);
    let source = format!("{}/.", examples().join(name).display());
    let into = if name == "unit-tests" { capsule.work() } else { capsule.folder() };
    fs::remove_file(capsule.manifest()).unwrap();
    Command::new("cp").arg("-r").arg(source).arg(into).finish().ok();
    if name == "unit-tests" {
        // Its work folder is the project.
        fs::rename(into.join("murmur.yaml"), capsule.manifest()).unwrap();
        Command::new("cp").arg("-r").arg(into.join("project/.")).arg(into).finish().ok();
        fs::remove_dir_all(into.join("project")).unwrap();
    }
    if let Some(user) = capsule.user() {
        user.own_all(capsule.folder());
    }
    capsule
}

/// Lines that are alike in every run.
fn steady(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("Ran ") || !line.contains(" in "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_bundle_of_every_example_made_by_root_runs_under_crun_and_runc_alike() {
    if !(possible() && need::root()) {
        return;
    }
    for name in ["hello", "unit-tests", "offline-build"] {
        let scratch = Scratch::outside_tmp();
        let mut said = Vec::new();
        for kind in [Kind::Mur, Kind::Crun, Kind::Runc] {
            let capsule = example(&scratch, name, Caller::Root);
            // Somebody's, as most are; root's own would need an idmapped mount, which runc has since 1.2.
            Command::new("chown").args(["-R", "1000:1000"]).arg(capsule.work()).finish().ok();
            let bundle = scratch.path().join(format!("bundle-{kind:?}"));
            capsule.verb("bundle", &["-o", bundle.to_str().unwrap()]).finish().ok();
            let Some(runtime) = Runtime::of(kind) else {
                need::skip(&format!("needs {kind:?}"));
                continue;
            };
            let mut command = runtime.command(["--root"]);
            command
                .arg(scratch.folder(&format!("state-{kind:?}")))
                .args(["run", "--bundle"])
                .arg(&bundle);
            let finished = command.arg(scratch.name(&format!("{kind:?}"))).finish();
            assert_eq!(finished.code, 0, "{name}: {finished}");
            said.push((kind, steady(&finished.stdout)));
            fs::remove_dir_all(capsule.folder()).unwrap();
        }
        for (kind, text) in &said[1..] {
            assert_eq!(text, &said[0].1, "{name} under {kind:?}");
        }
        leftover::nothing_of(&scratch);
    }
}

#[test]
fn the_bundle_of_a_work_folder_of_roots_runs_under_crun() {
    if !(possible() && need::root() && need::program("crun")) {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let capsule = example(&scratch, "hello", Caller::Root);
    let bundle = scratch.path().join("bundle");
    capsule.verb("bundle", &["-o", bundle.to_str().unwrap()]).finish().ok();
    let runtime = Runtime::of(Kind::Crun).unwrap();
    let mut command = runtime.command(["--root"]);
    command.arg(scratch.folder("state")).args(["run", "--bundle"]).arg(&bundle);
    let said = command.arg(scratch.name("roots")).finish().ok();
    assert!(said.contains("I wrote greeting.txt"), "{said}");
    assert_eq!(fs::metadata(capsule.work().join("greeting.txt")).unwrap().uid(), 0);
    leftover::nothing_of(&scratch);
}

#[test]
fn an_ordinary_users_bundle_runs_under_crun_as_it_is_and_under_runc_when_made_for_it() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    for (kind, flags) in [(Kind::Crun, &[][..]), (Kind::Runc, &["--for", "runc"][..])] {
        let Some(runtime) = Runtime::of(kind) else {
            need::skip(&format!("needs {kind:?}"));
            continue;
        };
        let capsule = example(&scratch, "hello", Caller::User);
        let bundle = capsule.home().join(format!("bundle-{kind:?}"));
        let made =
            capsule.verb("bundle", &[&["-o", bundle.to_str().unwrap()], flags].concat()).finish();
        // The test's user has no group of its own here that runc could limit; what is left out is said.
        let limits = fs::read_to_string(bundle.join("config.json")).unwrap().contains("\"limit\"");
        assert_eq!(made.stderr.contains("W-RUN-201"), !limits, "{made:?}");
        made.ok();
        let state = capsule.home().join("state");
        let id = scratch.name(&format!("{kind:?}").to_lowercase());
        let words =
            ["--root", state.to_str().unwrap(), "run", "--bundle", bundle.to_str().unwrap(), &id];
        let said = capsule.call(&runtime, &words).finish().ok();
        assert!(said.contains("hello from a capsule"), "{said}");
        assert!(said.contains("cat /etc/shadow -> "), "{said}");
        drop(capsule);
        fs::remove_dir_all(scratch.path().join("sealed-user")).unwrap();
        for entry in fs::read_dir(scratch.path()).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("home-") {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }
    leftover::nothing_of(&scratch);
}

#[test]
fn the_same_manifest_gives_the_same_bytes() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let capsule = Capsule::new(&scratch, Class::Sealed, Caller::Root);
    let read = |name: &str| {
        let folder = scratch.path().join(name);
        capsule.verb("bundle", &["-o", folder.to_str().unwrap()]).finish().ok();
        let config = fs::read_to_string(folder.join("config.json")).unwrap();
        let report = fs::read_to_string(folder.join("murmur-scope.json")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        (config, report)
    };
    assert_eq!(read("same"), read("same"));
    let (config, _) = read("same");
    assert!(!config.contains("org.murmur.session-id") && !config.contains("ses_0"), "{config}");
}

#[test]
fn a_bundles_report_is_explains_but_for_the_folders() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    for class in [Class::Sealed, Class::Scoped] {
        let caller = if nix::unistd::geteuid().is_root() { Caller::Root } else { Caller::User };
        let capsule = Capsule::new(&scratch, class, caller);
        let folder = capsule.home().join(format!("bundle-{}", class.word()));
        capsule.verb("bundle", &["-o", folder.to_str().unwrap()]).finish().ok();
        let bundled: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("murmur-scope.json")).unwrap())
                .unwrap();
        let explained: Value =
            serde_json::from_str(&capsule.verb("explain", &["--json"]).finish().ok()).unwrap();
        let differing: Vec<&String> = explained
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, value)| bundled.get(key.as_str()) != Some(*value))
            .map(|(key, _)| key)
            .collect();
        assert!(differing.len() <= 3, "{differing:?}");
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&bundled), keys(&explained));
    }
}
