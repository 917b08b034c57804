//! What a capsule may use of the machine: rlimits and control-group limits, `spec/containment.md` §8.

use std::collections::BTreeMap;

use mur_policy::{Resources, rlimits};
use oci_spec::runtime::{
    LinuxBlockIo, LinuxCpu, LinuxMemory, LinuxPids, LinuxResources, LinuxThrottleDeviceBuilder,
    PosixRlimit, PosixRlimitBuilder, PosixRlimitType,
};

use crate::BlockDevice;

/// The microseconds that a share of the processors is measured over.
const CPU_PERIOD: u64 = 100_000;

/// `process.rlimits`, each lowered to what the caller itself may have.
///
/// `RLIMIT_NPROC` is not among them: it counts a user's tasks on the whole host, and a bundle has a control group.
pub(crate) fn process_limits(
    resources: &Resources,
    hard_limits: &BTreeMap<String, u64>,
) -> Vec<PosixRlimit> {
    let limits = rlimits(resources).into_iter().filter_map(|limit| {
        let inherited = hard_limits.get(&limit.name).copied().unwrap_or(u64::MAX);
        let (soft, hard) = if limit.name == "RLIMIT_CPU" && limit.hard > inherited {
            (inherited.saturating_sub(1), inherited)
        } else {
            (limit.soft.min(inherited), limit.hard.min(inherited))
        };
        let kind: PosixRlimitType = limit.name.parse().ok()?;
        PosixRlimitBuilder::default().typ(kind).soft(soft).hard(hard).build().ok()
    });
    limits.collect()
}

/// `linux.resources`. Memory and swap have one limit together, so equal values leave no swap.
///
/// There are no device rules: every mount but `/dev` is `nodev`, `/dev` is read-only, and `mknod` is refused.
pub(crate) fn control_group_limits(
    resources: &Resources,
    disk: Option<BlockDevice>,
) -> LinuxResources {
    let bytes = signed(resources.cgroup_memory_bytes);
    let mut memory = LinuxMemory::default();
    memory.set_limit(Some(bytes)).set_swap(Some(bytes));
    let mut pids = LinuxPids::default();
    pids.set_limit(signed(resources.cgroup_pids_max));
    let mut cpu = LinuxCpu::default();
    cpu.set_quota(Some(signed(resources.cgroup_cpu_percent.saturating_mul(CPU_PERIOD / 100))))
        .set_period(Some(CPU_PERIOD));
    let mut limits = LinuxResources::default();
    limits
        .set_devices(None)
        .set_memory(Some(memory))
        .set_pids(Some(pids))
        .set_cpu(Some(cpu))
        .set_block_io(disk.map(|disk| block_io(disk, resources.cgroup_io_bytes_per_sec)));
    limits
}

fn block_io(disk: BlockDevice, rate: u64) -> LinuxBlockIo {
    let device = LinuxThrottleDeviceBuilder::default()
        .major(i64::from(disk.major))
        .minor(i64::from(disk.minor))
        .rate(rate)
        .build()
        .expect("every field has a default");
    let mut limits = LinuxBlockIo::default();
    limits
        .set_throttle_read_bps_device(Some(vec![device]))
        .set_throttle_write_bps_device(Some(vec![device]));
    limits
}

/// A value OCI takes as a signed number; more than fits is as good as no limit below it.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
