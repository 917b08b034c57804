//! `process`: what a capsule without an agent starts.

use std::path::{Path, PathBuf};

use mur_manifest::grammar::Grammar;
use mur_manifest::manifest::Process;
use mur_manifest::{Code, PathRule, Spanned};

use super::Findings;
use crate::{CapabilityPolicy, ProcessPolicy, StripList, StripSource, runtime_owned_env};

/// Lowers the block against what the capsule may run and set.
pub(super) fn lower(
    block: Option<&Process>,
    policy: &CapabilityPolicy,
    findings: &mut Findings<'_>,
) -> Option<ProcessPolicy> {
    let Process { args, cwd, env, terminal } = block?;
    check_program(args, policy, findings);
    let strip = StripList::of(policy);
    let mut literals = Vec::new();
    for (name, value) in env {
        let text = name.as_str();
        let dropped = strip.find(text).map(|by| match by.source {
            StripSource::Backstop => {
                format!("`{}` of the credential backstop drops it", by.pattern)
            }
            StripSource::Manifest => format!("`{}` of `shell.strip_env` drops it", by.pattern),
        });
        let owned = runtime_owned_env(text).then(|| "only the runtime sets it".to_owned());
        if let Some(reason) = dropped.or(owned) {
            let message = format!("`{text}` would never reach the process: {reason}");
            findings.refuse(Code::ECap207, value.at.clone(), message, "another name, or none");
        }
        literals.push((text.to_owned(), value.value.clone()));
    }
    Some(ProcessPolicy {
        args: args.iter().map(|arg| arg.value.clone()).collect(),
        cwd: cwd.as_ref().and_then(|cwd| working_folder(cwd, findings)),
        env: literals,
        terminal: *terminal,
    })
}

/// The program is a name of `shell.allow`, or an absolute path that ends with one: which file the name resolves to is
/// compared where the host is known.
fn check_program(args: &[Spanned<String>], policy: &CapabilityPolicy, findings: &mut Findings<'_>) {
    let Some(program) = args.first() else {
        let at = findings.locate("process.args");
        let message = "there is no program".to_owned();
        findings.refuse(Code::EMan003, at, message, "the program and its arguments");
        return;
    };
    if !allows_program(policy, &program.value) {
        let message = format!("`{}` is not a program of `capabilities.shell.allow`", program.value);
        let accepted = "a name that `capabilities.shell.allow` has, or add this one there";
        findings.refuse(Code::ECap201, program.at.clone(), message, accepted);
    }
}

/// Whether `program`, a bare name or an absolute path, is by its name one that `shell.allow` grants.
pub fn allows_program(policy: &CapabilityPolicy, program: &str) -> bool {
    let path = Path::new(program);
    let name = if path.is_absolute() {
        path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    } else {
        program
    };
    policy.shell_allow().iter().any(|allowed| allowed == name)
}

/// The working folder: absolute inside the capsule, or relative to the work folder and not out of it.
fn working_folder(cwd: &Spanned<String>, findings: &mut Findings<'_>) -> Option<PathBuf> {
    if Path::new(&cwd.value).is_absolute() {
        return Some(PathBuf::from(&cwd.value));
    }
    match cwd.value.parse::<PathRule>() {
        Ok(rule) if rule.is_work_folder() => None,
        Ok(rule) => Some(rule.components().iter().collect()),
        Err(error) => {
            findings.refuse(Code::EMan003, cwd.at.clone(), error.to_string(), PathRule::FORM);
            None
        }
    }
}
