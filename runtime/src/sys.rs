//! The door to the kernel: each function is one call, with owned descriptors and `Errno` out.
#![expect(unsafe_code, reason = "raw system calls that nix does not have")]

pub(crate) mod bpf;
pub(crate) mod clone;
pub(crate) mod descriptor;
pub(crate) mod id;
pub(crate) mod mount;
pub(crate) mod net;
pub(crate) mod placeholder;
pub(crate) mod process;
pub(crate) mod rehearsal;
pub(crate) mod schedule;
pub(crate) mod seccomp;
pub(crate) mod signal;
pub(crate) mod terminal;
pub(crate) mod tty;

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;

/// Takes ownership of the descriptor that a raw call returned.
fn owned(raw: libc::c_long) -> nix::Result<OwnedFd> {
    let raw = RawFd::try_from(Errno::result(raw)?).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel made `raw` for the call that was just made and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}
