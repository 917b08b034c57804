//! What probes need to try a thing in a throw-away child, or on a mount that is never attached.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

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

/// A mount of `folder` that is attached nowhere, and goes away with the descriptor.
pub(crate) fn detached_mount(folder: &CStr) -> nix::Result<OwnedFd> {
    const OPEN_TREE_CLONE: libc::c_int = 1;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC;
    // SAFETY: the path is NUL-terminated and outlives the call.
    let raw = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, folder.as_ptr(), flags) };
    let raw = RawFd::try_from(Errno::result(raw)?).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel made `raw` for this call and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Translates the owners of a detached mount by the map of a user namespace.
pub(crate) fn map_owners(mount: BorrowedFd<'_>, userns: BorrowedFd<'_>) -> nix::Result<()> {
    const MOUNT_ATTR_IDMAP: u64 = 0x0010_0000;
    let userns = u64::try_from(userns.as_raw_fd()).map_err(|_| Errno::EBADF)?;
    let attributes = libc::mount_attr {
        attr_set: MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        propagation: 0,
        userns_fd: userns,
    };
    let empty: *const libc::c_char = c"".as_ptr();
    // SAFETY: the path is static, `attributes` outlives the call and its size is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            empty,
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    Errno::result(done).map(drop)
}

/// Brings the loopback interface of the current network namespace up, through any socket of that namespace.
pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> nix::Result<()> {
    let flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags },
    };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    // SAFETY: `request` is what SIOCSIFFLAGS reads, and outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) };
    Errno::result(done).map(drop)
}

/// A path as the kernel takes it.
pub(crate) fn c_path(path: &std::path::Path) -> nix::Result<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)
}
