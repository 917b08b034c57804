//! Pseudo-terminals.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;

/// Lets the other end of the pair behind `master` be opened.
pub(crate) fn unlock(master: BorrowedFd<'_>) -> nix::Result<()> {
    let off: libc::c_int = 0;
    // SAFETY: TIOCSPTLCK reads one int, which outlives the call.
    let done = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const off) };
    Errno::result(done).map(drop)
}

/// Opens the other end of the pair behind `master` without any path.
pub(crate) fn open_peer(master: BorrowedFd<'_>) -> nix::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: TIOCGPTPEER takes open flags by value.
    let raw = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER, flags) };
    super::owned(libc::c_long::from(raw))
}

/// Sets the size of a terminal in characters.
pub(crate) fn set_size(terminal: BorrowedFd<'_>, rows: u16, columns: u16) -> nix::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCSWINSZ reads one winsize, which outlives the call.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    Errno::result(done).map(drop)
}

/// Makes `terminal` the controlling terminal of this session.
pub(crate) fn make_controlling(terminal: BorrowedFd<'_>) -> nix::Result<()> {
    // SAFETY: TIOCSCTTY takes one integer by value.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSCTTY, 0) };
    Errno::result(done).map(drop)
}
