//! `artifacts[]`: the tools, drivers, hooks and skills a capsule is made of.

use super::capability::Capabilities;
use super::config::ArtifactConfig;
use crate::block::{block, words};
use crate::code::Code;
use crate::fault::Fault;
use crate::grammar::{
    ArtifactName, DeclaredName, GatewayEndpoint, GatewayKey, Grammar, InvalidName, choice_of,
};
use crate::location::Spanned;
use crate::reader::{Entries, Reader};
use crate::source::Warning;

block! {
    /// One artifact of the capsule.
    pub struct Artifact {
        /// Full name `<scope>/<name>`; with `source` a bare name.
        required name: Spanned<DeclaredName>,
        /// Required unless `source` is written, which makes it `local`.
        optional version: String,
        /// What the artifact is to the capsule.
        default runtime: Role = Role::Tool,
        /// Local path, relative to the manifest's folder; needs `local_source: true`.
        optional source: Spanned<String>,
        /// Whether `source` may be used; by default only for a skill.
        optional local_source: bool,
        /// Whether `inference.system_prompt_artifact` may name it; by default only for a skill.
        optional prompt_payload: bool,
        /// The artifact's own grants: a narrowing for tools and drivers, the whole grant for hooks.
        optional capabilities: Capabilities,
        /// Hook entries only: what happens to events that a slow hook cannot take.
        optional on_overflow: Overflow,
        /// Delivered as JSON in `MURMUR_ARTIFACT_CONFIG`; judged when staging (`E-CAP-010`).
        optional config: Spanned<ArtifactConfig>,
        /// The upstream the runtime calls for the artifact, with a key the artifact never sees.
        optional gateway: Gateway,
    }
    check check_artifact;
}

words! {
    /// What an artifact is to its capsule.
    pub enum Role {
        /// The model may call it.
        Tool = "tool",
        /// Called for inference.
        Driver = "driver",
        /// Called at points of the session's life.
        Hook = "hook",
        /// A text that the model may read.
        Skill = "skill",
    }
}

words! {
    /// What happens to events that a slow hook cannot take.
    pub enum Overflow {
        /// They are lost.
        Drop = "drop",
        /// The session waits.
        Block = "block",
    }
}

block! {
    /// An upstream the runtime calls for an artifact.
    pub struct Gateway {
        /// Absolute `http` or `https` address; plain `http` to the loopback only.
        required endpoint: Spanned<GatewayEndpoint>,
        /// The key, as `${NAME}` or literally; the artifact never sees it.
        optional api_key: Spanned<GatewayKey>,
        /// Says that the upstream needs no key; only `true` has a meaning.
        optional keyless: bool,
    }
    check check_gateway;
}

/// Bare names that are tools of the runtime itself.
pub const RESERVED_TOOL_NAMES: &[&str] = &[
    "share-file",
    "fetch-peer-file",
    "delegate-task",
    "submit-plan",
    "switch-driver",
    "call-member",
    "end-without-answer",
    "pull-artifact",
    "remove-artifact",
    "session-status",
    "background-command",
];

/// Name, version and source fit together, and each key fits the role.
fn check_artifact(block: &mut Artifact, reader: &mut Reader<'_>, entries: &Entries) {
    check_identity(block, reader, entries);
    if RESERVED_TOOL_NAMES.contains(&block.tool_name()) {
        let message = format!(
            "the runtime keeps the name `{}` for itself, as it does {}",
            block.tool_name(),
            choice_of(RESERVED_TOOL_NAMES)
        );
        let (code, at) = (Code::ECap013, block.name.at.clone());
        reader.fault(Fault { code, at, message, accepted: Some("another name".to_owned()) });
    }
    if block.runtime == Role::Skill {
        for key in ["capabilities", "config", "gateway"] {
            reader.refuse_written(entries, key, "a skill has no such key: nothing of it runs");
        }
    }
    if block.runtime != Role::Hook {
        reader.refuse_written(entries, "on_overflow", "the key is for hooks alone");
    }
    if let Some(capabilities) = &block.capabilities {
        check_grants(capabilities, block.runtime, reader, &block.name);
    }
}

/// A full name and a version, or a bare name and a source.
fn check_identity(block: &mut Artifact, reader: &mut Reader<'_>, entries: &Entries) {
    block.source = block.source.take().filter(|source| !source.value.trim().is_empty());
    let (at, name) = (block.name.at.clone(), &block.name.value);
    match (&block.source, name) {
        (Some(_), DeclaredName::Full(full)) => {
            let message = format!("`{full}` has a scope, and beside `source` a name has none");
            reader.refuse(at, message, Some(&format!("`{}`", full.bare())));
        }
        (None, DeclaredName::Bare(bare)) => {
            let error = InvalidName::NoScope { name: bare.to_string() };
            reader.refuse(at, error.to_string(), Some(ArtifactName::FORM));
        }
        (Some(_), DeclaredName::Bare(_)) | (None, DeclaredName::Full(_)) => {}
    }
    match (&block.source, &block.version) {
        (None, None) => reader.missing(entries.at(), "version", entries.value("version")),
        (Some(_), Some(version)) => {
            let (at, version) = (reader.place_of(entries, "version"), version.clone());
            reader.warn(Warning::VersionIgnored { at, version });
        }
        (None, Some(_)) | (Some(_), None) => {}
    }
    if let Some(source) = block.source.as_ref().filter(|_| !block.allows_local_source()) {
        let message = "a local `source` needs the operator's word".to_owned();
        reader.refuse(source.at.clone(), message, Some("`local_source: true` beside it"));
    }
}

/// Grants that only a hook may have, and one that no artifact has.
fn check_grants(
    grants: &Capabilities,
    role: Role,
    reader: &mut Reader<'_>,
    artifact: &Spanned<DeclaredName>,
) {
    let mut refuse = |key: &str, message: &str| {
        let path = format!("capabilities.{key}");
        let at = reader.within(&path, |reader| reader.position(&artifact.at));
        reader.refuse(at, message.to_owned(), None);
    };
    let records = grants.filesystem.as_ref().is_some_and(|files| files.records);
    let scoped = grants.filesystem.as_ref().is_some_and(|files| files.scope.is_some());
    let hooks_only = "the grant is for hooks alone";
    if role == Role::Hook {
        if records && scoped {
            refuse("filesystem.records", "`scope` is written as well, and a hook has one folder");
        }
    } else {
        if records {
            refuse("filesystem.records", hooks_only);
        }
        if grants.task_io.is_some() {
            refuse("task_io", hooks_only);
        }
        if grants.conversation.is_some() {
            refuse("conversation", hooks_only);
        }
    }
    if grants.install.is_some() {
        refuse("install", "installing is granted to the capsule, never to one of its artifacts");
    }
}

/// A key, or the word that none is needed.
fn check_gateway(block: &mut Gateway, reader: &mut Reader<'_>, entries: &Entries) {
    let keyless = block.keyless == Some(true);
    let written = entries.has("api_key") && block.api_key.is_none();
    let message = match (&block.api_key, keyless) {
        (Some(_), true) => "`api_key` and `keyless: true` are both written",
        (None, false) if !written => "neither `api_key` nor `keyless: true` is written",
        (Some(_), false) | (None, _) => return,
    };
    let (at, message) = (entries.at().clone(), message.to_owned());
    let accepted = Some("`api_key: ${NAME}`, or `keyless: true`".to_owned());
    reader.fault(Fault { code: Code::ECap018, at, message, accepted });
}

impl Artifact {
    /// The version that counts: the literal `local` for an artifact with a `source`.
    pub fn effective_version(&self) -> &str {
        match (&self.source, &self.version) {
            (None, Some(version)) => version,
            (Some(_), _) | (None, None) => "local",
        }
    }

    /// The name the model calls it by, and no two entries may share.
    pub fn tool_name(&self) -> &str {
        self.name.value.bare()
    }

    /// Whether `source` may be used: the written value, else only for a skill.
    pub fn allows_local_source(&self) -> bool {
        self.local_source.unwrap_or(self.runtime == Role::Skill)
    }

    /// Whether it may be the system prompt: the written value, else only for a skill.
    pub fn is_prompt_payload(&self) -> bool {
        self.prompt_payload.unwrap_or(self.runtime == Role::Skill)
    }
}
