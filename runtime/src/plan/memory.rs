//! Decides the memory policy and the execution domain.

use oci_spec::runtime as oci;

use super::process::bit_list;
use super::step::MemoryPolicy;
use crate::error::ExecPlanError;

/// Reads `linux.memoryPolicy`.
pub(crate) fn policy(
    policy: Option<&oci::LinuxMemoryPolicy>,
) -> Result<Option<MemoryPolicy>, ExecPlanError> {
    let Some(policy) = policy else { return Ok(None) };
    let mode = match policy.mode() {
        oci::MemoryPolicyModeType::MpolDefault => 0,
        oci::MemoryPolicyModeType::MpolPreferred => 1,
        oci::MemoryPolicyModeType::MpolBind => 2,
        oci::MemoryPolicyModeType::MpolInterleave => 3,
        oci::MemoryPolicyModeType::MpolLocal => 4,
        oci::MemoryPolicyModeType::MpolPreferredMany => 5,
        oci::MemoryPolicyModeType::MpolWeightedInterleave => 6,
    };
    let flag = |flag: &oci::MemoryPolicyFlagType| match flag {
        oci::MemoryPolicyFlagType::MpolFNumaBalancing => 1 << 13,
        oci::MemoryPolicyFlagType::MpolFRelativeNodes => 1 << 14,
        oci::MemoryPolicyFlagType::MpolFStaticNodes => 1 << 15,
    };
    let flags = policy.flags().iter().flatten().map(flag).fold(0, |all, bit| all | bit);
    let nodes = match policy.nodes().as_deref() {
        None | Some("") => Vec::new(),
        Some(nodes) => bit_list("linux.memoryPolicy.nodes", nodes)?,
    };
    Ok(Some(MemoryPolicy { mode: mode | flags, nodes }))
}

/// Reads `linux.personality`.
pub(crate) fn personality(
    personality: Option<&oci::LinuxPersonality>,
) -> Result<Option<u64>, ExecPlanError> {
    let Some(personality) = personality else { return Ok(None) };
    if let Some(flag) = personality.flags().iter().flatten().next() {
        return Err(ExecPlanError::Invalid {
            key: "linux.personality.flags".to_owned(),
            value: flag.clone(),
            reason: "is not known; the runtime-spec defines no flag",
        });
    }
    Ok(Some(match personality.domain() {
        oci::LinuxPersonalityDomain::PerLinux => 0,
        oci::LinuxPersonalityDomain::PerLinux32 => 8,
    }))
}
