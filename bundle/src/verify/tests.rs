#![expect(clippy::disallowed_methods, reason = "a bundle is edited on disk")]

use std::fs;

use mur_policy::ContainmentClass::Sealed;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{Maker, decision, layout, policy};
use crate::{Bundle, plan, write};

/// A bundle on disk whose host paths exist, changed by `edit` after it was written.
fn findings(edit: impl FnOnce(&std::path::Path, &mut Value)) -> Vec<Finding> {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("b");
    let (policy, layout) = (policy(Sealed), layout(Maker::User));
    let mut plan = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
    plan.forget_owners();
    write(&plan.with_scope("{}\n".into()), &dir).unwrap();
    let file = dir.join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    // The fixture's host is not this one.
    for mount in config["mounts"].as_array_mut().unwrap() {
        if mount["type"] == "bind" && mount["source"].as_str().unwrap().starts_with('/') {
            mount["source"] = "/".into();
        }
    }
    edit(&dir, &mut config);
    fs::write(&file, serde_json::to_vec(&config).unwrap()).unwrap();
    let bundle = Bundle::open(&dir).unwrap();
    verify(bundle.spec(), &bundle.contents().unwrap())
}

#[test]
fn a_bundle_as_it_was_written_has_no_fault() {
    assert_eq!(findings(|_, _| {}), []);
}

type Edit = fn(&std::path::Path, &mut Value);

/// A name, an edit of the bundle, and what is said of it.
const EDITS: &[(&str, Edit, Fault, &str)] = &[
    (
        "another report",
        |dir, _| fs::write(dir.join("murmur-scope.json"), "{ }").unwrap(),
        Fault::Mismatch,
        "`murmur-scope.json` is another one",
    ),
    (
        "no report",
        |dir, _| fs::remove_file(dir.join("murmur-scope.json")).unwrap(),
        Fault::Missing,
        "there is no `murmur-scope.json`",
    ),
    (
        "a program in the root",
        |dir, _| fs::write(dir.join("rootfs/tool"), "\u{7f}ELF").unwrap(),
        Fault::Weaker,
        "`rootfs/tool` is no part",
    ),
    (
        "a program for an account file",
        |dir, _| fs::write(dir.join("rootfs/etc/passwd"), "\u{7f}ELF").unwrap(),
        Fault::Weaker,
        "`rootfs/etc/passwd` is no part",
    ),
    (
        "no home",
        |dir, _| fs::remove_dir(dir.join("home")).unwrap(),
        Fault::Missing,
        "`home`, to be seen at `/murmur/records/home`",
    ),
    (
        "a writable tree",
        |_, config| config["mounts"][0]["options"] = json!(["rbind", "rnosuid"]),
        Fault::Weaker,
        "is writable and executable",
    ),
    (
        "a capability",
        |_, config| config["process"]["capabilities"]["effective"] = json!(["CAP_SYS_ADMIN"]),
        Fault::Weaker,
        "five empty lists",
    ),
    (
        "no filter",
        |_, config| config["linux"]["seccomp"] = Value::Null,
        Fault::Weaker,
        "syscall filter",
    ),
    (
        "one call more",
        |_, config| {
            let rule = json!({"names": ["mount"], "action": "SCMP_ACT_ALLOW"});
            config["linux"]["seccomp"]["syscalls"].as_array_mut().unwrap().push(rule);
        },
        Fault::Weaker,
        "system call `mount`",
    ),
    (
        "more memory",
        |_, config| config["linux"]["resources"]["memory"]["limit"] = json!(1_i64 << 50),
        Fault::Weaker,
        "memory (bytes)",
    ),
    (
        "a shared network",
        |_, config| {
            let namespaces = config["linux"]["namespaces"].as_array_mut().unwrap();
            namespaces.retain(|own| own["type"] != "network");
        },
        Fault::Weaker,
        "no net namespace",
    ),
    (
        "every id",
        |_, config| config["linux"]["uidMappings"][0]["size"] = 65536.into(),
        Fault::Weaker,
        "maps more ids",
    ),
    (
        "no domain",
        |_, config| {
            let annotations = config["annotations"].as_object_mut().unwrap();
            annotations.remove("org.murmur.landlock");
        },
        Fault::Weaker,
        "no Landlock domain",
    ),
    (
        "no policy",
        |_, config| {
            config["annotations"].as_object_mut().unwrap().remove("org.murmur.policy");
        },
        Fault::Mismatch,
        "no annotation `org.murmur.policy`",
    ),
];

#[test]
fn each_change_of_a_written_bundle_is_found() {
    for (name, edit, fault, what) in EDITS {
        let findings = findings(*edit);
        let found = findings.iter().find(|finding| finding.what.contains(what));
        assert_eq!(found.map(|it| it.fault), Some(*fault), "{name}: {findings:#?}");
    }
}
