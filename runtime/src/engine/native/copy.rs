//! Copies a folder's content into a fresh tmpfs (`tmpcopyup`).

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstatat, mkdirat, mknodat};
use nix::unistd::{Gid, Uid, fchownat, symlinkat};

/// Copies everything in `from` to `to`, with owners and modes; both are open folders.
pub(super) fn folder(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> nix::Result<()> {
    let listing =
        openat(from, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    for entry in Dir::from_fd(listing)?.iter() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            one(from, to, name)?;
        }
    }
    Ok(())
}

fn one(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &OsStr) -> nix::Result<()> {
    let status = fstatat(from, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
    let mode = Mode::from_bits_truncate(status.st_mode & 0o7777);
    let nofollow = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match kind {
        SFlag::S_IFDIR => {
            let inner = openat(from, name, nofollow | OFlag::O_DIRECTORY, Mode::empty())?;
            mkdirat(to, name, Mode::S_IRWXU)?;
            let copy = openat(to, name, nofollow | OFlag::O_DIRECTORY, Mode::empty())?;
            folder(inner.as_fd(), copy.as_fd())?;
            own(to, name, &status)?;
            fchmod(&copy, mode)
        }
        SFlag::S_IFREG => {
            let source = openat(from, name, nofollow, Mode::empty())?;
            let make = nofollow | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY;
            let copy = openat(to, name, make, Mode::S_IRUSR | Mode::S_IWUSR)?;
            let copy = content(source, copy)?;
            own(to, name, &status)?;
            fchmod(&copy, mode)
        }
        SFlag::S_IFLNK => {
            symlinkat(readlinkat(from, name)?.as_os_str(), to, name)?;
            own(to, name, &status)
        }
        // Nodes stay nodes; sockets have no meaning in a copy.
        SFlag::S_IFIFO | SFlag::S_IFCHR | SFlag::S_IFBLK => {
            mknodat(to, name, kind, mode, status.st_rdev)?;
            own(to, name, &status)
        }
        _ => Ok(()),
    }
}

fn content(source: OwnedFd, copy: OwnedFd) -> nix::Result<File> {
    let (mut source, mut copy) = (File::from(source), File::from(copy));
    std::io::copy(&mut source, &mut copy)
        .map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    Ok(copy)
}

fn own(folder: BorrowedFd<'_>, name: &OsStr, status: &FileStat) -> nix::Result<()> {
    let (uid, gid) = (Uid::from_raw(status.st_uid), Gid::from_raw(status.st_gid));
    match fchownat(folder, name, Some(uid), Some(gid), AtFlags::AT_SYMLINK_NOFOLLOW) {
        // An owner that the user namespace does not map: the copy belongs to the maker.
        Err(Errno::EINVAL | Errno::EPERM) => Ok(()),
        other => other,
    }
}
