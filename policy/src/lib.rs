//! Capabilities and host facts in, what is enforced and the report of it out. Floor 1; pure.

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
pub mod landlock;
mod lower;
mod notice;
mod placement;
mod program;
pub mod report;
mod shortfall;
mod syscalls;
mod temp;
mod userns;

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
    BASE_ENV, CREDENTIAL_BACKSTOP, SessionEnv, StripSource, StrippedBy, environment,
    granted_env_names, is_credential_shaped, runtime_owned_env, stripped_by,
};
pub use host::{
    AppArmorReading, Attempt, Caller, CgroupLayout, HostProbe, LandlockProbe, NamespaceProbe, Step,
};
pub use lower::{Handling, KEYS, Lowered, OperatorGrants, PolicyErrors, allows_program, lower};
pub use notice::{Notice, decision_notices};
pub use placement::{
    Placement, SESSION_HOME_DIR_NAME, SESSION_ID_PLACEHOLDER, SESSION_TEMP_DIR_NAME,
};
pub use report::{Outcomes, ScopeReport};
pub use shortfall::{SealedBlocker, ShortfallCause, sealed_blocker};
pub use syscalls::{ArgRule, CLONE_NEW_MASK, SyscallFilter, SyscallRule, SyscallVerdict};
pub use temp::{
    NotMappedReason, TEMP_DIR_ENV, TMP_MAP_FAILURE_PREFIX, TMP_PATH, TempMapping, temp_mapping,
};
pub use userns::{UsernsGrant, userns_grant};
