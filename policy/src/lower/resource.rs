//! `capabilities.resources`: bounds with their defaults, which are never "unlimited".

use mur_manifest::manifest::Resources as Declared;

use super::Findings;
use crate::Resources;

/// The block's keys, in the order of the format.
const NAMES: [&str; 10] = [
    "max_processes",
    "max_open_files",
    "max_file_size_bytes",
    "cpu_seconds",
    "memory_bytes",
    "cgroup_memory_bytes",
    "cgroup_pids_max",
    "cgroup_cpu_percent",
    "cgroup_io_bytes_per_sec",
    "workdir_max_bytes",
];

/// Lowers the block; an absent one is the defaults.
pub(super) fn lower(block: Option<&Declared>, findings: &Findings<'_>) -> Resources {
    let Declared {
        max_processes,
        max_open_files,
        max_file_size_bytes,
        cpu_seconds,
        memory_bytes,
        cgroup_memory_bytes,
        cgroup_pids_max,
        cgroup_cpu_percent,
        cgroup_io_bytes_per_sec,
        workdir_max_bytes,
    } = block.cloned().unwrap_or_default();
    let written = |name: &&str| findings.is_written(&format!("capabilities.resources.{name}"));
    Resources {
        max_processes: max_processes.get(),
        max_open_files: max_open_files.get(),
        max_file_size_bytes: max_file_size_bytes.get(),
        cpu_seconds: cpu_seconds.get(),
        memory_bytes: memory_bytes.get(),
        cgroup_memory_bytes: cgroup_memory_bytes.get(),
        cgroup_pids_max: cgroup_pids_max.get(),
        cgroup_cpu_percent: cgroup_cpu_percent.get(),
        cgroup_io_bytes_per_sec: cgroup_io_bytes_per_sec.get(),
        workdir_max_bytes: workdir_max_bytes.get(),
        declared: NAMES.into_iter().filter(written).map(str::to_owned).collect(),
    }
}
