//! Limits of memory, cpu and block devices as files of cgroup v1.

use oci_spec::runtime::{LinuxBlockIo, LinuxCpu, LinuxMemory};

use super::super::layout::Version;
use super::{Controller, LimitError, Steps, any_order, write};

impl Steps<'_> {
    pub(super) fn memory_v1(&mut self, memory: &LinuxMemory) -> Result<(), LimitError> {
        let set = |value: Option<i64>| value.filter(|&value| value != 0);
        let limit = set(memory.limit()).map(|value| write("memory.limit_in_bytes", value));
        let swap = set(memory.swap()).map(|value| write("memory.memsw.limit_in_bytes", value));
        match (limit, swap) {
            (Some(limit), None) if memory.limit() == Some(-1) => {
                // An unlimited memory with a bounded sum would still be bounded.
                let both = vec![write("memory.memsw.limit_in_bytes", -1), limit.clone()];
                self.ways("memory.limit", Controller::Memory, vec![both, vec![limit]])?;
            }
            (Some(limit), None) => {
                self.ways("memory.limit", Controller::Memory, vec![vec![limit]])?;
            }
            (None, Some(swap)) => {
                self.ways("memory.swap", Controller::Memory, vec![vec![swap]])?;
            }
            (Some(limit), Some(swap)) => {
                let tries = any_order(&[limit, swap]);
                self.ways("memory.limit and memory.swap", Controller::Memory, tries)?;
            }
            (None, None) => {}
        }
        for (key, file, value) in [
            ("memory.reservation", "memory.soft_limit_in_bytes", set(memory.reservation())),
            // Obsolete in the kernel; engines write -1, which asks for nothing.
            (
                "memory.kernel",
                "memory.kmem.limit_in_bytes",
                set(memory.kernel()).filter(|&value| value != -1),
            ),
            ("memory.kernelTCP", "memory.kmem.tcp.limit_in_bytes", set(memory.kernel_tcp())),
        ] {
            if let Some(value) = value {
                self.one(key, Controller::Memory, file, value)?;
            }
        }
        if memory.use_hierarchy() == Some(true) {
            let key = "memory.useHierarchy";
            self.one(key, Controller::Memory, "memory.use_hierarchy", 1)?;
        }
        if let Some(swappiness) = memory.swappiness() {
            self.one("memory.swappiness", Controller::Memory, "memory.swappiness", swappiness)?;
        }
        if memory.disable_oom_killer() == Some(true) {
            let key = "memory.disableOOMKiller";
            self.one(key, Controller::Memory, "memory.oom_control", 1)?;
        }
        Ok(())
    }

    pub(super) fn cpu_v1(&mut self, cpu: &LinuxCpu) -> Result<(), LimitError> {
        let shares = cpu.shares().filter(|&shares| shares != 0);
        let share_writes = [
            shares.map(|shares| write("cpu.shares", shares)),
            cpu.idle().map(|idle| write("cpu.idle", idle)),
        ];
        self.cpu_group("cpu.shares and cpu.idle", share_writes.into_iter().flatten())?;
        let quota = [
            cpu.period().filter(|&us| us != 0).map(|us| write("cpu.cfs_period_us", us)),
            cpu.quota().filter(|&us| us != 0).map(|us| write("cpu.cfs_quota_us", us)),
            cpu.burst().map(|us| write("cpu.cfs_burst_us", us)),
        ];
        let key = "cpu.quota, cpu.period and cpu.burst";
        self.cpu_group(key, quota.into_iter().flatten())?;
        let realtime = [
            cpu.realtime_period().filter(|&us| us != 0).map(|us| write("cpu.rt_period_us", us)),
            cpu.realtime_runtime().filter(|&us| us != 0).map(|us| write("cpu.rt_runtime_us", us)),
        ];
        let key = "cpu.realtimeRuntime and cpu.realtimePeriod";
        self.cpu_group(key, realtime.into_iter().flatten())
    }

    /// Adds writes that bound each other, as one step in whichever order works.
    pub(super) fn cpu_group(
        &mut self,
        key: &'static str,
        writes: impl Iterator<Item = super::FileWrite>,
    ) -> Result<(), LimitError> {
        let writes: Vec<_> = writes.collect();
        if writes.is_empty() {
            return Ok(());
        }
        self.ways(key, Controller::Cpu, any_order(&writes)).map(drop)
    }

    pub(super) fn block_io(&mut self, io: &LinuxBlockIo) -> Result<(), LimitError> {
        match self.layout.version_of(Controller::Io) {
            Some(Version::V2) => self.block_io_v2(io),
            // Without the controller the first step below says so.
            Some(Version::V1) | None => self.block_io_v1(io),
        }
    }

    fn block_io_v1(&mut self, io: &LinuxBlockIo) -> Result<(), LimitError> {
        if let Some(weight) = io.weight().filter(|&weight| weight != 0) {
            let plain = vec![write("blkio.weight", weight)];
            let bfq = vec![write("blkio.bfq.weight", weight)];
            self.ways("blockIO.weight", Controller::Io, vec![plain, bfq])?;
        }
        if let Some(weight) = io.leaf_weight().filter(|&weight| weight != 0) {
            self.one("blockIO.leafWeight", Controller::Io, "blkio.leaf_weight", weight)?;
        }
        for device in io.weight_device().iter().flatten() {
            let key = "blockIO.weightDevice";
            let at = format!("{}:{}", device.major(), device.minor());
            if let Some(weight) = device.weight() {
                let plain = vec![write("blkio.weight_device", format!("{at} {weight}"))];
                let bfq = vec![write("blkio.bfq.weight_device", format!("{at} {weight}"))];
                self.ways(key, Controller::Io, vec![plain, bfq])?;
            }
            if let Some(weight) = device.leaf_weight() {
                let value = format!("{at} {weight}");
                self.one(key, Controller::Io, "blkio.leaf_weight_device", value)?;
            }
        }
        for (key, file, list) in [
            ("blockIO.throttleReadBpsDevice", "read_bps_device", io.throttle_read_bps_device()),
            ("blockIO.throttleWriteBpsDevice", "write_bps_device", io.throttle_write_bps_device()),
            ("blockIO.throttleReadIOPSDevice", "read_iops_device", io.throttle_read_iops_device()),
            (
                "blockIO.throttleWriteIOPSDevice",
                "write_iops_device",
                io.throttle_write_iops_device(),
            ),
        ] {
            for device in list.iter().flatten() {
                let value = format!("{}:{} {}", device.major(), device.minor(), device.rate());
                self.one(key, Controller::Io, format!("blkio.throttle.{file}"), value)?;
            }
        }
        Ok(())
    }
}
