//! Takes ownership of descriptors that the kernel gave as plain numbers.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Owns a descriptor that came with `SCM_RIGHTS`.
pub(crate) fn own_received(raw: RawFd) -> OwnedFd {
    // SAFETY: recvmsg made `raw` for this process, and the caller took it out of the message once.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

/// True when `number` is an open descriptor of this process.
pub(crate) fn is_open(number: RawFd) -> bool {
    // SAFETY: F_GETFD only reads a flag, and answers EBADF for a number that is not open.
    (unsafe { libc::fcntl(number, libc::F_GETFD) }) != -1
}
