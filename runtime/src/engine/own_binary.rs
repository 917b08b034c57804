//! Keeps a container from overwriting the runtime's own program (CVE-2019-5736).
//!
//! An image can make the runtime execute *itself* inside the container (`#!/proc/self/exe`); whoever
//! then opens `/proc/PID/exe` holds the runtime's file on the host. So the runtime first becomes a copy
//! that nobody can write: a read-only, detached clone of the mount its file is on, or a sealed copy in memory.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, FcntlArg, OFlag, SealFlag, fcntl, open};
use nix::sys::prctl::set_name;
use nix::sys::stat::{Mode, fstat};
use nix::sys::statvfs::{FsFlags, fstatvfs};
use nix::unistd::geteuid;

use crate::sys::mount::{ATTR_RDONLY, Depth, MountAttr, mount_setattr, open_tree_clone};
use crate::sys::process::{self, CStringArray};

/// Tells the copy where the file is that it is a copy of.
const ORIGIN: &str = "MUR_OWN_FILE";
const OWN: &str = "/proc/self/exe";

/// Why the runtime could not protect its own program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtectError {
    /// The program's file cannot be looked at.
    #[error("cannot open the runtime's own program")]
    Open(#[source] io::Error),
    /// No copy could be made.
    #[error("cannot copy the runtime's own program to where nobody can write it")]
    Copy(#[source] io::Error),
    /// The copy could not be executed.
    #[error("cannot execute the protected copy of the runtime")]
    Execute(#[source] io::Error),
}

/// Where the runtime's file is, also in its protected copy.
///
/// # Errors
/// The kernel does not say.
pub fn own_path() -> io::Result<PathBuf> {
    match std::env::var_os(ORIGIN) {
        Some(path) if is_protected().is_ok_and(|protected| protected) => Ok(PathBuf::from(path)),
        _ => std::env::current_exe(),
    }
}

/// Returns when nobody in a container could write the program this process runs, and executes a
/// protected copy of it otherwise. To be called first thing by what creates processes in containers,
/// before any thread is started.
///
/// # Errors
/// It could not be protected; nothing must be started then.
pub fn protect_own_binary() -> Result<(), ProtectError> {
    if is_protected().map_err(|errno| ProtectError::Open(errno.into()))? {
        // The kernel named it after the descriptor it was executed from.
        let _ = set_name(c"mur");
        return Ok(());
    }
    let copy = match read_only_clone() {
        Ok(copy) => copy,
        Err(_) => sealed_copy().map_err(ProtectError::Copy)?,
    };
    let path = std::env::current_exe().map_err(ProtectError::Open)?;
    let text = |text: &OsStr| CString::new(text.as_bytes()).unwrap_or_default();
    let arguments = CStringArray::new(std::env::args_os().map(|word| text(&word)).collect());
    let mut environment = CStringArray::new(
        std::env::vars_os()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .filter_map(|entry| CString::new(entry).ok())
            .collect(),
    );
    environment.remove(ORIGIN);
    let origin = [ORIGIN.as_bytes(), b"=", path.as_os_str().as_bytes()].concat();
    environment.push(CString::new(origin).unwrap_or_default());
    let errno = process::execute_descriptor(copy.as_fd(), &arguments, &environment);
    Err(ProtectError::Execute(errno.into()))
}

/// Asked of the file itself, so that nobody can claim it: read-only mount, sealed memory, or a file
/// that belongs to root of the host and that this user cannot write, whatever it becomes.
fn is_protected() -> nix::Result<bool> {
    let own = open(OWN, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    if fstatvfs(&own)?.flags().contains(FsFlags::ST_RDONLY) || is_sealed(own.as_fd()) {
        return Ok(true);
    }
    if geteuid().is_root() {
        return Ok(false);
    }
    let status = fstat(&own)?;
    Ok(status.st_uid == 0 && status.st_mode & 0o022 == 0)
}

const SEALS: SealFlag = SealFlag::F_SEAL_SEAL
    .union(SealFlag::F_SEAL_SHRINK)
    .union(SealFlag::F_SEAL_GROW)
    .union(SealFlag::F_SEAL_WRITE);

fn is_sealed(file: BorrowedFd<'_>) -> bool {
    fcntl(file, FcntlArg::F_GET_SEALS)
        .is_ok_and(|seals| SealFlag::from_bits_truncate(seals).contains(SEALS))
}

/// Copies nothing: the file's mount once more, read-only and reachable by nobody. Needs the right to
/// mount, and Linux 5.12.
fn read_only_clone() -> nix::Result<OwnedFd> {
    let clone = open_tree_clone(AT_FDCWD, OWN, Depth::Single)?;
    let attr = MountAttr { set: ATTR_RDONLY, ..MountAttr::default() };
    mount_setattr(clone.as_fd(), Depth::Single, &attr)?;
    Ok(clone)
}

fn sealed_copy() -> io::Result<OwnedFd> {
    let memory = process::executable_memory(c"mur")?;
    let mut copy = File::from(memory);
    io::copy(&mut File::open(OWN)?, &mut copy)?;
    let memory = OwnedFd::from(copy);
    fcntl(&memory, FcntlArg::F_ADD_SEALS(SEALS))?;
    if is_sealed(memory.as_fd()) { Ok(memory) } else { Err(Errno::EPERM.into()) }
}
