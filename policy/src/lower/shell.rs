//! `capabilities.shell` and `capabilities.env`: programs, their library trees, variables.

use mur_manifest::manifest::{
    AfterTask, EnvGrant, InterpreterRuntime as InterpreterBlock, RuntimeDir, Shell,
    StagedRuntime as StagedBlock,
};
use mur_manifest::{Code, EnvName, Spanned};

use super::Findings;
use crate::{
    CapabilityPolicy, ContainmentClass, InterpreterRuntime, ShellPolicy, StagedRuntime, StripList,
    StripSource, is_credential_shaped, runtime_owned_env,
};

/// Lowers the block; `floor` is the effective one.
pub(super) fn lower(
    block: Option<&Shell>,
    floor: ContainmentClass,
    findings: &mut Findings<'_>,
) -> Option<ShellPolicy> {
    let Shell { allow, strip_env, baseline_env, interpreter_runtime, staged_runtime } = block?;
    Some(ShellPolicy {
        allow: allow.iter().map(|name| name.value.to_string()).collect(),
        strip_env: strip_env.iter().map(ToString::to_string).collect(),
        baseline_env: baseline_env.iter().map(ToString::to_string).collect(),
        interpreter_runtime: interpreter_runtime
            .iter()
            .flat_map(|grant| interpreter(grant, findings))
            .collect(),
        staged_runtime: staged_runtime.iter().map(|grant| staged(grant, floor, findings)).collect(),
    })
}

/// One grant, a row for each of its folders. Said once a grant: it ties the capsule to this host.
fn interpreter(grant: &InterpreterBlock, findings: &mut Findings<'_>) -> Vec<InterpreterRuntime> {
    let InterpreterBlock { binary, dirs } = grant;
    let folders: Vec<String> = dirs.iter().map(|dir| format!("`{}`", dir.path)).collect();
    let text = format!(
        "`{binary}` reaches {} of the host: the capsule depends on this host's layout",
        folders.join(", ")
    );
    findings.warn(Code::WSec009, &binary.at, text);
    let row = |dir: &RuntimeDir| {
        let RuntimeDir { path, list_dir } = dir;
        InterpreterRuntime {
            binary: binary.value.to_string(),
            path: path.value.as_path().into(),
            list_dir: *list_dir,
        }
    };
    dirs.iter().map(row).collect()
}

/// One staged tree, which only a composed root can hold: compares the floor, never the host.
fn staged(
    grant: &StagedBlock,
    floor: ContainmentClass,
    findings: &mut Findings<'_>,
) -> StagedRuntime {
    let StagedBlock { binary, source_path, pin } = grant;
    if floor < ContainmentClass::Sealed {
        let at = source_path.at.clone();
        let message = format!(
            "a staged runtime is bound into a composed root, and the floor is `{floor}`: raise it to \
             `sealed`, or drop the grant"
        );
        findings.refuse(Code::ECap004, at, message, "");
    }
    StagedRuntime {
        binary: binary.value.to_string(),
        source_path: source_path.value.as_path().into(),
        pin: pin.clone(),
    }
}

/// Lowers `env.allow`: a name that a pattern always drops would deliver nothing, and is refused.
pub(super) fn lower_env(
    block: Option<&EnvGrant>,
    after_task: AfterTask,
    policy: &CapabilityPolicy,
    findings: &mut Findings<'_>,
) -> Vec<String> {
    let Some(EnvGrant { allow }) = block else {
        return Vec::new();
    };
    let strip = StripList::of(policy);
    for name in allow {
        check_env(name, after_task, &strip, findings);
    }
    allow.iter().map(|name| name.value.to_string()).collect()
}

/// Judges one variable of `env.allow`.
fn check_env(
    name: &Spanned<EnvName>,
    after_task: AfterTask,
    strip: &StripList,
    findings: &mut Findings<'_>,
) {
    let text = name.value.as_str();
    if let Some(by) = strip.find(text) {
        let source = match by.source {
            StripSource::Backstop => "the credential backstop of mur",
            StripSource::Manifest => "`capabilities.shell.strip_env`",
        };
        let message = format!("`{text}` is always dropped by `{}` of {source}", by.pattern);
        findings.refuse(Code::ECap016, name.at.clone(), message, "a name that no pattern drops");
    } else if runtime_owned_env(text) {
        let message = format!("`{text}` is set by the runtime and never comes from the host");
        findings.refuse(Code::ECap016, name.at.clone(), message, "a name the runtime does not set");
    } else if is_credential_shaped(text) {
        let sleeps = match after_task {
            AfterTask::Exit => "",
            AfterTask::Sleep => "; it holds it while it sleeps between tasks",
        };
        let text = format!(
            "`env.allow` hands the host's `{text}`, which looks like a credential, to the capsule{sleeps}"
        );
        findings.warn(Code::WSec024, &name.at, text);
    }
}
