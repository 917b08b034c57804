//! Decides which properties of a unit say what `linux.resources` asks.
//!
//! The limits are written to the control files as well; the properties keep systemd from putting
//! its own values there when it reloads.

use oci_spec::runtime::{LinuxCpu, LinuxMemory, LinuxResources};

use super::super::layout::Version;
use super::super::limit::convert;
use super::message::Value;

/// A property and its value.
pub(in super::super) type Property = (&'static str, Value);

/// What systemd calls "no limit".
const UNLIMITED: u64 = u64::MAX;

/// The properties for `resources` on a host whose controllers are those of `version`.
pub(in super::super) fn of_resources(
    resources: &LinuxResources,
    version: Version,
) -> Vec<Property> {
    let mut list = Vec::new();
    if let Some(memory) = resources.memory() {
        of_memory(memory, version, &mut list);
    }
    if let Some(cpu) = resources.cpu() {
        of_cpu(cpu, version, &mut list);
    }
    if let Some(pids) = resources.pids() {
        // Zero is no value for systemd; one process that cannot fork is the same.
        list.push(("TasksMax", Value::Number(bytes(pids.limit()).max(1))));
    }
    let weight = resources.block_io().as_ref().and_then(oci_spec::runtime::LinuxBlockIo::weight);
    if let Some(weight) = weight.filter(|&weight| weight != 0) {
        list.push(match version {
            Version::V1 => ("BlockIOWeight", Value::Number(u64::from(weight))),
            Version::V2 => ("IOWeight", Value::Number(convert::io_weight_of_blkio(weight))),
        });
    }
    list
}

fn of_memory(memory: &LinuxMemory, version: Version, list: &mut Vec<Property>) {
    let set = |value: Option<i64>| value.filter(|&value| value != 0);
    if let Some(limit) = set(memory.limit()) {
        let name = if version == Version::V1 { "MemoryLimit" } else { "MemoryMax" };
        list.push((name, Value::Number(bytes(limit))));
    }
    if version == Version::V1 {
        return;
    }
    if let Some(low) = set(memory.reservation()) {
        list.push(("MemoryLow", Value::Number(bytes(low))));
    }
    let alone = convert::swap_alone(memory.limit().unwrap_or(0), memory.swap().unwrap_or(0));
    if let Ok(Some(alone)) = alone {
        list.push(("MemorySwapMax", Value::Number(alone.parse().unwrap_or(UNLIMITED))));
    }
}

fn of_cpu(cpu: &LinuxCpu, version: Version, list: &mut Vec<Property>) {
    if let Some(shares) = cpu.shares().filter(|&shares| shares != 0) {
        list.push(match version {
            Version::V1 => ("CPUShares", Value::Number(shares)),
            Version::V2 => ("CPUWeight", Value::Number(convert::weight_of_shares(shares))),
        });
    }
    let quota = cpu.quota().filter(|&us| us != 0);
    let period = cpu.period().filter(|&us| us != 0);
    if let Some(period) = period {
        list.push(("CPUQuotaPeriodUSec", Value::Number(period)));
    }
    if let Some(quota) = quota {
        let per_second = match u64::try_from(quota) {
            Err(_) => UNLIMITED,
            Ok(quota) => {
                // systemd keeps whole percents: round up, the file gets the exact value.
                let exact = quota.saturating_mul(1_000_000) / period.unwrap_or(100_000);
                exact.next_multiple_of(10_000)
            }
        };
        list.push(("CPUQuotaPerSecUSec", Value::Number(per_second)));
    }
    if version == Version::V2 {
        for (name, text) in [("AllowedCPUs", cpu.cpus()), ("AllowedMemoryNodes", cpu.mems())] {
            if let Some(bits) = text.as_deref().and_then(bitmap) {
                list.push((name, Value::Bytes(bits)));
            }
        }
    }
}

fn bytes(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(UNLIMITED)
}

/// A list such as `0-3,7` as a bitmap, lowest bit first; `None`: it is not such a list.
fn bitmap(text: &str) -> Option<Vec<u8>> {
    let mut bits = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > 0xffff {
            return None;
        }
        for number in first..=last {
            if bits.len() <= number / 8 {
                bits.resize(number / 8 + 1, 0);
            }
            bits[number / 8] |= 1 << (number % 8);
        }
    }
    (!bits.is_empty()).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_become_bitmaps() {
        for (text, bits) in [
            ("0", Some(vec![1])),
            ("0-3,7", Some(vec![0x8f])),
            ("8,1", Some(vec![2, 1])),
            ("", None),
            ("3-1", None),
            ("x", None),
            ("0-99999999", None),
        ] {
            assert_eq!(bitmap(text), bits, "{text}");
        }
    }

    #[test]
    fn limits_are_said_in_systemds_words_of_each_version() {
        let resources = serde_json::from_value(serde_json::json!({
            "memory": {"limit": 1000, "swap": 1500, "reservation": 10},
            "cpu": {"shares": 1024, "quota": 15500, "period": 100_000, "cpus": "0"},
            "pids": {"limit": 0},
        }))
        .unwrap();
        let n = Value::Number;
        assert_eq!(
            of_resources(&resources, Version::V2),
            [
                ("MemoryMax", n(1000)),
                ("MemoryLow", n(10)),
                ("MemorySwapMax", n(500)),
                ("CPUWeight", n(100)),
                ("CPUQuotaPeriodUSec", n(100_000)),
                ("CPUQuotaPerSecUSec", n(160_000)),
                ("AllowedCPUs", Value::Bytes(vec![1])),
                ("TasksMax", n(1)),
            ]
        );
        assert_eq!(
            of_resources(&resources, Version::V1)[..2],
            [("MemoryLimit", n(1000)), ("CPUShares", n(1024)),]
        );
    }
}
