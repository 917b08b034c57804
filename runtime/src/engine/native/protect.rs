//! Masks, read-only paths, sysctls, and the way into the finished root.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::{Mode, SFlag};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use nix::unistd::{chdir, chroot, fchdir, pivot_root, write};

use super::attribute::{self, Applied};
use super::beneath::{Beneath, kind_of};
use super::device::null_device;
use super::fault::Fault;
use super::mounts::make;
use crate::plan::{Attributes, Propagation, RootEntry, Sysctl};
use crate::sys::mount::{ATTR_RDONLY, Depth, move_mount, open_tree_clone};

/// What masks are made of, made once: the host's null device, and an empty file system.
#[derive(Debug, Default)]
pub(super) struct Covers {
    null: Option<OwnedFd>,
    empty: Option<OwnedFd>,
}

/// Covers `path`: a file by the null device, a folder by an empty one. What is not there needs no mask.
pub(super) fn mask(root: Beneath<'_>, path: &Path, covers: &mut Covers) -> Result<(), Fault> {
    let place = match root.open_path(path) {
        Err(Errno::ENOENT | Errno::ENOTDIR) => return Ok(()),
        other => other?,
    };
    let source = if kind_of(place.as_fd())? == SFlag::S_IFDIR {
        let Some(empty) = &covers.empty else {
            let data = ["nr_blocks=1", "nr_inodes=1", "mode=755"];
            let made = make("tmpfs", "tmpfs", &data, ATTR_RDONLY)?;
            move_mount(made.as_fd(), place.as_fd())?;
            covers.empty = Some(made);
            return Ok(());
        };
        empty
    } else if let Some(null) = &covers.null {
        null
    } else {
        covers.null.insert(null_device()?)
    };
    let cover = open_tree_clone(source.as_fd(), "", Depth::Single)?;
    move_mount(cover.as_fd(), place.as_fd())?;
    Ok(())
}

const READ_ONLY: Attributes = Attributes { set: ATTR_RDONLY, clear: 0 };

/// Lays a read-only clone of `path` over itself. What is not there needs none.
pub(super) fn read_only(root: Beneath<'_>, path: &Path) -> Result<(), Fault> {
    let place = match root.open_path(path) {
        Err(Errno::ENOENT | Errno::ENOTDIR) => return Ok(()),
        other => other?,
    };
    let tree = open_tree_clone(place.as_fd(), "", Depth::Recursive)?;
    let applied = attribute::apply(tree.as_fd(), Depth::Recursive, READ_ONLY, None)?;
    move_mount(tree.as_fd(), place.as_fd())?;
    if applied == Applied::AfterAttach {
        attribute::remount(tree.as_fd(), Depth::Recursive, READ_ONLY)?;
    }
    Ok(())
}

/// Makes the root itself read-only; mounts in it keep what they are.
pub(super) fn restrict_root(root: BorrowedFd<'_>, change: Attributes) -> Result<(), Fault> {
    if attribute::apply(root, Depth::Single, change, None)? == Applied::AfterAttach {
        attribute::remount(root, Depth::Single, change)?;
    }
    Ok(())
}

/// Writes a sysctl of the namespaces this process is in, through the *host's* procfs: what an image
/// has at `/proc` is never asked.
pub(super) fn sysctl(sysctl: &Sysctl) -> Result<(), Fault> {
    let folder = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let settings = open("/proc/sys", folder, Mode::empty())?;
    if fstatfs(&settings)?.filesystem_type() != PROC_SUPER_MAGIC {
        return Err(Fault::refused("the host's `/proc` is no proc file system"));
    }
    let flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let setting = openat(&settings, &sysctl.path, flags, Mode::empty())?;
    write(&setting, sysctl.value.as_bytes())?;
    Ok(())
}

/// Makes the finished tree this process's root, and leaves nothing of the old one.
pub(super) fn enter(root: BorrowedFd<'_>, entry: RootEntry) -> Result<(), Fault> {
    match entry {
        RootEntry::Pivot => pivot(root),
        RootEntry::Chroot => move_over(root),
    }
}

fn pivot(root: BorrowedFd<'_>) -> Result<(), Fault> {
    let folder = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let old = open("/", folder, Mode::empty())?;
    fchdir(root)?;
    // New over old at the same place: no folder of the image is needed for the old one (pivot_root(2)).
    pivot_root(".", ".").map_err(Fault::part("pivot_root"))?;
    fchdir(&old)?;
    // So that taking it away does not travel to the host.
    let none = None::<&Path>;
    mount(none, ".", none, MsFlags::MS_SLAVE | MsFlags::MS_REC, none)?;
    umount2(".", MntFlags::MNT_DETACH).map_err(Fault::part("detaching the old root"))?;
    chdir("/")?;
    Ok(())
}

/// Where `/` is the initramfs, it cannot be pivoted. What is mounted on the host is taken away first,
/// or it could be reached once more by leaving the chroot.
fn move_over(root: BorrowedFd<'_>) -> Result<(), Fault> {
    fchdir(root)?;
    let none = None::<&Path>;
    let here = nix::unistd::getcwd()?;
    mount(Some(&here), "/", none, MsFlags::MS_MOVE, none)
        .map_err(Fault::part("moving it over `/`"))?;
    chroot(".")?;
    chdir("/")?;
    Ok(())
}

/// How mount events of the entered root travel.
pub(super) fn propagate(propagation: Propagation) -> Result<(), Fault> {
    let kind = MsFlags::from_bits_truncate(propagation.kind);
    let all = if propagation.recursive { MsFlags::MS_REC } else { MsFlags::empty() };
    let none = None::<&Path>;
    mount(none, "/", none, kind | all, none)?;
    Ok(())
}

/// Enters a folder of the host as root.
pub(super) fn change_root(path: &Path) -> Result<(), Fault> {
    if path != Path::new("/") {
        chroot(path)?;
    }
    chdir("/")?;
    Ok(())
}
