//! `capabilities.limits` and `capabilities.resources`: bounds of guests and of subprocesses.

use std::num::NonZeroU64;

use crate::block::block;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A default written in this file.
const fn positive(value: u64) -> NonZeroU64 {
    NonZeroU64::new(value).expect("a default of a table below is not zero")
}

block! {
    /// Bounds of a WASM guest, in its store; they bound no process.
    pub struct Limits: Default {
        /// Linear memory, in bytes.
        default memory_bytes: NonZeroU64 = positive(512 * MIB),
        /// Elements of all tables.
        default table_elements: NonZeroU64 = positive(100_000),
        /// Instances in one store.
        default instances: NonZeroU64 = positive(1_000),
        /// Wall clock of one call, in seconds.
        default deadline_seconds: NonZeroU64 = positive(600),
    }
}

block! {
    /// Bounds the operating system puts on subprocesses. Omitted is the default, never unlimited.
    pub struct Resources: Default {
        /// Processes above the user's live count, where there is no cgroup (`RLIMIT_NPROC`).
        default max_processes: NonZeroU64 = positive(128),
        /// Open files of one process (`RLIMIT_NOFILE`).
        default max_open_files: NonZeroU64 = positive(1024),
        /// Size of one file, in bytes (`RLIMIT_FSIZE`).
        default max_file_size_bytes: NonZeroU64 = positive(4 * GIB),
        /// Processor time of one process, in seconds (`RLIMIT_CPU`).
        default cpu_seconds: NonZeroU64 = positive(3600),
        /// Address space of one process, in bytes (`RLIMIT_AS`).
        default memory_bytes: NonZeroU64 = positive(2 * GIB),
        /// Memory of all processes together, in bytes (`memory.max`).
        default cgroup_memory_bytes: NonZeroU64 = positive(4 * GIB),
        /// Processes together (`pids.max`).
        default cgroup_pids_max: NonZeroU64 = positive(256),
        /// Processor share together, in percent of one core (`cpu.max`).
        default cgroup_cpu_percent: NonZeroU64 = positive(200),
        /// Disk traffic on the work folder's device, in bytes a second each way (`io.max`).
        default cgroup_io_bytes_per_sec: NonZeroU64 = positive(100 * MIB),
        /// Work folder, temporary folder and home folder together, in bytes.
        default workdir_max_bytes: NonZeroU64 = positive(10 * GIB),
    }
}
