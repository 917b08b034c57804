//! What is reported is what was enforced, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use mur_integration::{Run, Scratch, leftover};
use serde_json::Value;

use crate::{in_each_shape, possible};

/// Every file of this name below a folder.
fn find(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(find(&path, name));
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
    found
}

/// A report without what names the session: the three folders.
fn without_folders(mut report: Value) -> Value {
    for key in ["runtime_dir", "records_dir", "home_dir", "temp_dir", "tmp_dir"] {
        if report.get(key).is_some() {
            report[key] = Value::Null;
        }
    }
    report
}

#[test]
fn the_trace_begins_with_the_report_that_explain_prints() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        let explained = capsule.verb("explain", &["--json"]).finish().ok();
        let explained: Value = serde_json::from_str(&explained).unwrap();
        assert!(find(capsule.home(), "trace.jsonl").is_empty(), "{what}: explain left a record");
        capsule.run(&["mur-probe", "ids"]).finish().ok();
        let traces = find(capsule.home(), "trace.jsonl");
        assert_eq!(traces.len(), 1, "{what}: {traces:?}");
        let text = fs::read_to_string(&traces[0]).unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert!(first.to_string().contains("session_start"), "{what}: {first}");
        assert!(last.to_string().contains("session_end"), "{what}: {last}");
        let granted = find_key(&first, "effective_grants").expect("no effective_grants");
        let (left, right) = (without_folders(explained), without_folders(granted.clone()));
        assert_eq!(
            serde_json::to_string(&left).unwrap(),
            serde_json::to_string(&right).unwrap(),
            "{what}"
        );
    });
    leftover::nothing_of(&scratch);
}

fn find_key<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    object.get(key).or_else(|| object.values().find_map(|inner| find_key(inner, key)))
}

#[test]
fn explain_leaves_nothing_and_says_the_class() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, _, capsule| {
        let text = capsule.verb("explain", &[]).finish().ok();
        assert!(text.contains(class.word()), "{text}");
        assert!(!capsule.home().join(".murmur").exists(), "something was made in the home");
    });
}
