//! The lower of two limits: the engine's and the policy's.

use mur_policy::Resources;
use oci_spec::runtime::{LinuxCpu, LinuxMemory, LinuxPids, LinuxResources};

use crate::limits::control_group_limits;

/// `linux.resources` of the engine, each limit the policy has lowered to the policy's where that is less.
/// Zero and negative mean unlimited to an engine.
pub(super) fn lower(engine: Option<&LinuxResources>, policy: &Resources) -> LinuxResources {
    let ours = control_group_limits(policy, None);
    let mut lowered = engine.cloned().unwrap_or_default();
    let mut memory = lowered.memory().unwrap_or_default();
    let bytes = ours.memory().as_ref().and_then(LinuxMemory::limit);
    let limit = less(memory.limit(), bytes);
    // The swap value counts memory as well: equal values leave no swap.
    memory.set_limit(limit).set_swap(limit);
    let mut pids = lowered.pids().unwrap_or_default();
    let most = ours.pids().as_ref().map(LinuxPids::limit);
    pids.set_limit(less(Some(pids.limit()), most).unwrap_or_default());
    let mut cpu = lowered.cpu().clone().unwrap_or_default();
    if let Some(our_cpu) = ours.cpu() {
        let less_than_theirs =
            share(&cpu).is_none_or(|theirs| share(our_cpu).is_some_and(|own| own < theirs));
        if less_than_theirs {
            cpu.set_quota(our_cpu.quota()).set_period(our_cpu.period());
        }
    }
    lowered.set_memory(Some(memory)).set_pids(Some(pids)).set_cpu(Some(cpu));
    lowered
}

/// Millionths of one processor; `None` is no limit.
fn share(cpu: &LinuxCpu) -> Option<i128> {
    let period = i128::from(cpu.period().unwrap_or(100_000).max(1));
    cpu.quota().filter(|quota| *quota > 0).map(|quota| i128::from(quota) * 1_000_000 / period)
}

fn less(theirs: Option<i64>, ours: Option<i64>) -> Option<i64> {
    match (theirs.filter(|limit| *limit > 0), ours) {
        (Some(theirs), Some(ours)) => Some(theirs.min(ours)),
        (theirs, ours) => theirs.or(ours),
    }
}
