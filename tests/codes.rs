//! Every code is said somewhere and tried somewhere, or its row says why this program never says it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mur_manifest::Code;

/// Folders with sources of ours, and what lies beside them.
const SOURCES: &[&str] =
    &["bundle", "cli", "hooks", "integration", "policy", "runtime", "shim", "tests"];

/// Files that name codes without saying or trying them: the table itself, and what checks the table.
const ABOUT_CODES: &[&str] = &[
    "policy/manifest/src/code/",
    "tests/codes.rs",
    "tests/manual.rs",
    "tests/cmd/explain-code.trycmd",
];

/// What holds code or the cases of a test.
const KINDS: &[&str] = &["rs", "cases", "trycmd"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of ours that can say or try a code, by its path from the root.
fn files() -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if KINDS.contains(&kind) {
                let name = path.strip_prefix(root()).unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found.retain(|name, _| {
        !ABOUT_CODES.iter().any(|own| name.starts_with(own) || name == Path::new(own))
    });
    found
}

/// What is delivered of a file, and what tests it.
fn parts<'t>(name: &Path, text: &'t str) -> (&'t str, &'t str) {
    let is_test = name.extension().is_some_and(|kind| kind != "rs")
        || name.starts_with("tests")
        || name.starts_with("integration")
        || name.file_name().is_some_and(|own| own == "tests.rs")
        || name.components().any(|part| part.as_os_str() == "tests");
    if is_test {
        return ("", text);
    }
    text.find("#[cfg(test)]\nmod tests {").map_or((text, ""), |start| text.split_at(start))
}

/// Whether code makes this code: by its name in the enum, never by its text.
fn says(source: &str, code: Code) -> bool {
    names(source, &format!("Code::{code:?}"))
}

/// Whether a test expects this code, by its name or as it is printed.
fn tries(source: &str, code: Code) -> bool {
    names(source, &format!("Code::{code:?}")) || source.contains(code.as_str())
}

fn names(source: &str, name: &str) -> bool {
    let starts = source.match_indices(name).map(|(start, _)| start + name.len());
    starts.into_iter().any(|end| !source[end..].starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Where each code is said and where it is tried.
fn places(code: Code, files: &BTreeMap<PathBuf, String>) -> (Vec<&Path>, Vec<&Path>) {
    let (mut said, mut tried) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let (delivered, test) = parts(name, text);
        if says(delivered, code) {
            said.push(name.as_path());
        }
        if tries(test, code) {
            tried.push(name.as_path());
        }
    }
    (said, tried)
}

#[test]
fn each_code_is_said_and_tried_or_belongs_to_a_part_that_is_not_here() {
    let files = files();
    assert!(files.len() > 100, "the sources were not found");
    let mut wrong = Vec::new();
    for code in Code::ALL.iter().copied() {
        let (said, tried) = places(code, &files);
        match code.info().absent {
            None if said.is_empty() => {
                wrong.push(format!("{code}: nothing says it; its row may say why with `absent`"));
            }
            None if tried.is_empty() => {
                wrong.push(format!("{code}: {said:?} says it, and no test expects it"));
            }
            Some(_) if !said.is_empty() => {
                wrong.push(format!("{code}: {said:?} says it; take `absent` off its row"));
            }
            None | Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_code_is_written_out_where_it_is_said() {
    let mut wrong = Vec::new();
    for (name, text) in &files() {
        let (delivered, _) = parts(name, text);
        let code_lines = delivered.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code_lines {
            for kind in ["error[", "warning["] {
                let rest = line.split_once(kind).map(|(_, rest)| rest).unwrap_or_default();
                if rest.starts_with("E-") || rest.starts_with("W-") {
                    wrong.push(format!("{}: {}", name.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "use the table's `Code`:\n{}", wrong.join("\n"));
}

#[test]
fn the_page_of_codes_says_why_a_code_is_never_said() {
    let page = std::fs::read_to_string(root().join("docs/errors.md")).unwrap();
    for code in Code::ALL {
        let (_, entry) = page.split_once(&format!("\n### {code}: ")).unwrap();
        let entry = entry.split("\n#").next().unwrap();
        match code.info().absent {
            Some(reason) => {
                assert!(entry.contains(&format!("Never said by this program: {reason}")), "{code}");
            }
            None => assert!(!entry.contains("Never said"), "{code}"),
        }
    }
}
