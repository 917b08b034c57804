//! Capability blocks that no process of ours is held by: carried and reported, warned about, or refused.

use mur_manifest::manifest::{
    Conversation, Harness, HarnessPath, Install, InstallSource, Limits, PeerFetch, Plan, Spawn,
    State, TaskIo,
};
use mur_manifest::{ArtifactName, Code, InstallPattern, Spanned};

use super::{Findings, network};
use crate::Carried;

/// The blocks that are carried.
pub(super) struct Blocks<'m> {
    pub(super) spawn: &'m Option<Spawn>,
    pub(super) plan: &'m Option<Plan>,
    pub(super) install: &'m Option<Install>,
    pub(super) peer_fetch: &'m Option<PeerFetch>,
}

/// Lowers the blocks that are carried; the parts of the agent are added after.
pub(super) fn lower(blocks: &Blocks<'_>, findings: &mut Findings<'_>) -> Carried {
    let mut carried = Carried::default();
    if let Some(Spawn { allow, workdir_snapshot }) = blocks.spawn {
        carried.spawn_allow = names(allow);
        carried.spawn_workdir_snapshot = names(workdir_snapshot);
    }
    if let Some(Plan { submit }) = blocks.plan {
        carried.plan_submit = *submit;
    }
    if let Some(Install { skill, tool, from }) = blocks.install {
        carried.install_skill = patterns(skill);
        carried.install_tool = patterns(tool);
        carried.install_from = InstallSource::ALL
            .iter()
            .filter(|source| from.contains(source))
            .map(ToString::to_string)
            .collect();
    }
    if let Some(PeerFetch { allow }) = blocks.peer_fetch {
        network::rules(allow, findings);
        carried.peer_fetch_allow = network::verbatim(allow);
    }
    carried
}

fn names(entries: &[Spanned<ArtifactName>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.to_string()).collect()
}

fn patterns(entries: &[Spanned<InstallPattern>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.to_string()).collect()
}

/// Warns about capsule-wide blocks that have their effect on an artifact's own entry alone.
pub(super) fn note_inert(
    limits: Option<&Limits>,
    state: Option<&State>,
    conversation: Option<&Conversation>,
    findings: &mut Findings<'_>,
) {
    if limits.is_some() {
        let at = findings.locate("capabilities.limits");
        let text = "`capabilities.limits` bounds WASM guests, and this version runs none; \
                    `capabilities.resources` bounds programs";
        findings.warn(Code::WSec008, &at, text.to_owned());
    }
    if state.is_some() {
        let at = findings.locate("capabilities.state");
        let text =
            "a capsule-wide `state` opens no store; declare it on the artifact that keeps state";
        findings.warn(Code::WSec014, &at, text.to_owned());
    }
    if conversation.is_some() {
        let at = findings.locate("capabilities.conversation");
        let text =
            "a capsule-wide `conversation` opens nothing; declare it on the hook that reads it";
        findings.warn(Code::WSec016, &at, text.to_owned());
    }
}

/// Refuses capsule-wide blocks whose grant this version could not honour.
pub(super) fn refuse_unsupported(
    task_io: Option<&TaskIo>,
    harness: Option<&Harness>,
    findings: &mut Findings<'_>,
) {
    if task_io.is_some() {
        let at = findings.locate("capabilities.task_io");
        let message = "`task_io` belongs to a hook's own entry".to_owned();
        findings.refuse(Code::EMan003, at, message, "it below `artifacts[].capabilities`");
    }
    for HarnessPath { path, access } in harness.iter().flat_map(|Harness { paths }| paths) {
        let message = format!("`{path}` ({access}) is a host folder for a harness");
        let message = format!("{message}, which this version does not mount; take the entry off");
        findings.unsupported(path.at.clone(), &message);
    }
}
