//! The size of a terminal's window.

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;

/// Reads the size.
pub(crate) fn window_size(terminal: BorrowedFd<'_>) -> nix::Result<libc::winsize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one `winsize`, which `size` is.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    Errno::result(done).map(|_| size)
}

/// Sets the size; the programs in it get SIGWINCH.
pub(crate) fn set_window_size(terminal: BorrowedFd<'_>, size: libc::winsize) -> nix::Result<()> {
    // SAFETY: TIOCSWINSZ reads one `winsize`, which `size` is.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    Errno::result(done).map(drop)
}
