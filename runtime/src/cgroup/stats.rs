//! Reads what a group used, in the shape that `events --stats` of runc prints.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::place::Placement;
use crate::kernel_file::read_text;

/// Usage of a container, one reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    cpu: Cpu,
    cpuset: Cpuset,
    memory: Memory,
    pids: Pids,
    blkio: Blkio,
    hugetlb: BTreeMap<String, Hugetlb>,
    intel_rdt: BTreeMap<String, u64>,
    network_interfaces: Option<Vec<u64>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Cpu {
    usage: CpuUsage,
    throttling: Throttling,
}

/// Nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct CpuUsage {
    total: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    percpu: Vec<u64>,
    kernel: u64,
    user: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Throttling {
    periods: u64,
    #[serde(rename = "throttledPeriods")]
    throttled_periods: u64,
    /// Nanoseconds.
    #[serde(rename = "throttledTime")]
    throttled_time: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Cpuset {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cpus: Vec<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mems: Vec<u16>,
}

/// Bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Memory {
    cache: u64,
    usage: MemoryEntry,
    swap: MemoryEntry,
    kernel: MemoryEntry,
    #[serde(rename = "kernelTCP")]
    kernel_tcp: MemoryEntry,
    raw: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct MemoryEntry {
    limit: u64,
    usage: u64,
    max: u64,
    failcnt: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Pids {
    current: u64,
    /// Absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Blkio {
    #[serde(rename = "ioServiceBytesRecursive", skip_serializing_if = "Vec::is_empty")]
    bytes: Vec<BlkioEntry>,
    #[serde(rename = "ioServicedRecursive", skip_serializing_if = "Vec::is_empty")]
    operations: Vec<BlkioEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct BlkioEntry {
    major: u64,
    minor: u64,
    op: String,
    value: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Hugetlb {
    usage: u64,
    max: u64,
    failcnt: u64,
}

/// Events that tell why a process of a container ended or could not start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Times the memory limit was reached and nothing could be reclaimed.
    pub oom: u64,
    /// Processes the kernel killed for memory.
    pub oom_kill: u64,
    /// Times a new task was refused by the limit of tasks.
    pub pids_refused: u64,
}

impl Placement {
    /// Reads the usage; what the host does not count is zero.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats { network_interfaces: None, ..Stats::default() };
        stats.cpu = self.cpu();
        stats.memory = self.memory();
        if let Some(folder) = self.v1_of("pids").or(self.v2.as_deref()) {
            stats.pids.current = number(folder, "pids.current");
            stats.pids.limit = word(folder, "pids.max").parse().ok();
        }
        if let Some(folder) = self.v1_of("cpuset").or(self.v2.as_deref()) {
            stats.cpuset.cpus = list(&word(folder, "cpuset.cpus"));
            stats.cpuset.mems = list(&word(folder, "cpuset.mems"));
        }
        stats.blkio = match (self.v1_of("blkio"), &self.v2) {
            (Some(folder), _) => blkio_v1(folder),
            (None, Some(folder)) => blkio_v2(folder),
            (None, None) => Blkio::default(),
        };
        if let Some(folder) = self.v1_of("hugetlb").or(self.v2.as_deref()) {
            stats.hugetlb = hugetlb(folder);
        }
        stats
    }

    /// Reads the events.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        if let Some(folder) = self.v1_of("memory") {
            let events = pairs(folder, "memory.oom_control");
            counters.oom_kill = events.get("oom_kill").copied().unwrap_or(0);
            counters.oom = counters.oom_kill;
        } else if let Some(folder) = &self.v2 {
            let events = pairs(folder, "memory.events");
            counters.oom = events.get("oom").copied().unwrap_or(0);
            counters.oom_kill = events.get("oom_kill").copied().unwrap_or(0);
        }
        if let Some(folder) = self.v1_of("pids").or(self.v2.as_deref()) {
            counters.pids_refused = pairs(folder, "pids.events").get("max").copied().unwrap_or(0);
        }
        counters
    }

    fn cpu(&self) -> Cpu {
        let mut cpu = Cpu::default();
        if let Some(folder) = self.v1_of("cpuacct") {
            cpu.usage.total = number(folder, "cpuacct.usage");
            let percpu = word(folder, "cpuacct.usage_percpu");
            cpu.usage.percpu = percpu.split(' ').filter_map(|n| n.parse().ok()).collect();
            cpu.usage.kernel = number(folder, "cpuacct.usage_sys");
            cpu.usage.user = number(folder, "cpuacct.usage_user");
        } else if let Some(folder) = &self.v2 {
            let stat = pairs(folder, "cpu.stat");
            let micros = |key: &str| stat.get(key).copied().unwrap_or(0).saturating_mul(1000);
            cpu.usage.total = micros("usage_usec");
            cpu.usage.kernel = micros("system_usec");
            cpu.usage.user = micros("user_usec");
        }
        if let Some(folder) = self.v1_of("cpu").or(self.v2.as_deref()) {
            let stat = pairs(folder, "cpu.stat");
            let get = |key: &str| stat.get(key).copied();
            cpu.throttling.periods = get("nr_periods").unwrap_or(0);
            cpu.throttling.throttled_periods = get("nr_throttled").unwrap_or(0);
            let micros = get("throttled_usec").map(|us| us.saturating_mul(1000));
            cpu.throttling.throttled_time = get("throttled_time").or(micros).unwrap_or(0);
        }
        cpu
    }

    fn memory(&self) -> Memory {
        if let Some(folder) = self.v1_of("memory") {
            let raw = pairs(folder, "memory.stat");
            let entry = |name: &str| {
                let file = |end: &str| number(folder, &format!("memory.{name}{end}"));
                MemoryEntry {
                    limit: file("limit_in_bytes"),
                    usage: file("usage_in_bytes"),
                    max: file("max_usage_in_bytes"),
                    failcnt: file("failcnt"),
                }
            };
            return Memory {
                cache: raw.get("cache").copied().unwrap_or(0),
                usage: entry(""),
                swap: entry("memsw."),
                kernel: entry("kmem."),
                kernel_tcp: entry("kmem.tcp."),
                raw,
            };
        }
        let Some(folder) = &self.v2 else { return Memory::default() };
        let raw = pairs(folder, "memory.stat");
        let events = pairs(folder, "memory.events");
        let usage = MemoryEntry {
            limit: number(folder, "memory.max"),
            usage: number(folder, "memory.current"),
            max: number(folder, "memory.peak"),
            failcnt: events.get("max").copied().unwrap_or(0),
        };
        // As in v1, memory and swap together.
        let swap = MemoryEntry {
            limit: number(folder, "memory.swap.max").saturating_add(usage.limit),
            usage: number(folder, "memory.swap.current").saturating_add(usage.usage),
            max: number(folder, "memory.swap.peak"),
            failcnt: 0,
        };
        let cache = raw.get("file").copied().unwrap_or(0);
        Memory { cache, usage, swap, raw, ..Memory::default() }
    }
}

/// The first line of a file, empty when it cannot be read.
fn word(folder: &Path, file: &str) -> String {
    let text = read_text(folder.join(file)).unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The number in a file; `max` is the largest, a missing file zero.
fn number(folder: &Path, file: &str) -> u64 {
    let word = word(folder, file);
    if word == "max" { u64::MAX } else { word.parse().unwrap_or(0) }
}

/// A file of lines `key number`.
fn pairs(folder: &Path, file: &str) -> BTreeMap<String, u64> {
    let text = read_text(folder.join(file)).unwrap_or_default();
    let line = |line: &str| {
        let (key, value) = line.split_once(' ')?;
        Some((key.to_owned(), value.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// The numbers of a list such as `0-3,7`.
fn list(text: &str) -> Vec<u16> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

fn device(text: &str) -> Option<(u64, u64)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn blkio_v1(folder: &Path) -> Blkio {
    let entries = |file: &str| {
        let text = read_text(folder.join(file)).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.split(' ');
            let (major, minor) = device(words.next()?)?;
            let op = words.next()?.to_owned();
            let value = words.next()?.parse().ok()?;
            Some(BlkioEntry { major, minor, op, value })
        };
        text.lines().filter_map(line).collect()
    };
    Blkio {
        bytes: entries("blkio.throttle.io_service_bytes_recursive"),
        operations: entries("blkio.throttle.io_serviced_recursive"),
    }
}

fn blkio_v2(folder: &Path) -> Blkio {
    let mut blkio = Blkio::default();
    for line in read_text(folder.join("io.stat")).unwrap_or_default().lines() {
        let mut words = line.split(' ');
        let Some((major, minor)) = words.next().and_then(device) else { continue };
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            let Ok(value) = value.parse() else { continue };
            let (list, op) = match key {
                "rbytes" => (&mut blkio.bytes, "Read"),
                "wbytes" => (&mut blkio.bytes, "Write"),
                "dbytes" => (&mut blkio.bytes, "Discard"),
                "rios" => (&mut blkio.operations, "Read"),
                "wios" => (&mut blkio.operations, "Write"),
                "dios" => (&mut blkio.operations, "Discard"),
                _ => continue,
            };
            list.push(BlkioEntry { major, minor, op: op.to_owned(), value });
        }
    }
    blkio
}

fn hugetlb(folder: &Path) -> BTreeMap<String, Hugetlb> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix("hugetlb.") else { continue };
        let Some((page, file)) = rest.split_once('.') else { continue };
        let value = number(folder, &name);
        let stats: &mut Hugetlb = found.entry(page.to_owned()).or_default();
        match file {
            "usage_in_bytes" | "current" => stats.usage = value,
            "max_usage_in_bytes" => stats.max = value,
            "failcnt" => stats.failcnt = value,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_v2_group_is_read_in_the_shape_of_runc() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            (
                "cpu.stat",
                "usage_usec 7\nuser_usec 4\nsystem_usec 3\nnr_periods 2\nnr_throttled 1\nthrottled_usec 9\n",
            ),
            ("memory.current", "100\n"),
            ("memory.max", "max\n"),
            ("memory.stat", "anon 5\nfile 6\n"),
            ("memory.events", "low 0\nmax 3\noom 2\noom_kill 1\n"),
            ("memory.swap.current", "11\n"),
            ("pids.current", "4\n"),
            ("pids.max", "50\n"),
            ("pids.events", "max 8\n"),
            ("io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"),
            ("hugetlb.2MB.current", "4096\n"),
            ("cpuset.cpus", "0-1,3\n"),
        ] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        let placement = Placement { v2: Some(folder.path().to_path_buf()), ..Placement::default() };
        let stats = serde_json::to_value(placement.stats()).unwrap();
        for (pointer, value) in [
            ("/cpu/usage/total", 7000),
            ("/cpu/throttling/throttledTime", 9000),
            ("/memory/usage/usage", 100),
            ("/memory/swap/usage", 111),
            ("/memory/cache", 6),
            ("/memory/raw/anon", 5),
            ("/memory/usage/failcnt", 3),
            ("/pids/limit", 50),
            ("/blkio/ioServicedRecursive/1/value", 4),
            ("/hugetlb/2MB/usage", 4096),
            ("/cpuset/cpus/2", 3),
        ] {
            assert_eq!(stats.pointer(pointer), Some(&value.into()), "{pointer} in {stats}");
        }
        let counters = placement.counters();
        assert_eq!(counters, Counters { oom: 2, oom_kill: 1, pids_refused: 8 });
    }

    #[test]
    fn a_container_without_groups_used_nothing() {
        assert_eq!(Placement::default().stats(), Stats::default());
    }
}
