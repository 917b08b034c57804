//! The container's terminal: a pair of its own devpts, its master sent to whoever shows it.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::sys::stat::{Mode, fchmod, fstat, major, minor};
use nix::sys::statfs::{DEVPTS_SUPER_MAGIC, fstatfs};
use nix::unistd::{Uid, fchown};

use super::beneath::Beneath;
use super::fault::Fault;
use crate::plan::Terminal;
use crate::sys::mount::{Depth, move_mount, open_tree_clone};
use crate::sys::{process, tty};

/// Whether `/dev/console` shows the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Console {
    /// The container's first terminal: it does.
    Mounted,
    /// A later process's terminal.
    Absent,
}

/// Makes the terminal and makes it the standard streams.
pub(super) fn make(
    root: Beneath<'_>,
    terminal: &Terminal,
    socket: BorrowedFd<'_>,
    console: Console,
) -> Result<(), Fault> {
    let master = open_master(root)?;
    tty::unlock(master.as_fd())?;
    let slave = tty::open_peer(master.as_fd())?;
    if let Some((rows, columns)) = terminal.size {
        tty::set_size(slave.as_fd(), rows, columns)?;
    }
    match fchown(&slave, Some(Uid::from_raw(terminal.uid)), None) {
        // An owner that the user namespace does not map: it stays the maker's.
        Ok(()) | Err(Errno::EINVAL | Errno::EPERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    if console == Console::Mounted {
        show_console(root, slave.as_fd())?;
    }
    send(socket, master.as_fd()).map_err(Fault::part("sending it to the console socket"))?;
    for number in 0..3 {
        process::duplicate_to(slave.as_fd(), number)?;
    }
    Ok(())
}

/// An image may have anything at that name: only the multiplexer of a devpts is taken.
fn open_master(root: Beneath<'_>) -> Result<OwnedFd, Fault> {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    let look = root.open(Path::new("/dev/pts/ptmx"), OFlag::O_PATH | OFlag::O_NOFOLLOW);
    let found = look.map_err(Fault::part("`/dev/pts/ptmx`"))?;
    let device = fstat(&found)?.st_rdev;
    let genuine = fstatfs(&found)?.filesystem_type() == DEVPTS_SUPER_MAGIC
        && (major(device), minor(device)) == (5, 2);
    if !genuine {
        return Err(Fault::refused("`/dev/pts/ptmx` is not the multiplexer of a devpts"));
    }
    Ok(root.open(Path::new("/dev/pts/ptmx"), flags)?)
}

/// What is at `/dev/console` is covered, never followed: a link there could lead anywhere.
fn show_console(root: Beneath<'_>, slave: BorrowedFd<'_>) -> Result<(), Fault> {
    let name = Path::new("/dev/console");
    let place = match root.open(name, OFlag::O_PATH | OFlag::O_NOFOLLOW) {
        Err(Errno::ENOENT) => {
            let (folder, name) = root.parent(name)?;
            let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let made = nix::fcntl::openat(&folder, name, flags, Mode::from_bits_truncate(0o620))?;
            fchmod(&made, Mode::from_bits_truncate(0o620))?;
            made
        }
        other => other?,
    };
    if super::beneath::kind_of(place.as_fd())? == nix::sys::stat::SFlag::S_IFLNK {
        return Err(Fault::refused("`/dev/console` is a link"));
    }
    let tree = open_tree_clone(slave, "", Depth::Single)?;
    move_mount(tree.as_fd(), place.as_fd())?;
    Ok(())
}

fn send(socket: BorrowedFd<'_>, master: BorrowedFd<'_>) -> nix::Result<()> {
    // Engines read the name of the terminal, and show it in their logs.
    let name = [IoSlice::new(b"/dev/ptmx")];
    let rights = [master.as_raw_fd()];
    let control = [ControlMessage::ScmRights(&rights)];
    sendmsg::<()>(socket.as_raw_fd(), &name, &control, MsgFlags::MSG_NOSIGNAL, None).map(drop)
}
