//! Where, when and on which memory a process runs.

use nix::errno::Errno;
use nix::unistd::Pid;

/// `struct sched_attr` of `sched_setattr`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchedAttr {
    /// Bytes of this struct.
    pub size: u32,
    /// `SCHED_*`.
    pub policy: u32,
    /// `SCHED_FLAG_*`.
    pub flags: u64,
    /// For `SCHED_OTHER` and `SCHED_BATCH`.
    pub nice: i32,
    /// For `SCHED_FIFO` and `SCHED_RR`.
    pub priority: u32,
    /// For `SCHED_DEADLINE`, ns.
    pub runtime: u64,
    /// For `SCHED_DEADLINE`, ns.
    pub deadline: u64,
    /// For `SCHED_DEADLINE`, ns.
    pub period: u64,
    /// Utilisation hints.
    pub util_min: u32,
    /// Utilisation hints.
    pub util_max: u32,
}

/// Sets the scheduling of this process.
pub(crate) fn sched_setattr(mut attr: SchedAttr) -> nix::Result<()> {
    attr.size = u32::try_from(size_of::<SchedAttr>()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: `attr` has the layout and size it says, and outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw mut attr, 0) };
    Errno::result(done).map(drop)
}

/// Sets the I/O class and level of this process.
pub(crate) fn ioprio_set(value: u32) -> nix::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: ioprio_set reads three integers.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) };
    Errno::result(done).map(drop)
}

/// Lets this process run on `cpus` only: bit n of word n / 64 is cpu n.
pub(crate) fn set_affinity(cpus: &[u64]) -> nix::Result<()> {
    // SAFETY: `cpus` outlives the call and its length is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            Pid::from_raw(0).as_raw(),
            size_of_val(cpus),
            cpus.as_ptr(),
        )
    };
    Errno::result(done).map(drop)
}

/// The cpus this process may run on.
pub(crate) fn affinity() -> nix::Result<Vec<u64>> {
    let mut cpus = vec![0u64; 1024];
    // SAFETY: `cpus` outlives the call and its length in bytes is given.
    let bytes = unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            0,
            size_of_val(cpus.as_slice()),
            cpus.as_mut_ptr(),
        )
    };
    let bytes = usize::try_from(Errno::result(bytes)?).map_err(|_| Errno::EINVAL)?;
    cpus.truncate(bytes / size_of::<u64>());
    Ok(cpus)
}

/// Sets the memory policy of this process; bit n of word n / 64 is node n.
pub(crate) fn set_mempolicy(mode: i32, nodes: &[u64]) -> nix::Result<()> {
    // The kernel reads one bit less than it is told: mempolicy.c, get_nodes.
    let bits = nodes.len() * 64 + usize::from(!nodes.is_empty());
    let mask = if nodes.is_empty() { std::ptr::null() } else { nodes.as_ptr() };
    // SAFETY: `mask` is null with 0 bits, or has all words of those bits the kernel reads.
    let done = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, bits) };
    Errno::result(done).map(drop)
}

/// Sets the execution domain of this process.
pub(crate) fn personality(domain: u64) -> nix::Result<()> {
    // SAFETY: personality reads one integer.
    let done = unsafe { libc::syscall(libc::SYS_personality, domain) };
    Errno::result(done).map(drop)
}
