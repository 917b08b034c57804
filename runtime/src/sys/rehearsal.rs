//! What probes need to try a thing in a throw-away child.

use nix::errno::Errno;
use nix::unistd::{ForkResult, Pid, fork};

/// Forks; `work` runs in the child, which then ends at once: no destructor and no exit handler of the copied
/// program runs.
///
/// The caller must have one thread: the child goes on running ordinary code.
pub(crate) fn in_child(work: impl FnOnce()) -> nix::Result<Pid> {
    // SAFETY: this process has one thread, so no lock is held by a thread that the child lacks.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            work();
            // SAFETY: _exit has no precondition.
            unsafe { libc::_exit(0) }
        }
    }
}

/// Asks the kernel about Landlock itself: 1 for its ABI, 2 for its errata.
pub(crate) fn landlock_query(flags: u32) -> nix::Result<u32> {
    // SAFETY: with one of these flags and no attributes, the call reads and writes no memory.
    let answer = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, flags)
    };
    Errno::result(answer).map(|answer| u32::try_from(answer).unwrap_or(0))
}

/// Loads a filter that allows everything, onto this thread for good.
pub(crate) fn load_empty_filter() -> nix::Result<()> {
    const MODE_FILTER: libc::c_uint = 1;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    let mut allow = libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW };
    let program = libc::sock_fprog { len: 1, filter: &raw mut allow };
    // SAFETY: `program` and the one instruction it points to outlive the call.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, MODE_FILTER, 0, &raw const program) };
    Errno::result(done).map(drop)
}

/// Whether the kernel has `mount_setattr`: it refuses a missing argument instead of not knowing the call.
pub(crate) fn has_mount_setattr() -> bool {
    let empty: *const libc::c_char = c"".as_ptr();
    // SAFETY: the path is static, and a size of zero with no attributes reads nothing.
    let done = unsafe {
        libc::syscall(libc::SYS_mount_setattr, -1, empty, 0, std::ptr::null::<u8>(), 0_usize)
    };
    Errno::result(done) != Err(Errno::ENOSYS)
}
