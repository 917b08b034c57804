//! Keeps the house as it is drawn: who may import whom, who owns which outside dependency, under which
//! licences, and that the pure crates stay pure. The tables below are the drawing.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Package and floor; a crate may import only from floors below its own.
const FLOORS: &[(&str, u8)] = &[
    ("mur", 6),
    ("mur-shim", 5),
    ("mur-runtime", 4),
    ("mur-bundle", 3),
    ("mur-hooks", 2),
    ("mur-policy", 1),
    ("mur-manifest", 0),
];

/// Packages beside the floors: they look at `mur` from outside and import nothing of ours.
const OUTSIDE: &[&str] = &["mur-integration"];

/// Everybody may use these: they carry no decision of ours.
const EVERYBODY: &[&str] = &["serde", "serde_json", "thiserror", "insta", "proptest", "tempfile"];

/// Outside dependency and the packages that may name it, also in their tests.
const OWNERS: &[(&str, &[&str])] = &[
    ("saphyr-parser", &["mur-manifest"]),
    ("regex-lite", &["mur-manifest"]),
    ("oci-spec", &["mur-hooks", "mur-bundle", "mur-runtime", "mur-shim", "mur"]),
    ("tar", &["mur-bundle"]),
    ("sha2", &["mur-manifest", "mur-bundle", "mur-shim"]),
    ("landlock", &["mur-runtime"]),
    ("caps", &["mur-runtime"]),
    ("seccompiler", &["mur-runtime"]),
    ("libcontainer", &["mur-runtime"]),
    ("libc", &["mur-runtime", "mur-integration"]),
    ("nix", &["mur-runtime", "mur-shim", "mur-integration"]),
    ("tracing", &["mur-runtime", "mur-shim", "mur"]),
    ("uuid", &["mur-shim"]),
    ("clap", &["mur"]),
    ("clap_complete", &["mur"]),
    ("clap_mangen", &["mur"]),
    ("trycmd", &["mur"]),
    ("anyhow", &["mur"]),
];

/// Licences that a released binary of ours may contain code under.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
    "CC0-1.0",
];

/// Folders of the crates whose clippy.toml bans what touches the machine.
const PURE: &[&str] = &["policy", "policy/manifest", "bundle", "hooks"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `cargo metadata` of the workspace as it is locked, for the platform that releases are built for.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Packages of the workspace, each with the names of all its dependencies: normal, test and build.
fn members(metadata: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    packages(metadata)
        .iter()
        .filter(|package| package["source"].is_null())
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            (text(package, "name"), dependencies.iter().map(|found| text(found, "name")).collect())
        })
        .collect()
}

fn floor(package: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == package).map(|(_, floor)| *floor)
}

/// What is wrong with `importer` using `dependency`, if anything.
fn fault(importer: &str, dependency: &str, is_ours: bool) -> Option<String> {
    if is_ours {
        return match (floor(importer), floor(dependency)) {
            (Some(above), Some(below)) if below < above => None,
            (None, _) => {
                Some(format!("`{importer}` stands beside the floors and imports `{dependency}`"))
            }
            (_, None) => Some(format!("`{importer}` imports `{dependency}`, which has no floor")),
            (Some(above), Some(below)) => {
                Some(format!("`{importer}` (floor {above}) imports `{dependency}` (floor {below})"))
            }
        };
    }
    if EVERYBODY.contains(&dependency) {
        return None;
    }
    match OWNERS.iter().find(|(name, _)| *name == dependency) {
        Some((_, owners)) if owners.contains(&importer) => None,
        Some((_, owners)) => {
            Some(format!("`{importer}` names `{dependency}`, which belongs to {owners:?}"))
        }
        None => {
            Some(format!("`{dependency}` of `{importer}` has no owner in the table of this test"))
        }
    }
}

#[test]
fn every_crate_imports_only_from_the_floors_below_it() {
    let metadata = metadata();
    let members = members(&metadata);
    let faults: Vec<String> = members
        .iter()
        .flat_map(|(importer, imports)| {
            imports.iter().filter_map(|found| fault(importer, found, members.contains_key(found)))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_package_of_the_workspace_has_a_place_in_the_drawing() {
    let metadata = metadata();
    let drawn: BTreeSet<&str> =
        FLOORS.iter().map(|(name, _)| *name).chain(OUTSIDE.iter().copied()).collect();
    assert_eq!(members(&metadata).into_keys().collect::<BTreeSet<_>>(), drawn);
}

#[test]
fn the_tables_refuse_what_they_are_for() {
    for (importer, dependency, is_ours) in [
        ("mur-policy", "mur-bundle", true),
        ("mur-policy", "mur-policy", true),
        ("mur-integration", "mur-policy", true),
        ("mur-bundle", "saphyr-parser", false),
        ("mur-runtime", "clap", false),
        ("mur-policy", "nix", false),
        ("mur-shim", "a-crate-nobody-named", false),
    ] {
        assert!(
            fault(importer, dependency, is_ours).is_some(),
            "{importer} may import {dependency}"
        );
    }
    assert_eq!(fault("mur-bundle", "mur-policy", true), None);
    assert_eq!(fault("mur-bundle", "tar", false), None);
}

#[test]
fn no_yaml_crate_but_the_one_of_the_manifest_is_in_the_tree() {
    let metadata = metadata();
    let yaml: Vec<&str> = packages(&metadata)
        .iter()
        .map(|package| text(package, "name"))
        .filter(|name| name.contains("yaml") || name.starts_with("saphyr"))
        .filter(|name| !["saphyr-parser", "saphyr-parser-bw"].contains(name))
        .collect();
    assert_eq!(yaml, Vec::<&str>::new());
}

/// Whether an SPDX expression can be satisfied by the licences of the table. Only `OR`, `AND`, `/` and
/// parentheses around whole alternatives occur; anything else counts as refused.
fn licence_is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain
        .split(" AND ")
        .all(|needed| needed.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[test]
fn every_dependency_is_under_a_licence_of_the_table() {
    let metadata = metadata();
    let refused: Vec<String> = packages(&metadata)
        .iter()
        .filter(|package| !licence_is_allowed(text(package, "license")))
        .map(|package| format!("{}: `{}`", text(package, "name"), text(package, "license")))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(!licence_is_allowed("GPL-3.0"));
    assert!(!licence_is_allowed("MIT AND GPL-2.0-only"));
    assert!(!licence_is_allowed(""));
}

#[test]
fn no_dependency_links_a_c_library() {
    let metadata = metadata();
    let linking: Vec<&str> = packages(&metadata)
        .iter()
        .filter(|package| !package["links"].is_null())
        .map(|package| text(package, "name"))
        // Rust code that only claims the name, so that two versions cannot meet.
        .filter(|name| !["rayon-core", "wasm-bindgen-shared", "prettyplease"].contains(name))
        .collect();
    assert_eq!(linking, Vec::<&str>::new());
}

#[test]
fn every_clippy_file_repeats_the_settings_of_the_top_one() {
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap();
    let top = read(root().join("clippy.toml"));
    for folder in PURE {
        let own = read(root().join(folder).join("clippy.toml"));
        for line in top.lines().filter(|line| line.contains('=')) {
            assert!(own.lines().any(|found| found == line), "{folder}/clippy.toml lacks `{line}`");
        }
    }
}

#[test]
fn the_pure_crates_ban_what_touches_the_machine_all_alike() {
    let bans = |folder: &str| -> BTreeSet<String> {
        let file = std::fs::read_to_string(root().join(folder).join("clippy.toml")).unwrap();
        file.lines()
            .filter(|line| line.trim_start().starts_with("{ path"))
            .map(str::to_owned)
            .collect()
    };
    let first = bans(PURE[0]);
    assert!(first.len() > 40, "only {} bans", first.len());
    assert!(first.iter().all(|line| line.contains("reason = ")), "a ban without its reason");
    for folder in PURE {
        assert_eq!(bans(folder), first, "{folder}");
    }
}
