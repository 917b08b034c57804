//! Attributes of a mount, also where the kernel cannot set them by descriptor (before Linux 5.12).

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, fstatvfs};

use crate::plan::{Attributes, Propagation};
use crate::sys::mount::{
    ATTR_ATIME, ATTR_NOATIME, ATTR_NODEV, ATTR_NODIRATIME, ATTR_NOEXEC, ATTR_NOSUID,
    ATTR_NOSYMFOLLOW, ATTR_RDONLY, ATTR_STRICTATIME, Depth, MountAttr, descriptor_path,
    mount_setattr,
};

/// Whether a change could be made on a mount that is not attached yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied {
    Done,
    /// Has to be repeated by [`remount`] after it is attached.
    AfterAttach,
}

/// Changes a mount, attached or not.
pub(super) fn apply(
    mount: BorrowedFd<'_>,
    depth: Depth,
    change: Attributes,
    propagation: Option<Propagation>,
) -> nix::Result<Applied> {
    let attr = MountAttr {
        set: change.set,
        clear: change.clear,
        propagation: propagation.map_or(0, |propagation| propagation.kind),
        userns: 0,
    };
    match mount_setattr(mount, depth, &attr) {
        Ok(()) => Ok(Applied::Done),
        Err(Errno::ENOSYS) => Ok(Applied::AfterAttach),
        // What the host locked cannot be taken away in a user namespace: it stays, which is stricter.
        Err(Errno::EPERM) if change.clear != 0 => {
            let set = change.set & !ATTR_ATIME;
            mount_setattr(mount, depth, &MountAttr { set, clear: 0, ..attr })?;
            Ok(Applied::Done)
        }
        Err(errno) => Err(errno),
    }
}

/// Changes an attached mount by mount(2): top alone, or with every mount beneath it.
pub(super) fn remount(
    mounted: BorrowedFd<'_>,
    depth: Depth,
    change: Attributes,
) -> nix::Result<()> {
    remount_one(Path::new(&descriptor_path(mounted)), mounted, change)?;
    if depth == Depth::Recursive {
        for path in mounts_beneath(mounted)? {
            let beneath = nix::fcntl::open(
                &path,
                nix::fcntl::OFlag::O_PATH | nix::fcntl::OFlag::O_CLOEXEC,
                nix::sys::stat::Mode::empty(),
            )?;
            remount_one(&path, beneath.as_fd(), change)?;
        }
    }
    Ok(())
}

/// Sets how mount events of an attached mount travel, by mount(2).
pub(super) fn propagate(mounted: BorrowedFd<'_>, propagation: Propagation) -> nix::Result<()> {
    let none = None::<&Path>;
    let all = if propagation.recursive { MsFlags::MS_REC } else { MsFlags::empty() };
    let kind = MsFlags::from_bits_truncate(propagation.kind);
    mount(none, descriptor_path(mounted).as_str(), none, kind | all, none)
}

/// A remount replaces all flags, and in a user namespace must repeat those that are locked.
fn remount_one(path: &Path, mounted: BorrowedFd<'_>, change: Attributes) -> nix::Result<()> {
    let present = present(mounted)?;
    let wanted = (present & !change.clear) | change.set;
    let none = None::<&Path>;
    let flags = |bits: u64| MsFlags::MS_REMOUNT | MsFlags::MS_BIND | mount_flags(bits);
    match mount(none, path, none, flags(wanted), none) {
        Err(Errno::EPERM) => {
            let stricter = present | (change.set & !ATTR_ATIME);
            mount(none, path, none, flags(stricter), none)
        }
        other => other,
    }
}

fn present(mounted: BorrowedFd<'_>) -> nix::Result<u64> {
    let flags = fstatvfs(mounted)?.flags();
    let table = [
        (FsFlags::ST_RDONLY, ATTR_RDONLY),
        (FsFlags::ST_NOSUID, ATTR_NOSUID),
        (FsFlags::ST_NODEV, ATTR_NODEV),
        (FsFlags::ST_NOEXEC, ATTR_NOEXEC),
        (FsFlags::ST_NOATIME, ATTR_NOATIME),
        (FsFlags::ST_NODIRATIME, ATTR_NODIRATIME),
    ];
    let set = table.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, bit)| *bit);
    let bits = set.fold(0, |all, bit| all | bit);
    let strict = !flags.intersects(FsFlags::ST_NOATIME | FsFlags::ST_RELATIME);
    Ok(if strict { bits | ATTR_STRICTATIME } else { bits })
}

fn mount_flags(bits: u64) -> MsFlags {
    let table = [
        (ATTR_RDONLY, MsFlags::MS_RDONLY),
        (ATTR_NOSUID, MsFlags::MS_NOSUID),
        (ATTR_NODEV, MsFlags::MS_NODEV),
        (ATTR_NOEXEC, MsFlags::MS_NOEXEC),
        (ATTR_NODIRATIME, MsFlags::MS_NODIRATIME),
        (ATTR_NOSYMFOLLOW, MsFlags::from_bits_retain(0x100)),
    ];
    let plain = table.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, flag)| *flag);
    let atime = match bits & ATTR_ATIME {
        ATTR_NOATIME => MsFlags::MS_NOATIME,
        ATTR_STRICTATIME => MsFlags::MS_STRICTATIME,
        _ => MsFlags::MS_RELATIME,
    };
    plain.fold(atime, |all, flag| all | flag)
}

/// The mount points below an attached mount, outermost first.
fn mounts_beneath(mounted: BorrowedFd<'_>) -> nix::Result<Vec<PathBuf>> {
    let top = crate::sys::mount::mount_place(mounted, Path::new(""))?.mount;
    let table = std::fs::read("/proc/self/mountinfo")
        .map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    let mut family = vec![top];
    let mut found = Vec::new();
    for line in table.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ');
        let number = |field: Option<&[u8]>| -> Option<u64> {
            std::str::from_utf8(field?).ok()?.parse().ok()
        };
        let (Some(own), Some(parent)) = (number(fields.next()), number(fields.next())) else {
            continue;
        };
        let Some(point) = fields.nth(2) else { continue };
        if family.contains(&parent) && own != top {
            family.push(own);
            found.push(unescape(point));
        }
    }
    Ok(found)
}

/// mountinfo writes space, tab, newline and backslash as `\` and three octal digits (proc(5)).
fn unescape(field: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'\\')
            .then(|| after.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(std::ffi::OsString::from_vec(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_escapes_are_undone() {
        for (field, plain) in [
            ("/a\\040b", "/a b"),
            ("/x\\134y", "/x\\y"),
            ("/plain", "/plain"),
            ("/end\\04", "/end\\04"),
        ] {
            assert_eq!(unescape(field.as_bytes()), PathBuf::from(plain), "{field}");
        }
    }
}
