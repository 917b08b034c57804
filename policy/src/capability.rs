//! The resolved policy of one capsule: what was asked, with defaults applied, nothing decided yet.

use std::path::PathBuf;

use mur_manifest::NetworkAllowRule;
use serde::{Deserialize, Serialize};

use crate::{ArtifactPolicy, ArtifactRole, Carried, ContainmentClass};

/// Everything one capsule asks for, lowered from its manifest and the operator's config.
///
/// A bundle carries it as JSON. Every type of it refuses members it does not know: a policy of a newer version, or one
/// with a slip in a hand-written member, must never be held to less than it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityPolicy {
    /// Who it is.
    pub capsule: Capsule,
    /// The effective floor: the maximum of manifest, config and `--containment`.
    pub floor: ContainmentClass,
    /// The floor the manifest itself declares; `advisory` when it declares none. A spawned child may only raise it.
    pub manifest_floor: ContainmentClass,
    /// `true` when manifest and flag together ask for no containment at all.
    pub unconfined: bool,
    /// Files.
    pub files: FilePolicy,
    /// Outbound network.
    pub network: NetworkPolicy,
    /// Programs; `None` when the block is absent.
    pub shell: Option<ShellPolicy>,
    /// Host variables by name that the capsule's process and tools may see.
    pub env_allow: Vec<String>,
    /// The process of a capsule without an agent (`process:`), or of a process harness.
    pub process: Option<ProcessPolicy>,
    /// OS bounds, defaults applied.
    pub resources: Resources,
    /// Folders of the host that the operator grants.
    pub host_paths: Vec<HostPath>,
    /// What the report carries and nothing here enforces (spawn, plan, install, peers, exports …).
    pub carried: Carried,
}

/// Identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// `name`.
    pub name: String,
    /// `version`.
    pub version: String,
    /// SHA-256 of the manifest's bytes, hex.
    pub manifest_digest: String,
}

/// `capabilities.filesystem`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePolicy {
    /// Verbatim `scope`, for the report.
    pub scope: Option<String>,
    /// The normalised scope beneath the work folder; `None` is the whole of it.
    // A missing member would be the whole folder.
    #[serde(deserialize_with = "Option::deserialize")]
    pub scope_path: Option<PathBuf>,
    /// `workdir_exec`.
    pub workdir_exec: bool,
    /// Verbatim `read_only`, trimmed, for the report.
    pub read_only: Vec<String>,
    /// The normalised subtrees beneath the work folder, sorted, without one beneath another.
    pub read_only_paths: Vec<PathBuf>,
}

/// `capabilities.network`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkPolicy {
    /// Verbatim entries, for the report.
    pub allow: Vec<String>,
    /// Lowered rules, one an entry.
    pub rules: Vec<NetworkAllowRule>,
    /// `unix_sockets`.
    pub unix_sockets: bool,
}

/// `capabilities.shell`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellPolicy {
    /// Verbatim `allow`.
    pub allow: Vec<String>,
    /// `strip_env` patterns.
    pub strip_env: Vec<String>,
    /// `baseline_env` names.
    pub baseline_env: Vec<String>,
    /// `interpreter_runtime` grants.
    pub interpreter_runtime: Vec<InterpreterRuntime>,
    /// `staged_runtime` grants.
    pub staged_runtime: Vec<StagedRuntime>,
}

/// One folder of an `interpreter_runtime` grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterpreterRuntime {
    /// The program it is for.
    pub binary: String,
    /// The folder, absolute.
    pub path: PathBuf,
    /// Whether the folder itself may be listed.
    pub list_dir: bool,
}

/// One `staged_runtime` grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagedRuntime {
    /// The program it is for.
    pub binary: String,
    /// The tree, absolute.
    pub source_path: PathBuf,
    /// Opaque, for humans.
    pub pin: String,
}

/// The process a capsule starts by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessPolicy {
    /// Program and arguments.
    pub args: Vec<String>,
    /// Working folder; `None` is the work folder.
    pub cwd: Option<PathBuf>,
    /// Literals, after the strip list.
    pub env: Vec<(String, String)>,
    /// Whether it gets a terminal.
    pub terminal: bool,
}

/// `capabilities.resources`, defaults applied: omitted never means unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys of spec/manifest.md §3.10, units in their names")]
pub struct Resources {
    pub max_processes: u64,
    pub max_open_files: u64,
    pub max_file_size_bytes: u64,
    pub cpu_seconds: u64,
    pub memory_bytes: u64,
    pub cgroup_memory_bytes: u64,
    pub cgroup_pids_max: u64,
    pub cgroup_cpu_percent: u64,
    pub cgroup_io_bytes_per_sec: u64,
    pub workdir_max_bytes: u64,
    /// The keys the manifest wrote itself, in manifest order.
    pub declared: Vec<String>,
}

/// One `host_paths` entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPath {
    /// The folder, absolute, `~` expanded.
    pub path: PathBuf,
    /// Whether it may be written.
    pub writable: bool,
}

impl Resources {
    /// Whether the manifest wrote `key` itself.
    pub fn is_declared(&self, key: &str) -> bool {
        self.declared.iter().any(|own| own == key)
    }
}

impl CapabilityPolicy {
    /// The names of `shell.allow`, verbatim; empty without the block.
    pub fn shell_allow(&self) -> &[String] {
        self.shell.as_ref().map_or(&[], |shell| shell.allow.as_slice())
    }

    /// Whether anything of this capsule is a process: only then are a control group and a network namespace needed.
    pub fn has_subprocess_route(&self) -> bool {
        let runs = |artifact: &ArtifactPolicy| {
            matches!(artifact.role, ArtifactRole::Tool | ArtifactRole::Hook)
        };
        !self.shell_allow().is_empty()
            || self.process.is_some()
            || !self.carried.spawn_allow.is_empty()
            || !self.carried.install_tool.is_empty()
            || self.carried.process_harness()
            || self.carried.artifacts.iter().any(runs)
    }
}

#[cfg(test)]
mod tests;
