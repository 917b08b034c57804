//! The mount API by descriptor, mount(2) where only it can, and statx.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::NixPath;
use nix::errno::Errno;

/// `struct mount_attr` of `mount_setattr`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MountAttr {
    /// `MOUNT_ATTR_*` to set.
    pub set: u64,
    /// `MOUNT_ATTR_*` to clear.
    pub clear: u64,
    /// One `MS_SHARED MS_SLAVE MS_PRIVATE MS_UNBINDABLE`, or 0.
    pub propagation: u64,
    /// The user namespace of `MOUNT_ATTR_IDMAP`.
    pub userns: u64,
}

/// Read-only.
pub(crate) const ATTR_RDONLY: u64 = 0x1;
/// Set-user-ID bits do nothing.
pub(crate) const ATTR_NOSUID: u64 = 0x2;
/// Device nodes do nothing.
pub(crate) const ATTR_NODEV: u64 = 0x4;
/// Nothing can be executed.
pub(crate) const ATTR_NOEXEC: u64 = 0x8;
/// Mask of the three access-time settings; relatime is 0.
pub(crate) const ATTR_ATIME: u64 = 0x70;
/// Access times are not kept.
pub(crate) const ATTR_NOATIME: u64 = 0x10;
/// Access times are always kept.
pub(crate) const ATTR_STRICTATIME: u64 = 0x20;
/// Access times of folders are not kept.
pub(crate) const ATTR_NODIRATIME: u64 = 0x80;
/// Ids are translated by a user namespace.
pub(crate) const ATTR_IDMAP: u64 = 0x0010_0000;
/// Symbolic links are not followed.
pub(crate) const ATTR_NOSYMFOLLOW: u64 = 0x0020_0000;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const OPEN_TREE_CLOEXEC: libc::c_uint = libc::O_CLOEXEC as libc::c_uint;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const AT_EMPTY_PATH: libc::c_uint = libc::AT_EMPTY_PATH as libc::c_uint;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH: libc::c_uint = 0x40;

/// How much of a tree is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The mount itself.
    Single,
    /// And every mount beneath it.
    Recursive,
}

impl Depth {
    const fn flag(self) -> libc::c_uint {
        match self {
            Self::Single => 0,
            Self::Recursive => AT_RECURSIVE,
        }
    }
}

/// Clones the tree at `path` (from `directory`; empty: `directory` itself) as a detached mount.
pub(crate) fn open_tree_clone<P: ?Sized + NixPath>(
    directory: BorrowedFd<'_>,
    path: &P,
    depth: Depth,
) -> nix::Result<OwnedFd> {
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | depth.flag();
    let raw = path.with_nix_path(|path| {
        // SAFETY: `path` is NUL-terminated and outlives the call; the rest are integers.
        unsafe { libc::syscall(libc::SYS_open_tree, directory.as_raw_fd(), path.as_ptr(), flags) }
    })?;
    super::owned(raw)
}

/// Attaches a detached mount over the place behind `target`.
pub(crate) fn move_mount(mount: BorrowedFd<'_>, target: BorrowedFd<'_>) -> nix::Result<()> {
    let empty = c"".as_ptr();
    // SAFETY: both paths are the empty static string; the rest are integers.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            empty,
            target.as_raw_fd(),
            empty,
            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH,
        )
    };
    Errno::result(done).map(drop)
}

/// Attaches a detached mount at `name` in `folder`; a link there is covered, not followed.
pub(crate) fn move_mount_to(
    mount: BorrowedFd<'_>,
    folder: BorrowedFd<'_>,
    name: &str,
) -> nix::Result<()> {
    let done = name.with_nix_path(|name| {
        // SAFETY: `name` is NUL-terminated and outlives the call, the other path is static and empty.
        unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                mount.as_raw_fd(),
                c"".as_ptr(),
                folder.as_raw_fd(),
                name.as_ptr(),
                MOVE_MOUNT_F_EMPTY_PATH,
            )
        }
    })?;
    Errno::result(done).map(drop)
}

/// Changes the attributes of the mount behind `mount`; `ENOSYS` before Linux 5.12.
pub(crate) fn mount_setattr(
    mount: BorrowedFd<'_>,
    depth: Depth,
    attr: &MountAttr,
) -> nix::Result<()> {
    // SAFETY: the empty path is static, `attr` outlives the call and its size is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            AT_EMPTY_PATH | depth.flag(),
            std::ptr::from_ref(attr),
            size_of::<MountAttr>(),
        )
    };
    Errno::result(done).map(drop)
}

/// Opens a context for a new file system of `kind`.
pub(crate) fn fsopen<P: ?Sized + NixPath>(kind: &P) -> nix::Result<OwnedFd> {
    const FSOPEN_CLOEXEC: libc::c_uint = 1;
    let raw = kind.with_nix_path(|kind| {
        // SAFETY: `kind` is NUL-terminated and outlives the call.
        unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), FSOPEN_CLOEXEC) }
    })?;
    super::owned(raw)
}

/// One fsconfig(2) of a context.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FsConfig<'a> {
    /// A parameter without a value.
    Flag(&'a str),
    /// A parameter with a value.
    Text(&'a str, &'a str),
    /// Make the file system.
    Create,
}

/// Configures a file system context.
pub(crate) fn fsconfig(context: BorrowedFd<'_>, config: FsConfig<'_>) -> nix::Result<()> {
    let call = |command: libc::c_uint, key: Option<&CStr>, value: Option<&CStr>| {
        let key = key.map_or(std::ptr::null(), CStr::as_ptr);
        let value = value.map_or(std::ptr::null(), CStr::as_ptr);
        // SAFETY: key and value are null or NUL-terminated, and outlive the call.
        unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), command, key, value, 0) }
    };
    let done = match config {
        FsConfig::Flag(key) => key.with_nix_path(|key| call(0, Some(key), None))?,
        FsConfig::Text(key, value) => {
            key.with_nix_path(|key| value.with_nix_path(|value| call(1, Some(key), Some(value))))??
        }
        FsConfig::Create => call(6, None, None),
    };
    Errno::result(done).map(drop)
}

/// Makes a detached mount of a created file system, with `MOUNT_ATTR_*` attributes.
pub(crate) fn fsmount(context: BorrowedFd<'_>, attributes: u64) -> nix::Result<OwnedFd> {
    const FSMOUNT_CLOEXEC: libc::c_uint = 1;
    let attributes = libc::c_uint::try_from(attributes).map_err(|_| Errno::EINVAL)?;
    // SAFETY: fsmount reads three integers and touches no memory of ours.
    let raw = unsafe {
        libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, attributes)
    };
    super::owned(raw)
}

/// What statx tells about a place: on which mount it is, and whether it is the root of that mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MountPlace {
    /// The mount's number in mountinfo.
    pub mount: u64,
    /// It is a mountpoint.
    pub root: bool,
}

/// Asks on which mount `path` is.
pub(crate) fn mount_place(directory: BorrowedFd<'_>, path: &Path) -> nix::Result<MountPlace> {
    const STATX_MNT_ID: libc::c_uint = 0x1000;
    let mut answer = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let done = path.with_nix_path(|path| {
        // SAFETY: `path` is NUL-terminated, `answer` has room for a statx; both outlive the call.
        unsafe {
            libc::statx(
                directory.as_raw_fd(),
                path.as_ptr(),
                libc::AT_EMPTY_PATH,
                STATX_MNT_ID,
                answer.as_mut_ptr(),
            )
        }
    })?;
    Errno::result(done)?;
    // SAFETY: all-zero bytes are a valid statx, and the kernel wrote over them.
    let answer = unsafe { answer.assume_init() };
    Ok(MountPlace {
        mount: answer.stx_mnt_id,
        root: answer.stx_attributes & libc::STATX_ATTR_MOUNT_ROOT as u64 != 0,
    })
}

/// The path of a descriptor as mount(2) takes it.
pub(crate) fn descriptor_path(descriptor: impl AsFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd())
}
