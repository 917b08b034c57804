//! Refusals that follow from a decision, worded once for run, dry run and doctor.

use mur_manifest::{Code, Coded};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::errno::{self, EINVAL, ENOSPC, ENOSYS, EUSERS};
use crate::host::Step;
use crate::{
    Attempt, CapabilityPolicy, ContainmentClass, ContainmentDecision, HostProbe, ShortfallCause,
    Tier,
};

/// `E-CAP-003`: nothing is created for a floor that is not met.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the containment floor is `{declared}`, and `{achieved}` can be had: {reason}")]
pub struct FloorNotMet {
    /// The effective floor.
    pub declared: ContainmentClass,
    /// What would be in force.
    pub achieved: ContainmentClass,
    /// Why, as the report says it.
    pub reason: String,
    /// What it comes from.
    pub cause: ShortfallCause,
}

impl Coded for FloorNotMet {
    fn code(&self) -> Code {
        Code::ECap003
    }

    fn fix(&self) -> Option<String> {
        Some(self.cause.fix().to_owned())
    }
}

/// Refuses a decision whose floor is not met.
///
/// # Errors
/// The floor is not met.
pub fn check_floor(decision: &ContainmentDecision) -> Result<(), FloorNotMet> {
    if decision.floor_met() {
        return Ok(());
    }
    Err(FloorNotMet {
        declared: decision.declared,
        achieved: decision.achieved,
        reason: decision.shortfall_reason.clone().unwrap_or_default(),
        cause: decision.shortfall_cause.unwrap_or(ShortfallCause::Host),
    })
}

/// Why the session's network namespace cannot be made; a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkBlocker {
    /// The user may not make one.
    CapabilityGrantMissing,
    /// The kernel has none, or no more of them.
    KernelSupportMissing,
    /// Nobody could try.
    CreatorUnavailable,
}

impl NetworkBlocker {
    /// The wire name.
    pub const fn wire_name(self) -> &'static str {
        match self {
            Self::CapabilityGrantMissing => "capability_grant_missing",
            Self::KernelSupportMissing => "kernel_support_missing",
            Self::CreatorUnavailable => "creator_unavailable",
        }
    }

    /// What would help.
    const fn fix(self) -> &'static str {
        match self {
            Self::CapabilityGrantMissing => {
                "allow unprivileged user namespaces, load the AppArmor profile `mur-sealed`, or in a \
                 container add SYS_ADMIN"
            }
            Self::KernelSupportMissing => {
                "raise `user.max_net_namespaces` and `user.max_user_namespaces`, or use a kernel with \
                 network namespaces"
            }
            Self::CreatorUnavailable => "relieve the limits on processes and memory of this user",
        }
    }
}

/// `E-CAP-005`: a capsule with a process would have the host's network.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the network namespace cannot be created ({}): {failure}; kernel {kernel}", blocker.wire_name())]
pub struct NetworkUnavailable {
    /// Why.
    pub blocker: NetworkBlocker,
    /// The failed call and its error, or why nobody tried.
    pub failure: String,
    /// A reading of the host.
    pub kernel: String,
}

impl Coded for NetworkUnavailable {
    fn code(&self) -> Code {
        Code::ECap005
    }

    fn fix(&self) -> Option<String> {
        Some(self.blocker.fix().to_owned())
    }
}

/// Refuses a capsule that has a process on a kernel tier where its network namespace cannot be made.
///
/// # Errors
/// The namespace cannot be made.
pub fn check_network(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    host: &HostProbe,
) -> Result<(), NetworkUnavailable> {
    let kernel = matches!(decision.applied, Tier::SeccompOnly | Tier::Full | Tier::Sealed);
    if !kernel || !policy.has_subprocess_route() {
        return Ok(());
    }
    let (blocker, failure) = match &host.namespaces.network {
        Attempt::Works => return Ok(()),
        Attempt::NotTried { reason } => (NetworkBlocker::CreatorUnavailable, reason.clone()),
        Attempt::Refused { step, errno } => {
            let missing = u32::try_from(*errno)
                .is_ok_and(|errno| [ENOSPC, EINVAL, ENOSYS, EUSERS].contains(&errno));
            let blocker = if missing && matches!(Step::of(step), Step::Unshare | Step::Other) {
                NetworkBlocker::KernelSupportMissing
            } else {
                NetworkBlocker::CapabilityGrantMissing
            };
            (blocker, format!("`{step}` failed with {}", errno::describe(*errno)))
        }
    };
    Err(NetworkUnavailable { blocker, failure, kernel: host.kernel.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide;
    use crate::fixture::{
        decision, host, host_without_namespaces, placement, policy, shell_policy,
    };

    #[test]
    fn an_unmet_floor_is_refused_in_the_reports_own_words() {
        let policy = policy(ContainmentClass::Sealed);
        let unmet = decide(&policy, &host(None), &placement());
        let refusal = check_floor(&unmet).expect_err("it is not met");
        assert_eq!(refusal.code(), Code::ECap003);
        assert!(refusal.to_string().contains(unmet.shortfall_reason.as_deref().expect("a reason")));
        assert_eq!(refusal.fix().as_deref(), Some(ShortfallCause::Host.fix()));
        assert_eq!(check_floor(&decide(&policy, &host(Some(6)), &placement())), Ok(()));
    }

    #[test]
    fn each_refused_network_has_its_blocker() {
        let policy = shell_policy(ContainmentClass::Advisory, &["bash"]);
        for (step, errno, blocker) in [
            ("unshare(NEWUSER|NEWNET)", 28, NetworkBlocker::KernelSupportMissing),
            ("unshare(NEWUSER|NEWNET)", 1, NetworkBlocker::CapabilityGrantMissing),
            ("uid_map", 1, NetworkBlocker::CapabilityGrantMissing),
            ("loopback", 1, NetworkBlocker::CapabilityGrantMissing),
        ] {
            let host = host_without_namespaces(Some(6), step, errno);
            let decision = decide(&policy, &host, &placement());
            let refusal = check_network(&policy, &decision, &host).expect_err(step);
            assert_eq!((refusal.blocker, refusal.code()), (blocker, Code::ECap005));
            assert!(refusal.to_string().contains(&format!("`{step}` failed with ")), "{refusal}");
        }
    }

    #[test]
    fn no_process_and_no_kernel_tier_need_no_network_namespace() {
        let without = host_without_namespaces(Some(6), "unshare(NEWUSER|NEWNET)", 1);
        let silent = policy(ContainmentClass::Advisory);
        let shell = shell_policy(ContainmentClass::Advisory, &["bash"]);
        assert_eq!(check_network(&silent, &decision(Tier::Full), &without), Ok(()));
        for tier in [Tier::Unconfined, Tier::EnvironmentOnly] {
            assert_eq!(check_network(&shell, &decision(tier), &without), Ok(()));
        }
        assert_eq!(check_network(&shell, &decision(Tier::Full), &host(Some(6))), Ok(()));
    }
}
