//! What blocks of a manifest must agree on.

use std::collections::{HashMap, HashSet};

use super::{AfterTask, Manifest, Transport};
use crate::code::Code;
use crate::fault::Fault;
use crate::grammar::GatewayKey;
use crate::reader::{Entries, Reader};

/// Longest life of a peer file's handle where the capsule sleeps after a task, in seconds.
const SLEEPING_TTL: u64 = 900;

/// Every check over more than one block.
pub(super) fn check_manifest(manifest: &mut Manifest, reader: &mut Reader<'_>, entries: &Entries) {
    check_tool_names(manifest, reader);
    check_capsule_grants(manifest, reader, entries);
    check_prompt_artifact(manifest, reader, entries);
    check_done_check(manifest, reader);
    check_handle_life(manifest, reader, entries);
    check_control(manifest, reader, entries);
}

/// Refuses a key by its full path; the place is the key's own.
fn refuse_at(reader: &mut Reader<'_>, entries: &Entries, path: &str, message: &str) {
    let at = reader.within(path, |reader| reader.position(entries.at()));
    reader.refuse(at, message.to_owned(), None);
}

/// The model calls tools by their bare names.
fn check_tool_names(manifest: &Manifest, reader: &mut Reader<'_>) {
    let mut seen = HashMap::new();
    for artifact in &manifest.artifacts {
        if let Some(other) = seen.insert(artifact.tool_name(), &artifact.name.value) {
            let message = format!(
                "`{}` and `{other}` share the tool name `{}`",
                artifact.name,
                artifact.tool_name()
            );
            let (code, at) = (Code::ECap020, artifact.name.at.clone());
            reader.fault(Fault { code, at, message, accepted: Some("one of the two".to_owned()) });
        }
    }
}

/// Grants that a capsule as a whole cannot have, or not beside something else.
fn check_capsule_grants(manifest: &Manifest, reader: &mut Reader<'_>, entries: &Entries) {
    let Some(grants) = &manifest.capabilities else { return };
    let mut refuse = |path, message| refuse_at(reader, entries, path, message);
    if grants.filesystem.as_ref().is_some_and(|files| files.records) {
        refuse("capabilities.filesystem.records", "the grant is for hooks alone");
    }
    if grants.task_io.is_some() {
        refuse("capabilities.task_io", "the grant is for hooks alone");
    }
    let authenticated = manifest.network.as_ref().is_some_and(|door| door.authentication.is_some());
    if authenticated && grants.spawn.as_ref().is_some_and(|spawn| !spawn.allow.is_empty()) {
        refuse(
            "capabilities.spawn.allow",
            "a capsule whose door has `network.authentication` cannot start others",
        );
    }
    let process = manifest.inference.as_ref().is_some_and(|i| i.transport == Transport::Process);
    if process && grants.install.is_some() {
        refuse(
            "capabilities.install",
            "under `inference.transport: process` the runtime offers no tool that installs",
        );
    }
}

/// A system prompt is an artifact of this capsule that may be one.
fn check_prompt_artifact(manifest: &Manifest, reader: &mut Reader<'_>, entries: &Entries) {
    let prompt = manifest.inference.as_ref().and_then(|i| i.system_prompt_artifact.as_ref());
    let Some(prompt) = prompt else { return };
    let complete = reader.length(entries, "artifacts") == manifest.artifacts.len();
    let found = manifest.artifacts.iter().find(|artifact| {
        let declared = artifact.name.value.to_string();
        declared == prompt.value.to_string()
            || (prompt.value.scope() == "local" && declared == prompt.value.bare())
    });
    let message = match found {
        Some(artifact) if artifact.is_prompt_payload() => return,
        Some(_) => format!("`{prompt}` is no `prompt_payload`"),
        None if !complete => return,
        None => format!("`{prompt}` is not in `artifacts`"),
    };
    reader.refuse(prompt.at.clone(), message, Some("an entry with `prompt_payload: true`"));
}

/// The command that judges a task is a granted one.
fn check_done_check(manifest: &Manifest, reader: &mut Reader<'_>) {
    let Some(check) = &manifest.lifecycle.done_check else { return };
    let shell = manifest.capabilities.as_ref().and_then(|grants| grants.shell.as_ref());
    let word = check.command.value.split_whitespace().next().unwrap_or_default();
    let granted =
        shell.is_some_and(|shell| shell.allow.iter().any(|allowed| allowed.value.as_str() == word));
    if !granted {
        let message = format!("the program `{word}` is not in `capabilities.shell.allow`");
        let accepted = Some("a command that begins with a granted program");
        reader.refuse(check.command.at.clone(), message, accepted);
    }
}

/// A sleeping capsule's handles end soon.
fn check_handle_life(manifest: &Manifest, reader: &mut Reader<'_>, entries: &Entries) {
    let export = manifest.exports.as_ref().and_then(|exports| exports.peer_files.as_ref());
    let Some(export) = export.filter(|_| manifest.lifecycle.after_task == AfterTask::Sleep) else {
        return;
    };
    let path = "exports.peer_files.max_ttl";
    let refused = reader.has_position(path) && export.max_ttl.is_none();
    let (at, message) = match &export.max_ttl {
        Some(ttl) if ttl.value.seconds() <= SLEEPING_TTL => return,
        Some(ttl) => (ttl.at.clone(), format!("`{ttl}` is above {SLEEPING_TTL} seconds")),
        None if refused => return,
        None => {
            let at = reader.within("exports.peer_files", |r| r.position(entries.at()));
            (at, "the key `max_ttl` is missing".to_owned())
        }
    };
    let message = format!("{message}, and the capsule sleeps after a task");
    let accepted = Some("`max_ttl: 15m` or less, or drop the export".to_owned());
    reader.fault(Fault { code: Code::ECap008, at, message, accepted });
}

/// What may be changed exists.
fn check_control(manifest: &Manifest, reader: &mut Reader<'_>, entries: &Entries) {
    let Some(control) = &manifest.control else { return };
    if !entries.has("inference") {
        refuse_at(
            reader,
            entries,
            "control",
            "there is no `inference` whose settings could change",
        );
    }
    let complete = reader.length(entries, "artifacts") == manifest.artifacts.len();
    let keys = manifest
        .artifacts
        .iter()
        .filter_map(|artifact| artifact.gateway.as_ref()?.api_key.as_ref());
    let names: HashSet<&str> = keys
        .filter_map(|key| match &key.value {
            GatewayKey::Variable(name) => Some(name.as_str()),
            GatewayKey::Literal(_) => None,
        })
        .collect();
    for secret in &control.secrets {
        if complete && !names.contains(secret.value.as_str()) {
            let message = format!("no gateway has `api_key: ${{{secret}}}`");
            reader.refuse(
                secret.at.clone(),
                message,
                Some("a name that a gateway's `api_key` uses"),
            );
        }
    }
}
