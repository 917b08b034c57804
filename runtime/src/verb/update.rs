//! Changes the limits of a container.

use oci_spec::runtime::LinuxResources;
use serde_json::Value;

use crate::cgroup::{self, Layout, ScopeError};
use crate::id::ContainerId;
use crate::state::Status;
use crate::store::{Store, StoreError};

/// Limits could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// Its state cannot be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// It has ended.
    #[error("cannot update container `{id}`: container not running, it is {status}")]
    NotRunning {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// A limit cannot be set.
    #[error("cannot update the limits of container `{id}`")]
    Scope {
        /// Its name.
        id: ContainerId,
        /// Which, and why.
        source: ScopeError,
    },
}

/// Gives the container `id` the limits that are set in `changes`; the others stay.
pub fn update(
    store: &Store,
    id: &ContainerId,
    changes: &LinuxResources,
) -> Result<(), UpdateError> {
    let (mut container, _lock) = store.load_locked(id).map_err(UpdateError::Store)?;
    let status = container.status();
    if matches!(status, Status::Stopped | Status::Creating) {
        return Err(UpdateError::NotRunning { id: id.clone(), status });
    }
    let failed = |source| UpdateError::Scope { id: id.clone(), source };
    let layout = Layout::read().map_err(|source| failed(ScopeError::Layout { source }))?;
    let record = container.record();
    let before = record.limits.clone().unwrap_or_default();
    let wanted = complete(changes, &before);
    cgroup::update(&record.placement, &wanted, &layout).map_err(failed)?;
    let mut after = merge(&before, &wanted);
    after.set_devices(None);
    container.change(|record| record.limits = Some(after)).map_err(UpdateError::Store)
}

/// Adds to `changes` the values in force that the kernel takes only together with changed ones:
/// quota with period, and memory with swap.
fn complete(changes: &LinuxResources, before: &LinuxResources) -> LinuxResources {
    let mut wanted = changes.clone();
    if let (Some(cpu), Some(old)) = (changes.cpu(), before.cpu())
        && (cpu.quota().is_some() || cpu.period().is_some())
    {
        let mut cpu = cpu.clone();
        cpu.set_quota(cpu.quota().or(old.quota()));
        cpu.set_period(cpu.period().or(old.period()));
        wanted.set_cpu(Some(cpu));
    }
    if let (Some(memory), Some(old)) = (changes.memory(), before.memory())
        && memory.swap().is_some()
    {
        let mut memory = *memory;
        memory.set_limit(memory.limit().or(old.limit()));
        wanted.set_memory(Some(memory));
    }
    wanted
}

/// What is in force once `changes` are: each value of theirs in place of the older one.
fn merge(before: &LinuxResources, changes: &LinuxResources) -> LinuxResources {
    let mut merged = serde_json::to_value(before).unwrap_or_default();
    overlay(&mut merged, serde_json::to_value(changes).unwrap_or_default());
    serde_json::from_value(merged).unwrap_or_else(|_| before.clone())
}

fn overlay(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                overlay(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(json: serde_json::Value) -> LinuxResources {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn values_that_the_kernel_takes_in_pairs_are_completed() {
        let before = resources(serde_json::json!({
            "cpu": {"quota": 50_000, "period": 100_000, "shares": 10},
            "memory": {"limit": 1000, "swap": 2000},
        }));
        for (changes, wanted) in [
            (
                serde_json::json!({"cpu": {"period": 200_000}}),
                serde_json::json!({"cpu": {"quota": 50_000, "period": 200_000}}),
            ),
            (
                serde_json::json!({"memory": {"swap": 3000}}),
                serde_json::json!({"memory": {"limit": 1000, "swap": 3000}}),
            ),
            (
                serde_json::json!({"memory": {"limit": 500}}),
                serde_json::json!({"memory": {"limit": 500}}),
            ),
            (serde_json::json!({"cpu": {"shares": 5}}), serde_json::json!({"cpu": {"shares": 5}})),
        ] {
            assert_eq!(complete(&resources(changes), &before), resources(wanted));
        }
    }

    #[test]
    fn what_is_not_changed_stays_in_force() {
        let before = resources(serde_json::json!({
            "cpu": {"quota": 1, "cpus": "0"}, "memory": {"limit": 1}, "pids": {"limit": 5},
        }));
        let changes = resources(serde_json::json!({
            "cpu": {"shares": 9}, "memory": {"swap": 7}, "unified": {"memory.high": "3"},
        }));
        let after = resources(serde_json::json!({
            "cpu": {"quota": 1, "cpus": "0", "shares": 9}, "memory": {"limit": 1, "swap": 7},
            "pids": {"limit": 5}, "unified": {"memory.high": "3"},
        }));
        assert_eq!(merge(&before, &changes), after);
    }
}
