//! Limits of memory, cpu and block devices as files of cgroup v2.

use oci_spec::runtime::{LinuxBlockIo, LinuxCpu, LinuxMemory};

use super::super::layout::Version;
use super::convert::{io_weight_of_blkio, swap_alone, weight_of_shares};
use super::{Controller, LimitError, Missing, Steps, write};

/// Period of `cpu.max` where the spec gives a quota alone, in microseconds: the kernel's default.
const DEFAULT_PERIOD: u64 = 100_000;

impl Steps<'_> {
    pub(super) fn memory_v2(&mut self, memory: &LinuxMemory) -> Result<(), LimitError> {
        refuse_v1_memory(memory)?;
        let limit = memory.limit().unwrap_or(0);
        let both = memory.swap().unwrap_or(0);
        if limit != 0 {
            let tries = vec![vec![write("memory.max", or_max(limit))]];
            let step = self.ways("memory.limit", Controller::Memory, tries)?;
            if memory.check_before_update() == Some(true) && limit > 0 {
                step.usage = Some(("memory.current", limit));
            }
        }
        let alone = swap_alone(limit, both).map_err(|rule| LimitError::Value {
            limit: "memory.swap",
            value: both.to_string(),
            rule,
        })?;
        if let Some(alone) = alone {
            // A kernel without swap accounting has no file; no swap and no bound need none.
            let harmless = alone == "max" || alone == "0";
            let tries = vec![vec![write("memory.swap.max", alone)]];
            let step = self.ways("memory.swap", Controller::Memory, tries)?;
            step.missing = if harmless { Missing::Skip } else { Missing::Refuse };
        }
        if let Some(reservation) = memory.reservation().filter(|&value| value != 0) {
            let value = or_max(reservation);
            self.one("memory.reservation", Controller::Memory, "memory.low", value)?;
        }
        Ok(())
    }

    pub(super) fn cpu(&mut self, cpu: &LinuxCpu) -> Result<(), LimitError> {
        match self.layout.version_of(Controller::Cpu) {
            Some(Version::V2) => self.cpu_v2(cpu),
            // Without the controller the first step there says so.
            Some(Version::V1) | None => self.cpu_v1(cpu),
        }
    }

    fn cpu_v2(&mut self, cpu: &LinuxCpu) -> Result<(), LimitError> {
        for (limit, asked) in [
            ("cpu.realtimeRuntime", cpu.realtime_runtime().is_some_and(|us| us != 0)),
            ("cpu.realtimePeriod", cpu.realtime_period().is_some_and(|us| us != 0)),
        ] {
            if asked {
                return Err(LimitError::NotInVersion { limit, version: Version::V2 });
            }
        }
        let shares = cpu.shares().filter(|&shares| shares != 0);
        let weights = [
            shares.map(|shares| write("cpu.weight", weight_of_shares(shares))),
            cpu.idle().map(|idle| write("cpu.idle", idle)),
        ];
        self.cpu_group("cpu.shares and cpu.idle", weights.into_iter().flatten())?;
        let quota = cpu.quota().filter(|&us| us != 0);
        let period = cpu.period().filter(|&us| us != 0);
        let max = (quota.is_some() || period.is_some()).then(|| {
            let quota = or_max(quota.unwrap_or(-1));
            write("cpu.max", format!("{quota} {}", period.unwrap_or(DEFAULT_PERIOD)))
        });
        let writes = [max, cpu.burst().map(|us| write("cpu.max.burst", us))];
        let key = "cpu.quota, cpu.period and cpu.burst";
        self.cpu_group(key, writes.into_iter().flatten())
    }

    pub(super) fn block_io_v2(&mut self, io: &LinuxBlockIo) -> Result<(), LimitError> {
        let leaf = io.leaf_weight().is_some_and(|weight| weight != 0)
            || io.weight_device().iter().flatten().any(|device| device.leaf_weight().is_some());
        if leaf {
            let limit = "blockIO.leafWeight";
            return Err(LimitError::NotInVersion { limit, version: Version::V2 });
        }
        if let Some(weight) = io.weight().filter(|&weight| weight != 0) {
            // The file of the BFQ scheduler takes the weights of v1 as they are.
            let bfq = vec![write("io.bfq.weight", weight)];
            let plain = vec![write("io.weight", io_weight_of_blkio(weight))];
            self.ways("blockIO.weight", Controller::Io, vec![bfq, plain])?;
        }
        for device in io.weight_device().iter().flatten() {
            let Some(weight) = device.weight() else { continue };
            let at = format!("{}:{}", device.major(), device.minor());
            let bfq = vec![write("io.bfq.weight", format!("{at} {weight}"))];
            let converted = io_weight_of_blkio(weight);
            let plain = vec![write("io.weight", format!("{at} {converted}"))];
            self.ways("blockIO.weightDevice", Controller::Io, vec![bfq, plain])?;
        }
        for (key, word, list) in [
            ("blockIO.throttleReadBpsDevice", "rbps", io.throttle_read_bps_device()),
            ("blockIO.throttleWriteBpsDevice", "wbps", io.throttle_write_bps_device()),
            ("blockIO.throttleReadIOPSDevice", "riops", io.throttle_read_iops_device()),
            ("blockIO.throttleWriteIOPSDevice", "wiops", io.throttle_write_iops_device()),
        ] {
            for device in list.iter().flatten() {
                // A rate of zero lifts the limit in v1; here the word for that is `max`.
                let rate = Some(device.rate()).filter(|&rate| rate != 0);
                let rate = rate.map_or_else(|| "max".to_owned(), |rate| rate.to_string());
                let value = format!("{}:{} {word}={rate}", device.major(), device.minor());
                self.one(key, Controller::Io, "io.max", value)?;
            }
        }
        Ok(())
    }
}

/// Refuses what only v1 knows about memory.
fn refuse_v1_memory(memory: &LinuxMemory) -> Result<(), LimitError> {
    let positive = |value: Option<i64>| value.is_some_and(|value| value > 0);
    for (limit, asked) in [
        ("memory.kernel", positive(memory.kernel())),
        ("memory.kernelTCP", positive(memory.kernel_tcp())),
        ("memory.swappiness", memory.swappiness().is_some()),
        ("memory.disableOOMKiller", memory.disable_oom_killer() == Some(true)),
    ] {
        if asked {
            return Err(LimitError::NotInVersion { limit, version: Version::V2 });
        }
    }
    Ok(())
}

fn or_max(value: i64) -> String {
    if value < 0 { "max".to_owned() } else { value.to_string() }
}
