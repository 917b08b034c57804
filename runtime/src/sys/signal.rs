//! Signals by number: nix names only those below the real-time ones.

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::unistd::Pid;

/// Sends signal `number` (0 only asks) to the process behind `pidfd`.
pub(crate) fn send_to_pidfd(pidfd: BorrowedFd<'_>, number: i32) -> nix::Result<()> {
    let info: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: a null siginfo is documented to mean "as kill(2) would fill it".
    let done =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), number, info, 0) };
    Errno::result(done).map(drop)
}

/// Sends signal `number` to the process `pid`.
pub(crate) fn send_to_pid(pid: Pid, number: i32) -> nix::Result<()> {
    // SAFETY: kill reads two integers and touches no memory of ours.
    let done = unsafe { libc::kill(pid.as_raw(), number) };
    Errno::result(done).map(drop)
}

/// The first and the last real-time signal that programs may use.
pub(crate) fn real_time() -> (i32, i32) {
    (libc::SIGRTMIN(), libc::SIGRTMAX())
}

/// Waits for any signal; all of them are blocked.
pub(crate) fn wait_any() -> nix::Result<i32> {
    let all = nix::sys::signal::SigSet::all();
    let info: *mut libc::siginfo_t = std::ptr::null_mut();
    // SAFETY: the set outlives the call; a null siginfo is documented to be left alone.
    let number = unsafe { libc::sigwaitinfo(std::ptr::from_ref(all.as_ref()), info) };
    Errno::result(number)
}
