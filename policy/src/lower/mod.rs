//! A manifest and the operator's word to a policy: what was asked, checked, with defaults applied.
//!
//! Every struct of the manifest is taken apart without `..`, so that a new key does not compile until it is decided
//! here what becomes of it. [`KEYS`] is that decision, key by key.

mod agent;
mod artifact;
mod carried;
mod file;
mod floor;
mod keys;
mod network;
mod process;
mod resource;
mod shell;

use std::fmt;
use std::path::Path;

use mur_manifest::manifest::Access;
use mur_manifest::{
    Capabilities, Code, Coded, ContainmentFloor, Fault, Location, Manifest, OperatorConfig, Source,
};

pub use keys::{Handling, KEYS};
pub use process::allows_program;

use crate::{CapabilityPolicy, Capsule, ContainmentClass, HostPath, Notice, SpawnEnvelope};

/// What the operator says beside the manifest, read by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorGrants {
    /// `containment` of the workspace configs: the maximum of those that set it.
    pub config_floor: Option<ContainmentClass>,
    /// `--containment`.
    pub flag: Option<ContainmentClass>,
    /// `host_paths`, in config order, `~` expanded.
    pub host_paths: Vec<HostPath>,
}

impl OperatorGrants {
    /// What a launch takes from the operator's files and from `--containment`; `home` is what `~` stands for.
    pub fn new(config: &OperatorConfig, flag: Option<ContainmentFloor>, home: &Path) -> Self {
        let host_paths = config.host_paths.iter().map(|folder| HostPath {
            path: folder.path.value.resolve(home),
            writable: folder.access == Access::ReadWrite,
        });
        Self {
            config_floor: config.containment.map(ContainmentClass::from),
            flag: flag.map(ContainmentClass::from),
            host_paths: host_paths.collect(),
        }
    }
}

/// A policy, and what is worth saying of how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The policy.
    pub policy: CapabilityPolicy,
    /// Warnings, in the order of the manifest's parts.
    pub notices: Vec<Notice>,
}

/// Everything that keeps a manifest from being lowered, in file order; never empty.
///
/// Displays one fault a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyErrors {
    faults: Vec<Fault>,
}

impl PolicyErrors {
    /// The faults, in file order.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyErrors {}

impl Coded for PolicyErrors {
    /// The code of the first fault.
    fn code(&self) -> Code {
        self.faults.first().map_or(Code::EMan003, |fault| fault.code)
    }

    fn fix(&self) -> Option<String> {
        self.faults.first().and_then(Coded::fix)
    }
}

impl IntoIterator for PolicyErrors {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.faults.into_iter()
    }
}

/// Faults and warnings as they are found.
struct Findings<'m> {
    source: &'m Source,
    faults: Vec<Fault>,
    notices: Vec<Notice>,
}

impl Findings<'_> {
    /// Notes a fault; `accepted` ends a sentence that begins with "write".
    fn refuse(&mut self, code: Code, at: Location, message: String, accepted: &str) {
        let accepted = (!accepted.is_empty()).then(|| accepted.to_owned());
        self.faults.push(Fault { code, at, message, accepted });
    }

    /// Notes a grant that this version has no mechanism for.
    fn unsupported(&mut self, at: Location, message: &str) {
        self.refuse(Code::ECap200, at, message.to_owned(), "");
    }

    /// Notes a warning about a place in the manifest.
    fn warn(&mut self, code: Code, at: &Location, text: String) {
        self.notices.push(Notice::of_place(code, at, text));
    }

    /// Where a key stands.
    fn locate(&self, path: &str) -> Location {
        self.source.locate(path)
    }

    /// Whether a key is written.
    fn is_written(&self, path: &str) -> bool {
        self.source.locate(path).line > 0
    }
}

/// Lowers a manifest to the policy of one capsule.
///
/// # Errors
/// Every fault at once, each with its code, key path, line and column: shapes that are judged only now (`E-CAP-001`,
/// `-002`, `-009`, `-010`, `-011`, `-012`, `-016`, `-207`), contradictions (`E-CAP-004`, `-201`, `-202`, `-205`), and
/// grants that this version has no mechanism for (`E-CAP-200`).
pub fn lower(manifest: &Manifest, operator: &OperatorGrants) -> Result<Lowered, PolicyErrors> {
    let (lowered, faults) = lower_all(manifest, operator);
    refuse(faults)?;
    Ok(lowered)
}

/// Lowers a manifest to its spawn envelope, which compares what is declared: a grant that this version could not enforce
/// counts, and so does a floor that a launch would need a flag for.
///
/// # Errors
/// As [`lower`], but for `E-CAP-004`, `-200` and `-202`.
pub fn envelope(manifest: &Manifest) -> Result<SpawnEnvelope, PolicyErrors> {
    let (lowered, mut faults) = lower_all(manifest, &OperatorGrants::default());
    let at_launch = [Code::ECap004, Code::ECap200, Code::ECap202];
    faults.retain(|fault| !at_launch.contains(&fault.code));
    refuse(faults)?;
    Ok(SpawnEnvelope::of(&lowered.policy))
}

/// The faults as one error, in file order.
fn refuse(mut faults: Vec<Fault>) -> Result<(), PolicyErrors> {
    if faults.is_empty() {
        return Ok(());
    }
    faults.sort_by_key(|fault| (fault.at.line, fault.at.column));
    Err(PolicyErrors { faults })
}

/// Lowers everything, and keeps every fault beside it.
pub(crate) fn lower_all(manifest: &Manifest, operator: &OperatorGrants) -> (Lowered, Vec<Fault>) {
    let Manifest {
        name,
        version,
        artifacts,
        capabilities,
        inference,
        context,
        exports,
        lifecycle,
        process,
        // What a session records, lets in and hands on: read by who does it, and no part of what is enforced.
        observability: _,
        trace: _,
        network: _,
        control: _,
        deploy: _,
        source,
    } = manifest;
    let mut findings = Findings { source, faults: Vec::new(), notices: Vec::new() };
    let capsule = Capsule {
        name: name.clone(),
        version: version.clone(),
        manifest_digest: source.digest().to_owned(),
    };
    let capabilities = capabilities.clone().unwrap_or_default();
    let mut policy = lower_capabilities(capsule, &capabilities, operator, &mut findings);
    let env = capabilities.env.as_ref();
    policy.env_allow = shell::lower_env(env, lifecycle.after_task, &policy, &mut findings);
    policy.carried.artifacts = artifact::lower(artifacts, &policy, &mut findings);
    policy.process = process::lower(process.as_ref(), &policy, &mut findings);
    agent::lower(
        &agent::Blocks { inference, context, exports, artifacts },
        &mut policy,
        &mut findings,
    );
    let Findings { faults, notices, .. } = findings;
    (Lowered { policy, notices }, faults)
}

/// Lowers `capabilities`, block by block.
fn lower_capabilities(
    capsule: Capsule,
    capabilities: &Capabilities,
    operator: &OperatorGrants,
    findings: &mut Findings<'_>,
) -> CapabilityPolicy {
    let Capabilities {
        containment,
        filesystem,
        network,
        shell,
        spawn,
        // Judged by the strip list, so lowered after the rest.
        env: _,
        plan,
        install,
        peer_fetch,
        limits,
        resources,
        state,
        task_io,
        conversation,
        harness,
    } = capabilities;
    let floor = floor::lower(containment.as_ref(), operator, findings);
    carried::note_inert(limits.as_ref(), state.as_ref(), conversation.as_ref(), findings);
    carried::refuse_unsupported(task_io.as_ref(), harness.as_ref(), findings);
    CapabilityPolicy {
        capsule,
        floor: floor.effective,
        manifest_floor: floor.manifest,
        unconfined: floor.unconfined,
        files: file::lower(filesystem.as_ref(), findings),
        network: network::lower(network.as_ref(), findings),
        shell: shell::lower(shell.as_ref(), floor.effective, findings),
        env_allow: Vec::new(),
        process: None,
        resources: resource::lower(resources.as_ref(), findings),
        host_paths: floor::host_paths(&operator.host_paths, findings),
        carried: carried::lower(&carried::Blocks { spawn, plan, install, peer_fetch }, findings),
    }
}

#[cfg(test)]
mod tests;
