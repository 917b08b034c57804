//! The sub-structures of a report, `spec/scope-report.md` §3: key for key, in wire order.

use serde::{Deserialize, Serialize};

use crate::ArtifactRole;

/// What of the work folder an artifact sees as its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// One subtree of the work folder.
    ScopedSubtree,
    /// The records folder's `hooks/`.
    RecordsHooks,
    /// Nothing.
    Nothing,
    /// The whole work folder.
    WholeWorkdir,
}

/// How a tool reaches the runtime folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeDirReach {
    /// As a guest's folder.
    MurmurRuntime,
    /// By `MURMUR_RUNTIME_DIR`.
    Environment,
    /// The tool is not in the lock.
    Unresolved,
}

/// What one tool, driver or hook sees of the file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreopenReport {
    /// As the manifest spells it.
    pub artifact: String,
    /// `tool`, `driver` or `hook`.
    pub role: ArtifactRole,
    /// Its declared scope.
    pub scope: Option<String>,
    /// What it sees.
    pub surface: Surface,
    /// For a tool without a scope.
    pub runtime_dir_reach: Option<RuntimeDirReach>,
}

/// How far reads and writes outside the work folder are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restriction {
    /// Nothing in the kernel holds them.
    Advisory,
    /// What is not granted is denied.
    Enforced,
    /// What is not granted is absent.
    Absent,
}

/// A path that was left out of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedPath {
    /// Relative to the parent's work folder.
    pub path: String,
    /// `fifo`, `socket`, `device`, …
    pub reason: String,
}

/// The copy of a parent's work folder that a child started in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkdirSnapshot {
    /// The parent's work folder.
    pub source: String,
    /// Regular files copied.
    pub files: u64,
    /// Folders made.
    pub dirs: u64,
    /// Links made.
    pub symlinks: u64,
    /// Links that were pointed into the copy.
    pub repointed_symlinks: u64,
    /// Bytes copied.
    pub bytes: u64,
    /// How many paths were left out.
    pub skipped_count: u64,
    /// A sample of them.
    pub skipped: Vec<SkippedPath>,
}

/// What the parent did before this child began; never a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentWorkdirReport {
    /// The copy.
    pub snapshot: WorkdirSnapshot,
    /// How far the parent's own folder is out of reach; equals the boundary's.
    pub restriction: Restriction,
}

/// How images of a conversation are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImagesReport {
    /// Newest images sent as bytes.
    pub keep: u32,
    /// Largest image accepted, in bytes.
    pub max_bytes: u64,
    /// Images of one turn; of one tool call where a harness holds the conversation.
    pub max_per_turn: u32,
    /// `false` where a harness holds the conversation.
    pub keep_applies: bool,
}

/// A need that was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedNeed {
    /// As declared, `library: libnss3.so`.
    pub need: String,
    /// Canonical paths.
    pub paths: Vec<String>,
}

/// A need that this host does not meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingNeed {
    /// As declared.
    pub need: String,
    /// Why.
    pub reason: String,
}

/// What one program of one tool declared to need of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredNeedsReport {
    /// The tool.
    pub artifact: String,
    /// The program.
    pub program: String,
    /// What it got.
    pub granted: Vec<GrantedNeed>,
    /// What it did not.
    pub missing: Vec<MissingNeed>,
}

/// Where a pinned program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSource {
    /// The stored copy with the declared hash.
    Pinned,
    /// The host's own.
    Host,
    /// Nowhere.
    Missing,
}

/// A program that a tool pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedProgramReport {
    /// The tool.
    pub artifact: String,
    /// The program.
    pub program: String,
    /// `linux-x86_64`.
    pub platform: String,
    /// Which copy is used.
    pub source: ProgramSource,
    /// Where it is; absent when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where it was downloaded from; only when pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its hash; only when pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Why; only when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A folder of the host that the operator granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPathReport {
    /// The folder.
    pub path: String,
    /// `read` or `read-write`.
    pub access: String,
    /// What the applied tier does with it; `None` below Landlock.
    pub mechanism: Option<String>,
    /// Places of credentials that it reaches.
    pub credential_locations: Vec<String>,
}

/// `exports.files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportsFilesReport {
    /// As the manifest spells it.
    pub root: String,
    /// `read-only`.
    pub mode: String,
    /// Largest file, in bytes.
    pub max_bytes: u64,
}

/// `exports.peer_files`, defaults applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerFilesReport {
    /// As the manifest spells it.
    pub root: String,
    /// How long a handle lives, in seconds.
    pub max_ttl_secs: u64,
    /// Largest file, in bytes.
    pub max_bytes: u64,
}

/// A state store that one artifact opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateStoreReport {
    /// The artifact.
    pub artifact: String,
    /// The store.
    pub store: String,
    /// The folder behind it.
    pub host_path: String,
}

/// A file that the manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFileReport {
    /// The key.
    pub key: String,
    /// As spelt.
    pub declared: String,
    /// A host path, or `<scope>/<name>@<version>!/<entry>`.
    pub resolved: String,
    /// `manifest-folder`, `package` or `host`.
    pub base: String,
}

/// An unconfined session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnconfinedReport {
    /// The account's name.
    pub user: Option<String>,
    /// Its number.
    pub uid: u32,
    /// The launcher's `HOME`.
    pub home: Option<String>,
    /// The routes that run so.
    pub applies_to: Vec<String>,
    /// The declared `capabilities.resources` keys: the only limits there are.
    pub resource_limits: Vec<String>,
}

/// The program a harness runs as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessBinary {
    /// The program.
    pub path: String,
    /// The interpreter of a `#!` script.
    pub interpreter: Option<String>,
}

/// What became of a need of a harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeedStatus {
    /// It is there and allowed.
    Granted,
    /// It is not there.
    Missing,
    /// It is not allowed (`E-CAP-021`).
    Refused,
}

/// A folder a harness needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessPathReport {
    /// As the driver wrote it.
    pub need: String,
    /// What it resolves to.
    pub path: Option<String>,
    /// `read` or `read-write`.
    pub access: String,
    /// The `capabilities.harness.paths` entry that allows it.
    pub allowed_by: Option<String>,
    /// What became of it.
    pub status: NeedStatus,
    /// Why.
    pub reason: Option<String>,
}

/// A destination a harness needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessHostReport {
    /// As the driver wrote it.
    pub need: String,
    /// The `network.allow` entry that allows it.
    pub allowed_by: Option<String>,
    /// What became of it.
    pub status: NeedStatus,
    /// Why.
    pub reason: Option<String>,
}

/// A variable a harness needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessEnvReport {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub status: NeedStatus,
}

/// A harness that is the capsule's own process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessReport {
    /// `name@version` of its driver.
    pub driver: String,
    /// The program, once it is known.
    pub binary: Option<HarnessBinary>,
    /// Folders.
    pub paths: Vec<HarnessPathReport>,
    /// Destinations.
    pub hosts: Vec<HarnessHostReport>,
    /// Variables.
    pub env: Vec<HarnessEnvReport>,
    /// Why the driver could not be read.
    pub unresolved: Option<String>,
}
