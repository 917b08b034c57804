//! What was probed for a dry run, or performed at a launch: both go through the same report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::part::{DeclaredNeedsReport, HarnessReport, PinnedProgramReport, WorkdirSnapshot};
use super::resource::{IoMaxOutcome, ScopeOutcome};
use crate::{HostProbe, Placement};

/// Facts about one capsule on one host that policy and decision do not hold.
///
/// What nobody asked about stays as [`Outcomes::new`] leaves it, and is reported as such.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The session's folders.
    pub placement: Placement,
    /// The folder the manifest was read from, absolute; relative paths in it start there.
    pub manifest_dir: PathBuf,
    /// The control group.
    pub cgroup: ScopeOutcome,
    /// The disk limit.
    pub io_max: IoMaxOutcome,
    /// Import paths that allowed interpreters brought with them.
    pub derived_imports: Vec<DerivedImport>,
    /// Trust store folders and files found.
    pub trust_store: Vec<FoundPath>,
    /// `read_only` subtrees that no mount holds.
    pub read_only_gaps: Vec<ReadOnlyGap>,
    /// Who an unconfined session runs as.
    pub account: Account,
    /// Who the capsule's processes are; `None` while nobody decided.
    pub identity: Option<IdentityOutcome>,
    /// Inherited hard limits that are not infinite, by the kernel's name.
    pub hard_limits: BTreeMap<String, u64>,
    /// The architecture the syscall filter is compiled for, `x86_64`.
    pub arch: String,
    /// The kernel's Landlock errata bitmask, where it can be asked.
    pub landlock_errata: Option<u32>,
    /// What tools declared to need of the host.
    pub declared_needs: Vec<DeclaredNeedsReport>,
    /// Programs that tools pinned.
    pub pinned_programs: Vec<PinnedProgramReport>,
    /// The harness, once its driver was read.
    pub harness: Option<HarnessReport>,
    /// The parent's work folder, where this session began in a copy of it.
    pub parent_workdir: Option<WorkdirSnapshot>,
}

/// A path an allowed interpreter imports from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedImport {
    /// As `shell.allow` spells it.
    pub binary: String,
    /// Where it is.
    pub path: PathBuf,
    /// A folder, which may be listed.
    pub folder: bool,
}

/// A file or folder that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPath {
    /// Where it is.
    pub path: PathBuf,
    /// A folder, which may be listed.
    pub folder: bool,
}

/// A `read_only` subtree that no mount holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOnlyGap {
    /// Relative to the work folder.
    pub path: String,
    /// Why, as `it does not exist`.
    pub reason: String,
}

/// The account of the launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its name, where the host has one for it.
    pub user: Option<String>,
    /// Its number.
    pub uid: u32,
    /// `HOME`.
    pub home: Option<String>,
}

/// One id inside, and the host's id behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdMapping {
    /// What the capsule sees.
    pub inside: u32,
    /// What the host's kernel judges by.
    pub host: u32,
}

/// Who the capsule's processes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityOutcome {
    /// User.
    pub uid: IdMapping,
    /// Group.
    pub gid: IdMapping,
    /// Writable folders are mounted with an id map, so that new files belong to their owner.
    pub idmapped: bool,
    /// Supplementary groups of the launcher that are kept.
    pub groups: Vec<u32>,
}

impl Outcomes {
    /// Nothing asked yet: what a host's probe alone says.
    pub fn new(placement: Placement, host: &HostProbe) -> Self {
        Self {
            manifest_dir: placement.workdir.clone(),
            placement,
            cgroup: ScopeOutcome::default(),
            io_max: IoMaxOutcome::default(),
            derived_imports: Vec::new(),
            trust_store: Vec::new(),
            read_only_gaps: Vec::new(),
            account: Account { user: None, uid: host.caller.uid, home: None },
            identity: None,
            hard_limits: BTreeMap::new(),
            arch: host.arch.clone(),
            landlock_errata: host.landlock.errata,
            declared_needs: Vec::new(),
            pinned_programs: Vec::new(),
            harness: None,
            parent_workdir: None,
        }
    }
}
