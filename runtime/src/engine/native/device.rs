//! Device nodes and the links of `/dev`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open};
use nix::sys::stat::{
    FchmodatFlags, FileStat, Mode, SFlag, fchmodat, fstat, fstatat, makedev, mknodat,
};
use nix::unistd::{Gid, Uid, fchownat, symlinkat};

use super::beneath::{Beneath, Missing};
use super::fault::Fault;
use crate::plan::{DEVICE_LINKS, Device, DeviceKind};
use crate::sys::mount::{Depth, move_mount, open_tree_clone};

/// The folder that the last node was made in: all but a few are in `/dev`.
#[derive(Debug, Default)]
pub(super) struct LastFolder<'a>(Option<(&'a Path, OwnedFd)>);

impl<'a> LastFolder<'a> {
    fn open(&mut self, root: Beneath<'_>, path: &'a Path) -> nix::Result<BorrowedFd<'_>> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        if self.0.as_ref().is_none_or(|(known, _)| *known != folder) {
            self.0 = Some((folder, root.open_or_make(folder, Missing::Folder)?));
        }
        self.0.as_ref().map(|(_, opened)| opened.as_fd()).ok_or(Errno::EBADF)
    }
}

/// How nodes come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeSource {
    /// mknod(2); where the kernel refuses that, as [`Self::Bound`].
    Made,
    /// The host's node is bound: a user namespace cannot make any.
    Bound,
}

/// Makes one node. One that is there must be the same device: an image may have put anything there.
pub(super) fn device<'a>(
    root: Beneath<'_>,
    device: &'a Device,
    source: NodeSource,
    last: &mut LastFolder<'a>,
) -> Result<(), Fault> {
    let folder = last.open(root, &device.path)?;
    let name = device.path.file_name().ok_or(Errno::EINVAL)?;
    let kind = SFlag::from_bits_truncate(device.kind.mode_bits());
    let number = makedev(u64::from(device.major), u64::from(device.minor));
    if source == NodeSource::Bound && device.kind != DeviceKind::Fifo {
        return bind(root, device, number);
    }
    let mode = Mode::from_bits_truncate(device.mode);
    match mknodat(folder, name, kind, mode, number) {
        Ok(()) => {}
        Err(Errno::EEXIST) => {
            let present = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
            verify(&present, device, number)?;
            fchmodat(folder, name, mode, FchmodatFlags::FollowSymlink)?;
        }
        Err(Errno::EPERM) if device.kind != DeviceKind::Fifo => {
            return bind(root, device, number);
        }
        Err(errno) => return Err(errno.into()),
    }
    if device.uid != 0 || device.gid != 0 {
        let (uid, gid) = (Uid::from_raw(device.uid), Gid::from_raw(device.gid));
        fchownat(folder, name, Some(uid), Some(gid), AtFlags::AT_SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

fn verify(present: &FileStat, device: &Device, number: u64) -> Result<(), Fault> {
    let kind = present.st_mode & libc::S_IFMT;
    if kind == device.kind.mode_bits()
        && (device.kind == DeviceKind::Fifo || present.st_rdev == number)
    {
        return Ok(());
    }
    Err(Fault::refused(format!(
        "what is there is not the device {}:{}",
        device.major, device.minor
    )))
}

fn bind(root: Beneath<'_>, device: &Device, number: u64) -> Result<(), Fault> {
    let source =
        open(&device.path, OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(Fault::part("the host's node"))?;
    verify(&fstat(&source)?, device, number)?;
    let tree = open_tree_clone(source.as_fd(), "", Depth::Single)?;
    let place = root.open_or_make(&device.path, Missing::File)?;
    move_mount(tree.as_fd(), place.as_fd())?;
    Ok(())
}

/// Makes the links of `/dev` where nothing of the name is.
pub(super) fn links(root: Beneath<'_>, last: &mut LastFolder<'_>) -> Result<(), Fault> {
    let folder = last.open(root, Path::new("/dev/null"))?;
    for (name, target) in DEVICE_LINKS {
        match symlinkat(target, folder, name) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(Fault::part(format!("`{name}`"))(errno)),
        }
    }
    Ok(())
}

/// The host's null device, proved to be it.
pub(super) fn null_device() -> Result<OwnedFd, Fault> {
    let null =
        open("/dev/null", OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())?;
    let status = fstat(&null)?;
    if status.st_mode & libc::S_IFMT != libc::S_IFCHR || status.st_rdev != makedev(1, 3) {
        return Err(Fault::refused("the host's `/dev/null` is not the null device"));
    }
    Ok(null)
}
