//! The manifest inside an artifact's package: who the artifact is and how it behaves.
//!
//! It shares the name `murmur.yaml` with a capsule's manifest and never grants anything: a
//! `capabilities` key in it is accepted and has no effect.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::block::{block, words};
use crate::fault::ManifestErrors;
use crate::grammar::{BinaryName, DeclaredName, Grammar as _, PackagePath};
use crate::location::Spanned;
use crate::manifest::{ArtifactConfig, Role};
use crate::parse::{Empty, read_document};
use crate::raw::NodeId;
use crate::reader::{Entries, Reader};
use crate::scalar::Scalar;
use crate::source::Source;
use crate::word::{Reading, Word};

block! {
    /// The manifest of an artifact, `murmur.yaml` in its package.
    pub struct Package {
        /// The artifact's name, with or without its scope.
        required name: Spanned<DeclaredName>,
        /// Its version.
        required version: String,
        /// What it is to a capsule.
        default runtime: Role = Role::Tool,
        /// What its program is made for.
        default implementation: Implementation = Implementation::Wasm,
        /// Hooks: the events it is called at; absent is all of them.
        optional binding: Vec<Spanned<Binding>>,
        /// Hooks: whether the session waits for it.
        default execution_mode: ExecutionMode = ExecutionMode::Blocking,
        /// Hooks: what its answer does.
        default commit_policy: CommitPolicy = CommitPolicy::None,
        /// How the package is made to run.
        optional execution: Execution,
        /// Files the package must have; `skill.md` by default for a skill.
        optional requires_files: Vec<PackagePath>,
        /// What each host program needs that the artifact starts.
        default programs: BTreeMap<BinaryName, Program> = BTreeMap::new(),
    }
    ignore {
        "artifacts", "capabilities", "inference", "context", "observability", "trace", "network",
        "lifecycle", "exports", "control", "deploy", "process",
    }
    check check_package;
    extra {
        /// The bytes it was read from. Not part of what it says.
        source: Source,
    }
}

/// What an artifact's program is made for. Any word but `native` reads as `wasm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Implementation {
    /// A WASM component.
    Wasm,
    /// A program of this system.
    Native,
}

impl Word for Implementation {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match reader.scalar(id) {
            Some(Scalar::Null) => Reading::Absent,
            Some(Scalar::Text(text)) if text.trim() == "native" => Reading::Value(Self::Native),
            Some(_) => Reading::Value(Self::Wasm),
            None => reader.refuse_kind(id, "`wasm` or `native`"),
        }
    }

    fn render(&self) -> Value {
        json!(match self {
            Self::Wasm => "wasm",
            Self::Native => "native",
        })
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

words! {
    /// An event of a session that hooks are called at.
    pub enum Binding {
        /// Before the session's folders are final.
        OnStage = "on-stage",
        /// The session begins.
        OnSessionStart = "on-session-start",
        /// A task begins.
        OnTaskStart = "on-task-start",
        /// The model is called.
        OnInference = "on-inference",
        /// A tool is called.
        OnToolCall = "on-tool-call",
        /// A command is run.
        OnShell = "on-shell",
        /// The conversation is summarised.
        OnCompaction = "on-compaction",
        /// A task ends.
        OnTaskEnd = "on-task-end",
        /// The session ends.
        OnSessionEnd = "on-session-end",
    }
}

impl Binding {
    /// The one policy, besides none, that an answer to this event can have.
    pub const fn honours(self) -> CommitPolicy {
        match self {
            Self::OnStage => CommitPolicy::WriteManifests,
            Self::OnCompaction => CommitPolicy::ReplaceContext,
            Self::OnTaskEnd => CommitPolicy::ReopenTask,
            Self::OnTaskStart => CommitPolicy::SeedContext,
            Self::OnToolCall | Self::OnShell => CommitPolicy::Deny,
            Self::OnSessionStart | Self::OnInference | Self::OnSessionEnd => CommitPolicy::None,
        }
    }
}

words! {
    /// Whether the session waits for a hook.
    pub enum ExecutionMode {
        /// It does.
        Blocking = "blocking",
        /// It does not.
        Async = "async",
    }
}

words! {
    /// What a hook's answer does.
    pub enum CommitPolicy {
        /// Nothing.
        None = "none",
        /// It takes the conversation's place.
        ReplaceContext = "replace-context",
        /// It is written into the manifests.
        WriteManifests = "write-manifests",
        /// It opens the task again.
        ReopenTask = "reopen-task",
        /// It begins the conversation.
        SeedContext = "seed-context",
        /// It refuses the call.
        Deny = "deny",
    }
}

words! {
    /// How a package is made to run.
    pub enum Execution {
        /// As a WASM component.
        Wasm = "wasm",
        /// As a program of this system.
        Native = "native",
        /// Not at all.
        Static = "static",
    }
}

block! {
    /// What a host program needs that an artifact starts.
    pub struct Program: Default {
        /// Files and folders it must be able to read.
        default needs: Vec<Need> = Vec::new(),
        /// A pinned copy, for hosts that have no such program.
        optional download: ArtifactConfig,
    }
}

block! {
    /// One thing a program must be able to read; one of five forms.
    pub struct Need: Default {
        /// A shared library by its name, with all it needs itself.
        optional library: String,
        /// A file in the folder of the library that `beside` names.
        optional file: String,
        /// The library beside which `file` lies.
        optional beside: String,
        /// A file or folder below the program's own folder.
        optional program_folder: PackagePath,
        /// A part of the system.
        optional system: SystemNeed,
        /// A name in `/etc`.
        optional etc: String,
    }
    check check_need;
}

words! {
    /// A part of the system that a program reads.
    pub enum SystemNeed {
        /// The fonts.
        Fonts = "fonts",
        /// The certificates of authorities.
        CaBundle = "ca_bundle",
    }
}

/// A need has one form, and names no folder where a file's name is meant.
fn check_need(need: &mut Need, reader: &mut Reader<'_>, entries: &Entries) {
    let forms = ["library", "file", "program_folder", "system", "etc"];
    let written = forms.iter().filter(|form| entries.has(form)).count();
    if written != 1 || entries.has("file") != entries.has("beside") {
        let accepted =
            "one of `library`, `file` with `beside`, `program_folder`, `system` and `etc`";
        let message = format!("found {written} forms of a need");
        reader.refuse(entries.at().clone(), message, Some(accepted));
    }
    for (key, name) in [
        ("library", &need.library),
        ("file", &need.file),
        ("beside", &need.beside),
        ("etc", &need.etc),
    ] {
        if let Some(name) = name.as_ref().filter(|name| name.parse::<BinaryName>().is_err()) {
            let at = reader.place_of(entries, key);
            reader.refuse(at, format!("`{name}` is no plain file name"), Some(BinaryName::FORM));
        }
    }
}

/// A hook's mode, policy and events agree, and hooks alone have them.
fn check_package(package: &mut Package, reader: &mut Reader<'_>, entries: &Entries) {
    if package.runtime != Role::Hook {
        for key in ["binding", "execution_mode", "commit_policy"] {
            reader.refuse_written(entries, key, "the key is for hooks alone");
        }
        return;
    }
    let policy = package.commit_policy;
    let bound = |event| package.binding.iter().flatten().any(|binding| binding.value == event);
    if package.execution_mode == ExecutionMode::Async {
        if policy != CommitPolicy::None {
            let message = format!("`{policy}` needs an answer, and an `async` hook gives none");
            let at = reader.place_of(entries, "commit_policy");
            reader.refuse(at, message, Some("`none`, or `execution_mode: blocking`"));
        }
        if bound(Binding::OnStage) {
            let message = "`on-stage` waits for its hooks".to_owned();
            let at = reader.place_of(entries, "execution_mode");
            reader.refuse(at, message, Some("`blocking`"));
        }
    }
    let honoured = match &package.binding {
        None => policy != CommitPolicy::Deny,
        Some(events) => events.iter().any(|event| event.value.honours() == policy),
    };
    if policy != CommitPolicy::None && !honoured {
        let message = format!("no event of `binding` can `{policy}`");
        let at = reader.place_of(entries, "commit_policy");
        reader.refuse(at, message, Some("`none`, or name an event that can in `binding`"));
    }
}

impl Package {
    /// Reads the manifest of an artifact.
    ///
    /// # Errors
    ///
    /// Every fault of the file at once.
    pub fn parse(yaml: &[u8]) -> Result<Self, ManifestErrors> {
        let (mut package, source): (Self, Source) =
            read_document(yaml, Empty::Refused, |fault| fault.code)?;
        package.source = source;
        Ok(package)
    }

    /// The files the package must have.
    pub fn required_files(&self) -> Vec<PackagePath> {
        match &self.requires_files {
            Some(files) => files.clone(),
            None if self.runtime == Role::Skill => "skill.md".parse().into_iter().collect(),
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "package/tests.rs"]
mod tests;
