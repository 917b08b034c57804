//! Capabilities and host facts in, what is enforced and the report of it out.
//!
//! Floor 1, pure: a manifest is lowered to a policy, a policy and a host are decided, and the report, the syscall filter
//! and the Landlock rights are computed from that one decision. Nothing here looks at the machine, so a capsule can be
//! asked about on any host whose probe was saved:
//!
//! ```
//! use std::path::Path;
//! use mur_policy::{ContainmentClass, HostProbe, OperatorGrants, Outcomes, Placement, ScopeReport};
//!
//! let manifest = mur_manifest::parse(
//!     b"name: demo\nversion: 1.0.0\ncapabilities: { containment: sealed, shell: { allow: [bash] } }",
//! )?;
//! let policy = mur_policy::lower(&manifest, &OperatorGrants::default())?.policy;
//!
//! let host: HostProbe = serde_json::from_str(r#"{
//!     "os": "linux", "arch": "x86_64", "kernel": "6.1.0",
//!     "caller": {"uid": 1000, "gid": 1000, "privileged": false},
//!     "landlock": {"abi": 2, "enforced": {"outcome": "works"}, "errata": null},
//!     "namespaces": {
//!         "network": {"outcome": "works"}, "mount": {"outcome": "works"},
//!         "composed_root": {"outcome": "refused", "step": "pivot_root", "errno": 1},
//!         "procfs": {"outcome": "works"}, "mount_setattr": true, "openat2": true
//!     },
//!     "apparmor": {"enabled": null, "restrict_unprivileged_userns": null, "profile": null},
//!     "seccomp": true, "cgroup": "v2"
//! }"#)?;
//! let placement =
//!     Placement::of_session(Path::new("/srv/demo"), Path::new("/home/u/.murmur"), Path::new("/tmp"));
//!
//! let decision = mur_policy::decide(&policy, &host, &placement);
//! assert_eq!(decision.achieved, ContainmentClass::Scoped);
//! assert!(!decision.floor_met());
//!
//! let report = ScopeReport::new(&policy, &decision, &Outcomes::new(placement, &host));
//! assert!(report.shortfall_reason.is_some_and(|reason| reason.contains("`pivot_root`")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capability;
mod carried;
mod class;
mod confine;
mod decide;
mod envelope;
mod environment;
pub mod errno;
#[cfg(test)]
mod fixture;
mod host;
mod host_path;
pub mod landlock;
mod lower;
mod notice;
mod placement;
mod program;
mod refusal;
pub mod report;
mod review;
mod shortfall;
mod strip;
mod syscalls;
mod temp;
mod userns;
pub mod why;

pub use capability::{
    CapabilityPolicy, Capsule, FilePolicy, HostPath, InterpreterRuntime, NetworkPolicy,
    ProcessPolicy, Resources, ShellPolicy, StagedRuntime,
};
pub use carried::{
    AgentPolicy, ArtifactNetwork, ArtifactPolicy, ArtifactRole, Carried, DeclaredFile,
    ExportedFiles, GatewayPolicy, ImagePolicy, PeerFiles,
};
pub use class::{ContainmentClass, Tier};
pub use confine::{Confinement, Rlimit, confinement, connect_ports, rlimits};
pub use decide::{ContainmentDecision, NetworkOwner, decide, host_tier};
pub use envelope::{EnvelopeAxis, EnvelopeViolation, SpawnEnvelope};
pub use environment::{
    BASE_ENV, SessionEnv, environment, granted_env_names, is_credential_shaped, runtime_owned_env,
};
pub use host::{
    AppArmorReading, Attempt, Caller, CgroupLayout, HostProbe, LandlockProbe, NamespaceProbe, Step,
};
pub use host_path::{HostPathRefused, check_host_paths};
pub use landlock::LANDLOCK_TARGET_ABI;
pub use lower::{
    Handling, KEYS, Lowered, OperatorGrants, PolicyErrors, allows_program, envelope, lower,
};
pub use notice::{Notice, decision_notices};
pub use placement::{
    Placement, SESSION_HOME_DIR_NAME, SESSION_ID_PLACEHOLDER, SESSION_TEMP_DIR_NAME,
};
pub use refusal::{FloorNotMet, NetworkBlocker, NetworkUnavailable, check_floor, check_network};
pub use report::{
    CgroupScopeReport, DeclaredNeedsReport, EnforcementReport, ExportsFilesReport,
    FilesystemBoundaryReport, HOST_PROCESS_MECHANISM, HarnessReport, HostPathReport, ImagesReport,
    IoMaxReport, IoMaxStatus, ManifestFileReport, Outcomes, ParentWorkdirReport, PeerFilesReport,
    PinnedProgramReport, PreopenReport, ProcessViewReport, Route, RouteReport, RuntimeDirReport,
    RuntimeWriteReport, ScopeReport, StateStoreReport, TempDirReport, UnconfinedReport,
    read_only_advisory_for, records_dir_report, route_table, runtime_dir_report, temp_dir_report,
};
pub use review::{Finding, Language, Review, review};
pub use shortfall::{SealedBlocker, ShortfallCause, sealed_blocker};
pub use strip::{CREDENTIAL_BACKSTOP, StripList, StripSource, StrippedBy};
pub use syscalls::{ArgRule, CLONE_NEW_MASK, SyscallFilter, SyscallRule, SyscallVerdict};
pub use temp::{
    NotMappedReason, TEMP_DIR_ENV, TMP_MAP_FAILURE_PREFIX, TMP_PATH, TempMapping, temp_mapping,
};
pub use userns::{UsernsGrant, userns_grant};
