//! Whether a child capsule fits into its parent, axis by axis: `spec/envelope.md`.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use mur_manifest::{InstallPattern, NetworkAllowRule, PathRule};
use serde::{Deserialize, Serialize};

use crate::{CapabilityPolicy, ContainmentClass};

/// What a capsule reaches, as far as spawning compares it.
///
/// Outside of it, because each is a bound, plumbing or a disclosure and no reach: `resources`, `limits`, the rest of
/// `shell`, `filesystem.read_only`, `spawn.workdir_snapshot`, `plan.submit`, `exports`, `task_io`, `conversation`,
/// `process`. The operator's `host_paths` come from no manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnEnvelope {
    /// `network.allow`, verbatim.
    pub network_allow: Vec<String>,
    /// `network.unix_sockets`.
    pub unix_sockets_allowed: bool,
    /// `peer_fetch.allow`, verbatim.
    pub peer_fetch_allow: Vec<String>,
    /// `shell.allow`.
    pub shell_allow: Vec<String>,
    /// `spawn.allow`.
    pub spawn_allow: Vec<String>,
    /// `env.allow`.
    pub env_allow: Vec<String>,
    /// `filesystem.scope`, verbatim; `None` is the whole work folder.
    pub filesystem_scope: Option<String>,
    /// `filesystem.workdir_exec`.
    pub workdir_exec_allowed: bool,
    /// The state stores its artifacts open, resolved.
    pub state_stores: BTreeSet<String>,
    /// `install.skill`.
    pub install_skill: Vec<String>,
    /// `install.tool`.
    pub install_tool: Vec<String>,
    /// `install.from` contains `sources`.
    pub install_from_sources: bool,
    /// The class its manifest declares.
    pub containment_floor: ContainmentClass,
}

/// One axis of the comparison; the order is part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is named after its key, which `key` returns")]
pub enum EnvelopeAxis {
    NetworkAllow,
    UnixSockets,
    PeerFetchAllow,
    ShellAllow,
    SpawnAllow,
    EnvAllow,
    FilesystemScope,
    WorkdirExec,
    StateStore,
    InstallSkill,
    InstallTool,
    InstallFrom,
    Containment,
}

impl EnvelopeAxis {
    /// Every axis, in comparison order.
    pub const ALL: [Self; 13] = [
        Self::NetworkAllow,
        Self::UnixSockets,
        Self::PeerFetchAllow,
        Self::ShellAllow,
        Self::SpawnAllow,
        Self::EnvAllow,
        Self::FilesystemScope,
        Self::WorkdirExec,
        Self::StateStore,
        Self::InstallSkill,
        Self::InstallTool,
        Self::InstallFrom,
        Self::Containment,
    ];

    /// The manifest key that the axis compares.
    pub const fn key(self) -> &'static str {
        match self {
            Self::NetworkAllow => "capabilities.network.allow",
            Self::UnixSockets => "capabilities.network.unix_sockets",
            Self::PeerFetchAllow => "capabilities.peer_fetch.allow",
            Self::ShellAllow => "capabilities.shell.allow",
            Self::SpawnAllow => "capabilities.spawn.allow",
            Self::EnvAllow => "capabilities.env.allow",
            Self::FilesystemScope => "capabilities.filesystem.scope",
            Self::WorkdirExec => "capabilities.filesystem.workdir_exec",
            Self::StateStore => "capabilities.state.store",
            Self::InstallSkill => "capabilities.install.skill",
            Self::InstallTool => "capabilities.install.tool",
            Self::InstallFrom => "capabilities.install.from",
            Self::Containment => "capabilities.containment",
        }
    }
}

/// The first axis on which a child exceeds its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeViolation {
    /// The axis.
    pub axis: EnvelopeAxis,
    /// The child's entry at fault, verbatim.
    pub entry: String,
    /// The parent's value, where the axis has one.
    pub parent_entry: Option<String>,
}

impl SpawnEnvelope {
    /// The envelope of a lowered policy: one lowering, so that it cannot disagree with the session's own policy.
    pub fn of(policy: &CapabilityPolicy) -> Self {
        let carried = &policy.carried;
        let stores = carried.artifacts.iter().filter_map(|artifact| artifact.state_store.clone());
        Self {
            network_allow: policy.network.allow.clone(),
            unix_sockets_allowed: policy.network.unix_sockets,
            peer_fetch_allow: carried.peer_fetch_allow.clone(),
            shell_allow: policy.shell_allow().to_vec(),
            spawn_allow: carried.spawn_allow.clone(),
            env_allow: policy.env_allow.clone(),
            filesystem_scope: policy.files.scope.clone(),
            workdir_exec_allowed: policy.files.workdir_exec,
            state_stores: stores.collect(),
            install_skill: carried.install_skill.clone(),
            install_tool: carried.install_tool.clone(),
            install_from_sources: carried.install_from.iter().any(|from| from == "sources"),
            containment_floor: policy.manifest_floor,
        }
    }

    /// Whether `child` may do nothing that this parent may not.
    ///
    /// # Errors
    /// The first axis, in order, on which it may, with the first entry at fault.
    pub fn contains(&self, child: &Self) -> Result<(), EnvelopeViolation> {
        for axis in EnvelopeAxis::ALL {
            if let Some((entry, parent_entry)) = self.exceeded(axis, child) {
                return Err(EnvelopeViolation { axis, entry, parent_entry });
            }
        }
        Ok(())
    }

    /// The child's entry that exceeds this parent on one axis, with the parent's where the axis has one.
    fn exceeded(&self, axis: EnvelopeAxis, child: &Self) -> Option<(String, Option<String>)> {
        let entry = match axis {
            EnvelopeAxis::NetworkAllow => first_uncovered(
                &self.network_allow,
                &child.network_allow,
                NetworkAllowRule::is_covered_by,
            ),
            EnvelopeAxis::UnixSockets => {
                exceeds(self.unix_sockets_allowed, child.unix_sockets_allowed, "true")
            }
            EnvelopeAxis::PeerFetchAllow => first_uncovered(
                &self.peer_fetch_allow,
                &child.peer_fetch_allow,
                NetworkAllowRule::is_covered_by,
            ),
            EnvelopeAxis::ShellAllow => first_absent(&self.shell_allow, &child.shell_allow),
            EnvelopeAxis::SpawnAllow => first_absent(&self.spawn_allow, &child.spawn_allow),
            EnvelopeAxis::EnvAllow => first_absent(&self.env_allow, &child.env_allow),
            EnvelopeAxis::FilesystemScope => return self.exceeded_scope(child),
            EnvelopeAxis::WorkdirExec => {
                exceeds(self.workdir_exec_allowed, child.workdir_exec_allowed, "true")
            }
            EnvelopeAxis::StateStore => {
                child.state_stores.difference(&self.state_stores).next().cloned()
            }
            EnvelopeAxis::InstallSkill => first_uncovered(
                &self.install_skill,
                &child.install_skill,
                InstallPattern::is_covered_by,
            ),
            EnvelopeAxis::InstallTool => first_uncovered(
                &self.install_tool,
                &child.install_tool,
                InstallPattern::is_covered_by,
            ),
            EnvelopeAxis::InstallFrom => {
                exceeds(self.install_from_sources, child.install_from_sources, "sources")
            }
            EnvelopeAxis::Containment => {
                let (parent, child) = (self.containment_floor, child.containment_floor);
                return (child < parent).then(|| (child.to_string(), Some(parent.to_string())));
            }
        };
        entry.map(|entry| (entry, None))
    }

    /// The scope axis: compares components, never strings. An invalid scope covers nothing and is covered by nothing.
    fn exceeded_scope(&self, child: &Self) -> Option<(String, Option<String>)> {
        let own = self.filesystem_scope.as_ref();
        let theirs = child.filesystem_scope.as_ref();
        let fits = match (own.map(|own| own.parse::<PathRule>()), theirs) {
            (None, None) => true,
            (None, Some(theirs)) => theirs.parse::<PathRule>().is_ok(),
            (Some(Ok(own)), None) => own.is_work_folder(),
            (Some(Ok(own)), Some(theirs)) => {
                theirs.parse::<PathRule>().is_ok_and(|theirs| own.covers(&theirs))
            }
            (Some(Err(_)), _) => false,
        };
        (!fits).then(|| (theirs.cloned().unwrap_or_default(), own.cloned()))
    }
}

/// The first entry of `child` that no entry of `parent` covers. What does not parse grants nothing and is covered by
/// nothing.
fn first_uncovered<T: FromStr + Eq + Hash>(
    parent: &[String],
    child: &[String],
    is_covered: fn(&T, &HashSet<T>) -> bool,
) -> Option<String> {
    let ceilings: HashSet<T> = parent.iter().filter_map(|entry| entry.parse().ok()).collect();
    let held = |entry: &&String| entry.parse().is_ok_and(|entry| is_covered(&entry, &ceilings));
    child.iter().find(|entry| !held(entry)).cloned()
}

/// The first entry of `child` that `parent` does not hold word for word.
fn first_absent(parent: &[String], child: &[String]) -> Option<String> {
    let held: HashSet<&String> = parent.iter().collect();
    child.iter().find(|entry| !held.contains(entry)).cloned()
}

/// The child has what the parent has not.
fn exceeds(parent: bool, child: bool, entry: &str) -> Option<String> {
    (child && !parent).then(|| entry.to_owned())
}

/// The rule that all refusals but the floor's end with.
const NEVER_MORE: &str = "a spawned capsule may never do more than its spawner";

impl fmt::Display for EnvelopeViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, entry) = (self.axis.key(), &self.entry);
        let parent = self.parent_entry.as_deref().unwrap_or_default();
        match self.axis {
            EnvelopeAxis::Containment => write!(
                f,
                "{key}: the child declares '{entry}' below its parent's floor '{parent}' — a floor \
                 may only rise from spawner to child"
            ),
            EnvelopeAxis::FilesystemScope if entry.is_empty() => write!(
                f,
                "{key}: the child declares no scope ('{entry}') where its parent declares \
                 '{parent}' — {NEVER_MORE}"
            ),
            EnvelopeAxis::FilesystemScope => write!(
                f,
                "{key}: the child declares '{entry}', which is not within its parent's scope \
                 '{parent}' — {NEVER_MORE}"
            ),
            EnvelopeAxis::NetworkAllow
            | EnvelopeAxis::UnixSockets
            | EnvelopeAxis::PeerFetchAllow
            | EnvelopeAxis::ShellAllow
            | EnvelopeAxis::SpawnAllow
            | EnvelopeAxis::EnvAllow
            | EnvelopeAxis::WorkdirExec
            | EnvelopeAxis::StateStore
            | EnvelopeAxis::InstallSkill
            | EnvelopeAxis::InstallTool
            | EnvelopeAxis::InstallFrom => write!(
                f,
                "{key}: the child declares '{entry}', which its parent does not hold — {NEVER_MORE}"
            ),
        }
    }
}

impl std::error::Error for EnvelopeViolation {}

#[cfg(test)]
mod tests;
