//! Processes by pidfd.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Opens a handle to `pid` that stays right after the number is reused.
pub(crate) fn pidfd_open(pid: Pid) -> nix::Result<OwnedFd> {
    // SAFETY: pidfd_open reads two integers and touches no memory of ours.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let raw = RawFd::try_from(Errno::result(raw)?).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel made `raw` for this call and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Sends `signal` to the process behind `pidfd`.
pub(crate) fn pidfd_send_signal(pidfd: BorrowedFd<'_>, signal: Signal) -> nix::Result<()> {
    let info: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: a null siginfo is documented to mean "as kill(2) would fill it".
    let done = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal as i32, info, 0)
    };
    Errno::result(done).map(drop)
}

/// Kills a child of ours and reaps it; a process that is gone already is fine.
pub(crate) fn kill_and_reap(pidfd: BorrowedFd<'_>) {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let _ = pidfd_send_signal(pidfd, Signal::SIGKILL);
    while waitid(Id::PIDFd(pidfd), WaitPidFlag::WEXITED) == Err(Errno::EINTR) {}
}
