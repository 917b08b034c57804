//! What a policy carries beside what is enforced on the capsule's process: artifacts, peers, exports, the agent.

use std::path::PathBuf;

use mur_manifest::NetworkAllowRule;
use serde::{Deserialize, Serialize};

/// What is validated, reported and carried; parts this crate neither decides nor enforces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Carried {
    /// `capabilities.spawn.allow`, verbatim.
    pub spawn_allow: Vec<String>,
    /// `capabilities.spawn.workdir_snapshot`, verbatim.
    pub spawn_workdir_snapshot: Vec<String>,
    /// `capabilities.plan.submit`.
    pub plan_submit: bool,
    /// `capabilities.install.skill`, verbatim.
    pub install_skill: Vec<String>,
    /// `capabilities.install.tool`, verbatim.
    pub install_tool: Vec<String>,
    /// `capabilities.install.from`; empty without an install grant.
    pub install_from: Vec<String>,
    /// `capabilities.peer_fetch.allow`, verbatim.
    pub peer_fetch_allow: Vec<String>,
    /// Tools, drivers, hooks and skills, in manifest order.
    pub artifacts: Vec<ArtifactPolicy>,
    /// The agent behind the capsule; `None` is a script capsule.
    pub agent: Option<AgentPolicy>,
    /// `exports.files`.
    pub exports_files: Option<ExportedFiles>,
    /// `exports.peer_files`, defaults applied.
    pub peer_files: Option<PeerFiles>,
    /// `exports.peer_tasks.accept`.
    pub peer_tasks: bool,
    /// Files the manifest names, in the order of `spec/scope-report.md` §3.10.
    pub manifest_files: Vec<DeclaredFile>,
}

/// What an artifact is to its capsule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactRole {
    /// The model may call it.
    Tool,
    /// Called for inference.
    Driver,
    /// Called at points of the session's life.
    Hook,
    /// A text that the model may read.
    Skill,
}

impl ArtifactRole {
    /// The manifest's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Driver => "driver",
            Self::Hook => "hook",
            Self::Skill => "skill",
        }
    }
}

/// One artifact and what it may do, narrowed to what the capsule itself may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the manifest, independent of the rest"
)]
pub struct ArtifactPolicy {
    /// As the manifest spells it.
    pub name: String,
    /// `local` for one with a `source`.
    pub version: String,
    /// What it is to the capsule.
    pub role: ArtifactRole,
    /// Verbatim `filesystem.scope` of its block.
    pub scope: Option<String>,
    /// The normalised scope beneath the work folder.
    // A missing member would be the whole folder.
    #[serde(deserialize_with = "Option::deserialize")]
    pub scope_path: Option<PathBuf>,
    /// A hook whose folder is the records folder's `hooks/`.
    pub records: bool,
    /// Outbound network.
    pub network: ArtifactNetwork,
    /// The state store it opens, resolved.
    pub state_store: Option<String>,
    /// Has a `config:` block; its values never enter a policy.
    pub configured: bool,
    /// Has a `gateway:`.
    pub gateway: Option<GatewayPolicy>,
    /// A hook that reads a task's text and answer.
    pub reads_task: bool,
    /// A hook that reads the conversation.
    pub reads_conversation: bool,
}

/// The network of one artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactNetwork {
    /// What the capsule has.
    #[default]
    Inherited,
    /// Exactly these; none at all when empty.
    Rules(Vec<NetworkAllowRule>),
}

/// The upstream the runtime calls for an artifact; the key itself never enters a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewayPolicy {
    /// Where it calls.
    pub endpoint: String,
    /// Lower-cased host of `endpoint`.
    pub host: String,
    /// The upstream needs no key.
    pub keyless: bool,
}

/// The agent of a capsule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPolicy {
    /// `inference.transport: process`: a harness is the capsule's own process.
    pub process_harness: bool,
    /// `name@version` of the driver; the version is missing where no entry declares it.
    pub driver: String,
    /// `inference.command`.
    pub command: Option<String>,
    /// `context.images`, defaults applied.
    pub images: ImagePolicy,
}

/// How images of a conversation are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImagePolicy {
    /// Newest images sent as bytes.
    pub keep: u32,
    /// Largest image accepted, in bytes.
    pub max_bytes: u64,
    /// Images of one turn.
    pub max_per_turn: u32,
}

/// `exports.files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedFiles {
    /// As the manifest spells it.
    pub root: String,
    /// Largest file, in bytes.
    pub max_bytes: u64,
}

/// `exports.peer_files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerFiles {
    /// As the manifest spells it.
    pub root: String,
    /// How long a handle lives, in seconds.
    pub max_ttl_secs: u64,
    /// Largest file, in bytes.
    pub max_bytes: u64,
}

/// A file the manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredFile {
    /// The key, as `artifacts[<name>].source`.
    pub key: String,
    /// As spelt.
    pub declared: String,
}

impl Carried {
    /// The artifacts of one role, in manifest order.
    pub fn artifacts_of(&self, role: ArtifactRole) -> impl Iterator<Item = &ArtifactPolicy> {
        self.artifacts.iter().filter(move |artifact| artifact.role == role)
    }

    /// Whether a harness is the capsule's own process.
    pub fn process_harness(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.process_harness)
    }
}
