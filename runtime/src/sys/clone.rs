//! Makes processes and moves between namespaces.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::unistd::Pid;

/// `CLONE_NEW*` bits; time is among them, which `nix::sched::CloneFlags` lacks.
pub(crate) type NamespaceFlags = u64;

/// `CLONE_NEWTIME`: not in nix.
pub(crate) const CLONE_NEWTIME: NamespaceFlags = 0x80;

/// How [`clone3`] makes the process.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct CloneRequest<'a> {
    /// New namespaces.
    pub namespaces: NamespaceFlags,
    /// The cgroup v2 directory it is born in.
    pub cgroup: Option<BorrowedFd<'a>>,
    /// Make a sibling instead of a child (`CLONE_PARENT`).
    pub sibling: bool,
}

/// Which side of a [`clone3`] this is.
#[derive(Debug)]
pub(crate) enum Side {
    /// The caller: the new process and a handle to it.
    Parent(Pid, OwnedFd),
    /// The new process.
    Child,
}

/// Makes a process that shares nothing with the caller (as fork), in new namespaces.
///
/// The caller must have one thread: the child goes on running ordinary code.
pub(crate) fn clone3(request: CloneRequest<'_>) -> nix::Result<Side> {
    let mut pidfd: RawFd = -1;
    let mut flags = request.namespaces | libc::CLONE_PIDFD as u64 | 0x1_0000_0000; // CLEAR_SIGHAND
    let mut cgroup = 0;
    if let Some(directory) = request.cgroup {
        flags |= 0x2_0000_0000; // CLONE_INTO_CGROUP
        cgroup = u64::try_from(directory.as_raw_fd()).map_err(|_| Errno::EBADF)?;
    }
    let mut exit_signal = libc::SIGCHLD as u64;
    if request.sibling {
        flags |= libc::CLONE_PARENT as u64;
        exit_signal = 0; // the kernel takes the caller's own
    }
    let arguments = libc::clone_args {
        flags,
        pidfd: std::ptr::from_mut(&mut pidfd) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup,
    };
    // SAFETY: no CLONE_VM: parent and child go on with their own copy of this stack, as after fork.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>())
    };
    match Errno::result(pid)? {
        0 => Ok(Side::Child),
        pid => {
            let pid = i32::try_from(pid).map_err(|_| Errno::EINVAL)?;
            Ok(Side::Parent(Pid::from_raw(pid), super::owned(libc::c_long::from(pidfd))?))
        }
    }
}

/// Enters the namespace behind `descriptor`, or with a pidfd all of `kinds` of that process at once.
pub(crate) fn setns(descriptor: impl AsFd, kinds: NamespaceFlags) -> nix::Result<()> {
    let kinds = libc::c_int::try_from(kinds).map_err(|_| Errno::EINVAL)?;
    // SAFETY: setns reads two integers and touches no memory of ours.
    let done = unsafe { libc::setns(descriptor.as_fd().as_raw_fd(), kinds) };
    Errno::result(done).map(drop)
}

/// Leaves the namespaces of `kinds` for new ones.
pub(crate) fn unshare(kinds: NamespaceFlags) -> nix::Result<()> {
    let kinds = libc::c_int::try_from(kinds).map_err(|_| Errno::EINVAL)?;
    // SAFETY: unshare reads one integer and touches no memory of ours.
    let done = unsafe { libc::unshare(kinds) };
    Errno::result(done).map(drop)
}

/// Ends this process at once: no destructor and no exit handler of the copied program runs.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit has no precondition.
    unsafe { libc::_exit(code) }
}
