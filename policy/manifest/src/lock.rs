//! The lock file, `murmur.lock`: which version and bytes of each artifact a capsule was pinned to.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::block::{block, words};
use crate::code::Code;
use crate::fault::{Fault, ManifestErrors};
use crate::grammar::{ArtifactName, DeclaredName, PlatformTag, Sha256Hex};
use crate::location::Spanned;
use crate::manifest::{Artifact, Manifest, Role};
use crate::parse::{Empty, read_document};
use crate::raw::NodeId;
use crate::reader::{Entries, Reader};
use crate::render::json_to_yaml;
use crate::scalar::Scalar;
use crate::source::Source;
use crate::word::{Reading, Word};

block! {
    /// The pins of a capsule's artifacts.
    pub struct Lock {
        /// The version of the format; there is one.
        required lock_version: LockVersion,
        /// The pins.
        default artifacts: Vec<Pin> = Vec::new(),
    }
    check check_lock;
    extra {
        /// The bytes it was read from. Not part of what it says.
        source: Source,
    }
}

block! {
    /// The version and bytes of one artifact.
    pub struct Pin {
        /// The artifact's full name.
        required name: Spanned<ArtifactName>,
        /// The version it was resolved to.
        required resolved_version: String,
        /// The hash of its bytes.
        required sha256: Payload,
        /// Who pinned it.
        default origin: Origin = Origin::Operator,
        /// The session that pulled it; with `origin: runtime` alone.
        optional session: String,
        /// The numeric id of the scope's owner.
        optional owner_id: u64,
    }
    check check_pin;
}

block! {
    /// The hash of an artifact's bytes: one for all platforms, or one for each.
    pub struct Payload: Default {
        /// The hash of bytes that are the same everywhere.
        optional any: Sha256Hex,
        /// The hashes of native programs.
        default platforms: BTreeMap<PlatformTag, Sha256Hex> = BTreeMap::new(),
    }
    check check_payload;
}

words! {
    /// Who pinned an artifact.
    pub enum Origin {
        /// The operator, by installing it.
        Operator = "operator",
        /// A session, by pulling it.
        Runtime = "runtime",
    }
}

/// The version of the lock's format. Others are refused and never migrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockVersion;

impl LockVersion {
    /// The only version there is.
    pub const NUMBER: u64 = 3;
}

impl Word for LockVersion {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match reader.scalar(id) {
            Some(Scalar::Null) => Reading::Absent,
            Some(Scalar::Integer(Some(3))) => Reading::Value(Self),
            Some(Scalar::Integer(Some(number))) => {
                let message = format!("the lock has version {number}, and only 3 is read");
                let at = reader.place(id);
                reader.refuse(at, message, Some("a new lock, by installing again"));
                Reading::Refused
            }
            Some(_) | None => reader.refuse_kind(id, "`3`"),
        }
    }

    fn render(&self) -> Value {
        json!(Self::NUMBER)
    }

    fn schema() -> Value {
        json!({"const": Self::NUMBER})
    }
}

/// Each artifact is pinned once.
fn check_lock(lock: &mut Lock, reader: &mut Reader<'_>, _entries: &Entries) {
    let mut seen = HashSet::new();
    for pin in &lock.artifacts {
        if !seen.insert(&pin.name.value) {
            let message = format!("`{}` is pinned twice", pin.name);
            reader.refuse(pin.name.at.clone(), message, Some("one pin"));
        }
    }
}

/// A session is named where a session pinned, and nowhere else.
fn check_pin(pin: &mut Pin, reader: &mut Reader<'_>, entries: &Entries) {
    match (pin.origin, &pin.session) {
        (Origin::Runtime, None) => {
            reader.missing(entries.at(), "session", entries.value("session"));
        }
        (Origin::Operator, Some(_)) => {
            reader.refuse_written(entries, "session", "the key needs `origin: runtime`");
        }
        (Origin::Runtime, Some(_)) | (Origin::Operator, None) => {}
    }
}

/// There is one kind of hash.
fn check_payload(payload: &mut Payload, reader: &mut Reader<'_>, entries: &Entries) {
    if payload.any.is_some() == payload.platforms.is_empty() {
        return;
    }
    let message = if entries.has("any") && entries.has("platforms") {
        "both `any` and `platforms` are written"
    } else if entries.has("any") {
        return;
    } else {
        "neither `any` nor `platforms` has a hash"
    };
    let accepted = Some("`{any: <hash>}` or `{platforms: {<platform>: <hash>}}`");
    reader.refuse(entries.at().clone(), message.to_owned(), accepted);
}

impl Lock {
    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// Every fault of the file at once, each `E-RUN-212`.
    pub fn parse(yaml: &[u8]) -> Result<Self, ManifestErrors> {
        let (mut lock, source): (Self, Source) =
            read_document(yaml, Empty::Refused, |_| Code::ERun212)?;
        lock.source = source;
        Ok(lock)
    }

    /// The lock as YAML, for a file that is replaced as a whole.
    pub fn render(&self) -> String {
        json_to_yaml(&Word::render(self))
    }

    /// The pin of an artifact.
    pub fn pin(&self, name: &ArtifactName) -> Option<&Pin> {
        self.artifacts.iter().find(|pin| pin.name.value == *name)
    }

    /// Where a manifest asks for other artifacts than are pinned (`E-RUN-003`), or gives one that a
    /// session pulled a role it may not have (`E-RUN-043`). Artifacts with a `source` have no pin.
    pub fn disagreements(&self, manifest: &Manifest) -> Vec<Fault> {
        let pins: BTreeMap<&ArtifactName, &Pin> =
            self.artifacts.iter().map(|pin| (&pin.name.value, pin)).collect();
        let prompt = manifest.inference.as_ref().and_then(|i| i.system_prompt_artifact.as_ref());
        let of_artifact = |artifact: &Artifact| match &artifact.name.value {
            DeclaredName::Full(name) => {
                let is_prompt = prompt.is_some_and(|prompt| prompt.value == *name);
                disagreement(artifact, pins.get(name).copied(), is_prompt)
            }
            DeclaredName::Bare(_) => None,
        };
        manifest.artifacts.iter().filter_map(of_artifact).collect()
    }
}

/// What is wrong between one artifact and its pin.
fn disagreement(artifact: &Artifact, pin: Option<&Pin>, is_prompt: bool) -> Option<Fault> {
    let fault = |code, message, accepted: &str| {
        let at = artifact.name.at.clone();
        Some(Fault { code, at, message, accepted: Some(accepted.to_owned()) })
    };
    let name = &artifact.name;
    let Some(pin) = pin else {
        let message = format!("`{name}` is not in the lock file");
        return fault(Code::ERun003, message, "the lock anew, by installing again");
    };
    let wanted = artifact.effective_version();
    if pin.resolved_version != wanted {
        let found = &pin.resolved_version;
        let message = format!("`{name}` is pinned to version `{found}`, not `{wanted}`");
        return fault(
            Code::ERun003,
            message,
            "the pinned version, or the lock anew by installing again",
        );
    }
    let role = match artifact.runtime {
        _ if pin.origin == Origin::Operator => return None,
        Role::Hook => "a hook",
        Role::Driver => "a driver",
        Role::Tool | Role::Skill if artifact.gateway.is_some() => "an artifact with a gateway",
        Role::Tool | Role::Skill if is_prompt => "the system prompt",
        Role::Tool | Role::Skill => return None,
    };
    let message = format!("`{name}` was pulled by a session and may not be {role}");
    fault(Code::ERun043, message, "another artifact, or install it as the operator")
}

#[cfg(test)]
#[path = "lock/tests.rs"]
mod tests;
