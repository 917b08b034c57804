//! `capabilities.filesystem`: the scope, the read-only subtrees, executing in the work folder.

use std::path::PathBuf;

use mur_manifest::grammar::Grammar;
use mur_manifest::manifest::Filesystem;
use mur_manifest::{Code, PathRule, Spanned};

use super::Findings;
use crate::FilePolicy;

/// Lowers the block; an absent one is the whole work folder, read-write, not executable.
pub(super) fn lower(block: Option<&Filesystem>, findings: &mut Findings<'_>) -> FilePolicy {
    let Some(Filesystem { scope, workdir_exec, read_only, records }) = block else {
        return FilePolicy::default();
    };
    if *records {
        let at = findings.locate("capabilities.filesystem.records");
        let message = "`records` belongs to a hook's own entry".to_owned();
        findings.refuse(Code::EMan003, at, message, "it below `artifacts[].capabilities`");
    }
    if *workdir_exec {
        let at = findings.locate("capabilities.filesystem.workdir_exec");
        let text = "`filesystem.workdir_exec` lets a command run what it wrote: the class is \
                    `advisory` on every host";
        findings.warn(Code::WSec011, &at, text.to_owned());
    }
    FilePolicy {
        scope: scope.as_ref().map(|scope| scope.value.clone()),
        scope_path: scope.as_ref().and_then(|scope| scope_path(scope, findings)),
        workdir_exec: *workdir_exec,
        read_only: read_only.iter().map(|entry| entry.value.clone()).collect(),
        read_only_paths: read_only_paths(read_only, findings),
    }
}

/// The scope beneath the work folder; `None` is the whole of it, or a refusal that was noted.
pub(super) fn scope_path(scope: &Spanned<String>, findings: &mut Findings<'_>) -> Option<PathBuf> {
    match scope.value.parse::<PathRule>() {
        Ok(rule) if rule.is_work_folder() => None,
        Ok(rule) => Some(rule.components().iter().collect()),
        Err(error) => {
            let at = scope.at.clone();
            findings.refuse(Code::ECap002, at, error.to_string(), PathRule::FORM);
            None
        }
    }
}

/// The subtrees, sorted, without one that lies beneath another.
fn read_only_paths(entries: &[Spanned<String>], findings: &mut Findings<'_>) -> Vec<PathBuf> {
    let mut rules: Vec<PathRule> = Vec::new();
    for entry in entries {
        match entry.value.parse::<PathRule>() {
            Ok(rule) if rule.is_work_folder() => {
                let message = format!("`{}` is the whole work folder", entry.value);
                let accepted = "a subtree of the work folder, as `fixtures`";
                findings.refuse(Code::ECap012, entry.at.clone(), message, accepted);
            }
            Ok(rule) => rules.push(rule),
            Err(error) => {
                let at = entry.at.clone();
                findings.refuse(Code::ECap012, at, error.to_string(), PathRule::FORM);
            }
        }
    }
    // Sorted by components, what lies beneath a subtree comes right after it.
    rules.sort();
    rules.dedup_by(|below, outer| outer.covers(below));
    rules.iter().map(|rule| rule.components().iter().collect()).collect()
}
