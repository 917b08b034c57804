//! `artifacts[]`: the tools, drivers, hooks and skills a capsule is made of.

use super::capability::Capabilities;
use super::config::ArtifactConfig;
use crate::block::{block, words};
use crate::grammar::{DeclaredName, GatewayEndpoint, GatewayKey};
use crate::location::Spanned;

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
