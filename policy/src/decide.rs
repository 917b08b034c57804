//! Which class is applied and achieved: `spec/containment.md` §3.2–3.4, pure, from values alone.

use serde::{Deserialize, Serialize};

use crate::landlock::LANDLOCK_TARGET_ABI;
use crate::shortfall::shortfall;
use crate::{
    CapabilityPolicy, ContainmentClass, HostProbe, Placement, ShortfallCause, TempMapping, Tier,
    UsernsGrant, temp_mapping, userns_grant,
};

/// Whose network namespace a capsule's processes live in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkOwner {
    /// Ours: what is not granted does not exist in it.
    #[default]
    Session,
    /// An engine's: Landlock's port rules (ABI 4) narrow it.
    Engine,
}

/// One decision, read by explain, run and report alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainmentDecision {
    /// The effective floor.
    pub declared: ContainmentClass,
    /// What is in force.
    pub achieved: ContainmentClass,
    /// What this host could back; informational.
    pub host: ContainmentClass,
    /// The mechanisms that are installed.
    pub applied: Tier,
    /// Why `achieved` is below `declared`; `None` when the floor is met.
    pub shortfall_reason: Option<String>,
    /// The cause behind `shortfall_reason`; `None` when the floor is met.
    pub shortfall_cause: Option<ShortfallCause>,
    /// The Landlock ABI to build for: the lower of kernel and crate; `None` without a domain.
    pub landlock_abi: Option<u32>,
    /// `userns_grant`; `None` off Linux.
    pub userns_grant: Option<UsernsGrant>,
    /// A private `/proc` is mounted.
    pub private_proc: bool,
    /// A private mount namespace is made, so read-only and `noexec` hold by mounts.
    pub mount_namespace: bool,
    /// What a literal `/tmp` is.
    pub temp: TempMapping,
    /// The runtime or records folder lies inside the work folder, which caps the class.
    pub inside_workdir: bool,
    /// Whose network namespace it is; [`decide`] answers [`NetworkOwner::Session`].
    pub network: NetworkOwner,
}

impl ContainmentDecision {
    /// Whether the floor is met; `run` refuses on its negation.
    pub fn floor_met(&self) -> bool {
        self.achieved >= self.declared
    }
}

/// The tier a host can back. Without a syscall filter there is no kernel tier at all: each stands on it.
pub fn host_tier(host: &HostProbe) -> Tier {
    if host.os != "linux" || !host.seccomp {
        return Tier::EnvironmentOnly;
    }
    match (host.landlock.enforced.works(), host.namespaces.composed_root.works()) {
        (true, true) => Tier::Sealed,
        (true, false) => Tier::Full,
        (false, _) => Tier::SeccompOnly,
    }
}

/// Decides what holds a capsule on a host: one value, taken once, for the floor check, the report, `/tmp` and the bundle.
///
/// A weaker floor is honoured, never silently upgraded: a composed root would delete the host paths that a `scoped`
/// capsule's grants name. `workdir_exec` and a session folder inside the work folder cap the class and leave the tier.
pub fn decide(
    policy: &CapabilityPolicy,
    host: &HostProbe,
    placement: &Placement,
) -> ContainmentDecision {
    let host_tier = host_tier(host);
    let applied = if policy.unconfined {
        Tier::Unconfined
    } else if host_tier == Tier::Sealed && policy.floor < ContainmentClass::Sealed {
        Tier::Full
    } else {
        host_tier
    };
    let inside_workdir = placement.inside_workdir();
    let capped = policy.files.workdir_exec || inside_workdir;
    let achieved =
        if capped { applied.class().min(ContainmentClass::Advisory) } else { applied.class() };
    let reason = (achieved < policy.floor)
        .then(|| shortfall(policy.floor, policy.files.workdir_exec, host, placement));
    let mount_namespace = applied == Tier::Sealed
        || matches!(applied, Tier::Full | Tier::SeccompOnly) && host.namespaces.mount.works();
    ContainmentDecision {
        declared: policy.floor,
        achieved,
        host: host_tier.class(),
        applied,
        shortfall_cause: reason.as_ref().map(|(cause, _)| *cause),
        shortfall_reason: reason.map(|(_, text)| text),
        landlock_abi: landlock_abi(applied, host),
        userns_grant: (host.os == "linux").then(|| userns_grant(&host.apparmor)),
        private_proc: mount_namespace && host.namespaces.procfs.works(),
        mount_namespace,
        temp: temp_mapping(applied, mount_namespace, placement.workdir_is_tmp()),
        inside_workdir,
        network: NetworkOwner::Session,
    }
}

/// The lower of kernel and crate where a domain is installed; an enforcing kernel that hides its number counts as 1.
fn landlock_abi(applied: Tier, host: &HostProbe) -> Option<u32> {
    matches!(applied, Tier::Full | Tier::Sealed)
        .then(|| host.landlock.abi.unwrap_or(1).min(LANDLOCK_TARGET_ABI))
}

#[cfg(test)]
mod tests;
