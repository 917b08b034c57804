//! How much of the machine may be used.

use std::collections::BTreeMap;

use oci_spec::runtime::{LinuxBlockIo, LinuxResources, LinuxThrottleDevice, Spec};

use super::{Changes, Direction};

/// Compares every limit; one that is not there is none.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let (was, is) = (limits(before), limits(after));
    let names: std::collections::BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    for name in names {
        let (old, new) = (was.get(name).copied(), is.get(name).copied());
        let rank = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
        let text = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |it| it.to_string());
        if rank(old) != rank(new) {
            let wider = rank(new) > rank(old);
            let direction = if wider { Direction::Wider } else { Direction::Narrower };
            changes.add(direction, name.clone(), text(old), text(new));
        }
    }
}

/// Every limit by its name, lower is stricter.
fn limits(spec: &Spec) -> BTreeMap<String, u64> {
    let mut limits = BTreeMap::new();
    let rlimits = spec.process().as_ref().and_then(|process| process.rlimits().as_ref());
    for limit in rlimits.into_iter().flatten() {
        limits.insert(limit.typ().to_string(), limit.hard());
    }
    let resources = spec.linux().as_ref().and_then(|linux| linux.resources().as_ref());
    if let Some(resources) = resources {
        limits.extend(of_control_group(resources));
    }
    limits
}

fn of_control_group(resources: &LinuxResources) -> Vec<(String, u64)> {
    let memory = resources.memory().as_ref();
    let cpu = resources.cpu().as_ref();
    let share = cpu.and_then(|cpu| {
        let period = cpu.period().filter(|period| *period > 0)?;
        Some(u64::try_from(cpu.quota()?).ok()?.saturating_mul(100) / period)
    });
    let signed = |value: i64| u64::try_from(value).ok();
    let mut limits = vec![
        ("memory (bytes)", memory.and_then(|memory| signed(memory.limit()?))),
        ("memory and swap (bytes)", memory.and_then(|memory| signed(memory.swap()?))),
        ("processes", resources.pids().as_ref().and_then(|pids| signed(pids.limit()))),
        ("processor (percent)", share),
    ];
    let block = resources.block_io().as_ref();
    limits.push(("disk reads (bytes a second)", block.and_then(|own| lowest(own, true))));
    limits.push(("disk writes (bytes a second)", block.and_then(|own| lowest(own, false))));
    limits.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?))).collect()
}

fn lowest(block: &LinuxBlockIo, reads: bool) -> Option<u64> {
    let devices =
        if reads { block.throttle_read_bps_device() } else { block.throttle_write_bps_device() };
    devices.iter().flatten().map(LinuxThrottleDevice::rate).min()
}
