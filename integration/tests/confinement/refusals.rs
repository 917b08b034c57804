//! Whatever is refused leaves the machine as it was.

use std::fs;

use mur_integration::leftover::Snapshot;
use mur_integration::{Caller, Capsule, Class, Run, Scratch};

use crate::possible;

/// A refusal: its name, what is appended to or put in place of the manifest, and the words that it must say.
struct Case {
    name: &'static str,
    manifest: &'static str,
    words: &'static [&'static str],
}

const HEAD: &str = "name: refused\nversion: 0.1.0\n";

const CASES: &[Case] = &[
    Case {
        name: "broken YAML",
        manifest: "capabilities: [\n  x: {\n",
        words: &["error[E-MAN-002]", "line "],
    },
    Case {
        name: "an unknown class",
        manifest: "capabilities:\n  containment: airtight\n",
        words: &["error[E-MAN-003]", "capabilities.containment"],
    },
    Case {
        name: "a path out of the work folder",
        manifest: "capabilities:\n  filesystem:\n    scope: ../up\n  shell:\n    allow: [cat]\n",
        words: &["error[E-CAP-002]"],
    },
    Case {
        name: "a read-only path out of the work folder",
        manifest: "capabilities:\n  filesystem:\n    read_only: [/etc]\n  shell:\n    allow: [cat]\n",
        words: &["error[E-CAP-012]"],
    },
    Case {
        name: "a missing program",
        manifest: "capabilities:\n  containment: sealed\n  shell:\n    allow: [cat, no-such-program-anywhere]\n",
        words: &["no-such-program-anywhere"],
    },
    Case {
        name: "a network entry with a path",
        manifest: "capabilities:\n  network:\n    allow: [\"https://example.com/path\"]\n",
        words: &["capabilities.network.allow[0]", "has a path"],
    },
    Case {
        name: "a floor that cannot be met",
        manifest: "capabilities:\n  containment: sealed\n  filesystem:\n    workdir_exec: true\n  shell:\n    allow: [cat]\n",
        words: &["error[E-CAP-003]"],
    },
    Case { name: "no name", manifest: "inference: {}\n", words: &["error["] },
];

#[test]
fn every_refusal_says_why_and_leaves_no_file_mount_group_or_process() {
    if !possible() {
        return;
    }
    let (_alone, scratch) = Scratch::alone();
    let callers = if nix::unistd::geteuid().is_root() {
        &[Caller::Root, Caller::User][..]
    } else {
        &[Caller::User][..]
    };
    for caller in callers {
        let capsule = Capsule::new(&scratch, Class::Sealed, *caller);
        let manifest = capsule.manifest();
        // An ordinary user's copy of the binary is made on its first call.
        capsule.mur(&["--version"]).finish().ok();
        for case in CASES {
            let head = if case.name == "no name" { "version: 0.1.0\n" } else { HEAD };
            fs::write(&manifest, format!("{head}{}", case.manifest)).unwrap();
            for flags in [&["run"][..], &["bundle", "-o", "made"][..]] {
                let words =
                    [flags, &["--manifest", manifest.to_str().unwrap(), "--", "cat"]].concat();
                refused(&scratch, &capsule, case.name, &words, case.words);
            }
        }
        walk_the_rest(&scratch, &capsule, *caller);
    }
}

/// Refusals that are about the machine, not the manifest.
fn walk_the_rest(scratch: &Scratch, capsule: &Capsule, caller: Caller) {
    let manifest = capsule.manifest();
    let manifest = manifest.to_str().unwrap().to_owned();
    let good = "capabilities:\n  containment: sealed\n  shell:\n    allow: [cat]\n";
    fs::write(&manifest, format!("{HEAD}{good}")).unwrap();
    let there = capsule.folder().join("there");
    fs::create_dir_all(&there).unwrap();
    fs::write(there.join("precious"), "x").unwrap();
    refused(
        scratch,
        capsule,
        "an output folder that exists",
        &["bundle", "--manifest", &manifest, "-o", "there", "--", "cat"],
        &["there"],
    );
    refused(
        scratch,
        capsule,
        "no manifest",
        &["run", "--manifest", "absent.yaml", "--", "cat"],
        &["error[E-IO-001]", "absent.yaml"],
    );
    refused(scratch, capsule, "nothing to run", &["run", "--manifest", &manifest], &["error"]);
    let folder = ["run", "--manifest", &manifest, "--workdir", "/no/such/folder", "--", "cat"];
    refused(scratch, capsule, "no work folder", &folder, &["/no/such/folder"]);
    let mut command = capsule.run(&["cat", "/dev/null"]);
    let before = Snapshot::take(&[scratch.path()]);
    let finished = command.env("HOME", "/proc/no-home").finish().refused();
    assert!(finished.stderr.contains("error["), "{caller:?}: an unwritable home: {finished}");
    before.still_holds(&[scratch.path()]);
}

#[track_caller]
fn refused(scratch: &Scratch, capsule: &Capsule, name: &str, words: &[&str], said: &[&str]) {
    // The command first: a group of the caller's own is made for it.
    let mut command = capsule.mur(words);
    let before = Snapshot::take(&[scratch.path()]);
    let finished = command.finish().refused();
    assert!(said.iter().all(|word| finished.stderr.contains(word)), "{name}: {finished}");
    before.still_holds(&[scratch.path()]);
}
