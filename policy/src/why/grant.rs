//! The paths a capsule may use, each with the line it comes from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Line;
use crate::landlock::RightSet;
use crate::report::Outcomes;
use crate::{CapabilityPolicy, ContainmentDecision, TMP_PATH, Tier};

/// One path with everything beneath it, what it may be used for, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathGrant {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// What it may be used for.
    pub rights: RightSet,
    /// The line it comes from.
    pub because: Line,
}

impl PathGrant {
    /// A grant.
    pub fn new(path: impl Into<PathBuf>, rights: RightSet, because: Line) -> Self {
        Self { path: path.into(), rights, because }
    }
}

/// The host's folders of programs and libraries that a composed root shows to read.
const SHOWN_TREES: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files by which names resolve.
const RESOLUTION: [&str; 3] = ["/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf"];

/// Devices and kernel file systems of every capsule.
const KERNEL: [(&str, RightSet); 8] = [
    ("/dev/null", RightSet::Terminal),
    ("/dev/tty", RightSet::Terminal),
    ("/dev/pts", RightSet::Terminal),
    ("/dev/full", RightSet::DeviceReadWrite),
    ("/dev/zero", RightSet::DeviceRead),
    ("/dev/random", RightSet::DeviceRead),
    ("/dev/urandom", RightSet::DeviceRead),
    ("/dev/shm", RightSet::Writable),
];

/// Every path grant that policy, decision and outcomes know of; a program's own files come from the host's layout.
pub fn path_grants(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> Vec<PathGrant> {
    let mut grants = session_grants(policy, decision, outcomes);
    grants.extend(declared_grants(policy));
    grants.extend(derived_grants(outcomes));
    let system =
        |path: &&str, text: &str| PathGrant::new(*path, RightSet::ReadList, Line::of_fact(text));
    if decision.applied == Tier::Sealed {
        let text = "a composed root shows the host's programs and libraries to read";
        grants.extend(SHOWN_TREES.iter().map(|path| system(path, text)));
    }
    grants.extend(
        RESOLUTION.iter().map(|path| {
            PathGrant::new(*path, RightSet::Read, Line::of_fact("names resolve by it"))
        }),
    );
    if decision.private_proc {
        grants.push(system(&"/proc", "a private /proc is mounted"));
    }
    grants.extend(KERNEL.map(|(path, rights)| {
        PathGrant::new(path, rights, Line::of_fact("every capsule has this device"))
    }));
    grants
}

/// The session's own folders.
fn session_grants(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> Vec<PathGrant> {
    let placement = &outcomes.placement;
    let work = match &policy.files.scope_path {
        Some(scope) => PathGrant::new(
            placement.workdir.join(scope),
            RightSet::Work,
            Line::of_key(
                "capabilities.filesystem.scope",
                "it lies in the scope of the work folder",
            ),
        ),
        None => PathGrant::new(
            &placement.workdir,
            RightSet::Work,
            Line::of_fact("it lies in the work folder"),
        ),
    };
    let temp =
        if decision.temp.is_mapped() { PathBuf::from(TMP_PATH) } else { placement.temp_dir() };
    let own = |path: &Path, rights, text: &str| PathGrant::new(path, rights, Line::of_fact(text));
    vec![
        work,
        own(&temp, RightSet::Writable, "it is the session's temporary folder"),
        own(&placement.home_dir(), RightSet::Writable, "it is the session's home folder"),
        own(&placement.runtime_dir, RightSet::ReadList, "it is the session's runtime folder"),
        own(&placement.records_dir, RightSet::ReadList, "it is the session's records folder"),
    ]
}

/// What manifest and operator name by path.
fn declared_grants(policy: &CapabilityPolicy) -> Vec<PathGrant> {
    let mut grants = Vec::new();
    for (index, granted) in policy.host_paths.iter().enumerate() {
        let rights = if granted.writable { RightSet::Writable } else { RightSet::ReadList };
        let line =
            Line::of_fact(format!("`host_paths[{index}]` of the workspace config grants it"));
        grants.push(PathGrant::new(&granted.path, rights, line));
    }
    let Some(shell) = &policy.shell else { return grants };
    for (index, staged) in shell.staged_runtime.iter().enumerate() {
        let key = format!("capabilities.shell.staged_runtime[{index}]");
        let line = Line::of_key(key, format!("it is staged for `{}`", staged.binary));
        grants.push(PathGrant::new(&staged.source_path, RightSet::ReadExecuteList, line));
    }
    for granted in &shell.interpreter_runtime {
        let rights =
            if granted.list_dir { RightSet::ReadExecuteList } else { RightSet::ReadExecute };
        let line = Line::of_key(
            "capabilities.shell.interpreter_runtime",
            format!("`{}` may reach it", granted.binary),
        );
        grants.push(PathGrant::new(&granted.path, rights, line));
    }
    grants
}

/// What was derived from the host.
fn derived_grants(outcomes: &Outcomes) -> Vec<PathGrant> {
    let rights = |folder: bool| if folder { RightSet::ReadList } else { RightSet::Read };
    let imports = outcomes.derived_imports.iter().map(|import| {
        let line = Line::of_fact(format!("`{}` imports from it", import.binary));
        PathGrant::new(&import.path, rights(import.folder), line)
    });
    let trusted = outcomes.trust_store.iter().map(|found| {
        let line = Line::of_fact("it belongs to the host's trust store");
        PathGrant::new(&found.path, rights(found.folder), line)
    });
    imports.chain(trusted).collect()
}
