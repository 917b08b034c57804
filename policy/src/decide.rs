//! Which class is applied and achieved: `spec/containment.md` §3.2–3.4.

use serde::{Deserialize, Serialize};

use crate::{ContainmentClass, HostProbe, Tier};

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
    /// The Landlock ABI to build for: the lower of kernel and crate; `None` without a domain.
    pub landlock_abi: Option<u32>,
    /// `userns_grant`, its wire name; `None` off Linux.
    pub userns_grant: Option<String>,
    /// A private `/proc` can be mounted.
    pub private_proc: bool,
    /// A private mount namespace can be had.
    pub mount_namespace: bool,
}

impl ContainmentDecision {
    /// Whether the floor is met; `run` refuses on its negation.
    pub fn floor_met(&self) -> bool {
        self.achieved >= self.declared
    }
}

/// The tier a host can back.
pub fn host_tier(host: &HostProbe) -> Tier {
    if host.os != "linux" {
        return Tier::EnvironmentOnly;
    }
    match (host.landlock.enforced.works(), host.namespaces.composed_root.works()) {
        (true, true) => Tier::Sealed,
        (true, false) => Tier::Full,
        (false, _) => Tier::SeccompOnly,
    }
}
