//! Carries out one entry of `mounts`, inside the root that is being built.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};
use nix::mount::MsFlags;
use nix::sys::stat::{SFlag, fstat};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};

use super::attribute::{self, Applied};
use super::beneath::{Beneath, Missing, kind_of};
use super::copy;
use super::fault::Fault;
use crate::plan::{Attributes, Mount, Mounted};
use crate::sys::mount::{
    Depth, FsConfig, descriptor_path, fsconfig, fsmount, fsopen, move_mount, open_tree_clone,
};

/// Mounts a bind whose source was cloned already.
pub(super) fn bind(root: Beneath<'_>, mount: &Mount, tree: BorrowedFd<'_>) -> Result<(), Fault> {
    if mount.destination == Path::new("/proc")
        && fstatfs(tree)?.filesystem_type() != PROC_SUPER_MAGIC
    {
        return Err(Fault::refused("`/proc` takes a proc file system only"));
    }
    let folder = kind_of(tree)? == SFlag::S_IFDIR;
    let missing = if folder { Missing::Folder } else { Missing::File };
    let place =
        root.open_or_make(&mount.destination, missing).map_err(Fault::part("destination"))?;
    attach(mount, tree, place.as_fd(), mount.attributes)
}

/// Mounts what the kernel makes.
pub(super) fn other(root: Beneath<'_>, mount: &Mount) -> Result<(), Fault> {
    match &mount.what {
        Mounted::Kernel { kind, source, data, copy_up } => {
            let system = FileSystem { kind, source, data, copy_up: *copy_up };
            kernel(root, mount, &system)
        }
        Mounted::Other { kind, source, flags, data } => {
            let place = root.open_or_make(&mount.destination, Missing::Folder)?;
            let flags = MsFlags::from_bits_truncate(*flags);
            let target = descriptor_path(&place);
            let (kind, data) = (Some(kind.as_str()), Some(data.as_str()));
            nix::mount::mount(Some(source.as_path()), target.as_str(), kind, flags, data)?;
            let mounted = root.open_path(&mount.destination)?;
            Ok(change_attached(&beyond_flags(mount), mounted.as_fd())?)
        }
        Mounted::Remount { flags, data } => {
            let place = root.open_path(&mount.destination)?;
            let flags = MsFlags::from_bits_truncate(*flags);
            let none = None::<&Path>;
            let target = descriptor_path(&place);
            nix::mount::mount(none, target.as_str(), none, flags, Some(data.as_str()))?;
            Ok(change_attached(&beyond_flags(mount), place.as_fd())?)
        }
        Mounted::Bind { .. } | Mounted::Cgroup => Err(Fault::refused("is carried out elsewhere")),
    }
}

/// What the flags of mount(2) have not done yet.
fn beyond_flags(mount: &Mount) -> Mount {
    Mount { attributes: Attributes::default(), ..mount.clone() }
}

struct FileSystem<'a> {
    kind: &'a str,
    source: &'a str,
    data: &'a [String],
    copy_up: bool,
}

fn kernel(root: Beneath<'_>, mount: &Mount, system: &FileSystem<'_>) -> Result<(), Fault> {
    let (place, existed) = folder(root, mount, system.kind)?;
    let mut data: Vec<&str> = system.data.iter().map(String::as_str).collect();
    let own_mode;
    if system.kind == "tmpfs" && existed && !data.iter().any(|word| word.starts_with("mode=")) {
        // A tmpfs over a folder of the image looks like that folder, as with other runtimes.
        own_mode = format!("mode={:o}", fstat(&place)?.st_mode & 0o7777);
        data.push(&own_mode);
    }
    // What is filled first gets its attributes after that.
    let fill = system.copy_up && existed;
    let attributes = if fill { 0 } else { mount.attributes.set };
    let system_root = match make(system.kind, system.source, &data, attributes) {
        // A group that the user namespace does not map: terminals then belong to the maker's group.
        Err(Fault::Errno(libc::EINVAL) | Fault::Part(_, libc::EINVAL))
            if system.kind == "devpts" && data.iter().any(|word| word.starts_with("gid=")) =>
        {
            data.retain(|word| !word.starts_with("gid="));
            make(system.kind, system.source, &data, attributes)?
        }
        // A network namespace that the user namespace does not own has no sysfs to give: the host's
        // is shown, as far as it can be seen at all.
        Err(Fault::Errno(libc::EPERM)) if system.kind == "sysfs" => {
            return shown_sysfs(mount, place.as_fd());
        }
        other => other?,
    };
    if !fill {
        return attach(mount, system_root.as_fd(), place.as_fd(), Attributes::default());
    }
    let from = root.open(&mount.destination, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?;
    copy::folder(from.as_fd(), system_root.as_fd()).map_err(Fault::part("tmpcopyup"))?;
    attach(mount, system_root.as_fd(), place.as_fd(), mount.attributes)
}

fn shown_sysfs(mount: &Mount, place: BorrowedFd<'_>) -> Result<(), Fault> {
    let tree = open_tree_clone(AT_FDCWD, "/sys", Depth::Recursive)?;
    let everywhere = Mount {
        attributes: Attributes::default(),
        recursive_attributes: mount.attributes,
        ..mount.clone()
    };
    attach(&everywhere, tree.as_fd(), place, Attributes::default())
}

/// The folder to mount on, and whether it was there. `/proc` and `/sys` must be what they seem:
/// a link would have them mounted elsewhere, and masks would miss them (CVE-2019-19921).
fn folder(root: Beneath<'_>, mount: &Mount, kind: &str) -> Result<(OwnedFd, bool), Fault> {
    let at = &mount.destination;
    if at == Path::new("/proc") && kind != "proc" {
        return Err(Fault::refused("`/proc` takes a proc file system only"));
    }
    if !matches!(kind, "proc" | "sysfs") {
        return match root.open_path(at) {
            Ok(place) => Ok((place, true)),
            Err(Errno::ENOENT) => Ok((root.open_or_make(at, Missing::Folder)?, false)),
            Err(errno) => Err(errno.into()),
        };
    }
    let look = || root.open_plain(at, OFlag::O_PATH | OFlag::O_DIRECTORY);
    let opened = match look() {
        Err(Errno::ENOENT) => {
            root.open_or_make(at, Missing::Folder)?;
            look()
        }
        other => other,
    };
    match opened {
        Ok(place) => Ok((place, true)),
        Err(Errno::ELOOP | Errno::ENOTDIR) => {
            Err(Fault::refused(format!("{kind} must be mounted on an ordinary directory")))
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Makes a file system as a detached mount.
pub(super) fn make(
    kind: &str,
    source: &str,
    data: &[&str],
    attributes: u64,
) -> Result<OwnedFd, Fault> {
    let context = fsopen(kind)?;
    let configure = |config: FsConfig<'_>, word: &str| {
        fsconfig(context.as_fd(), config).map_err(Fault::part(format!("option `{word}`")))
    };
    if !source.is_empty() && source != "none" {
        configure(FsConfig::Text("source", source), source)?;
    }
    for word in data {
        match word.split_once('=') {
            Some((key, value)) => configure(FsConfig::Text(key, value), word)?,
            None => configure(FsConfig::Flag(word), word)?,
        }
    }
    fsconfig(context.as_fd(), FsConfig::Create)?;
    Ok(fsmount(context.as_fd(), attributes)?)
}

/// Changes a detached mount, attaches it, and changes it then where the kernel needs it attached.
pub(super) fn attach(
    mount: &Mount,
    tree: BorrowedFd<'_>,
    place: BorrowedFd<'_>,
    attributes: Attributes,
) -> Result<(), Fault> {
    let applied = change(mount, tree, attributes).map_err(Fault::part("attributes"))?;
    move_mount(tree, place)?;
    if applied == Applied::AfterAttach {
        repeat(mount, tree, attributes).map_err(Fault::part("attributes"))?;
    }
    Ok(())
}

/// Changes a mount that is attached.
pub(super) fn change_attached(mount: &Mount, mounted: BorrowedFd<'_>) -> nix::Result<()> {
    match change(mount, mounted, mount.attributes)? {
        Applied::Done => Ok(()),
        Applied::AfterAttach => repeat(mount, mounted, mount.attributes),
    }
}

fn change(mount: &Mount, tree: BorrowedFd<'_>, attributes: Attributes) -> nix::Result<Applied> {
    let mut applied = Applied::Done;
    let mut note = |now| {
        if now == Applied::AfterAttach {
            applied = now;
        }
    };
    if !attributes.is_empty() {
        note(attribute::apply(tree, Depth::Single, attributes, None)?);
    }
    if !mount.recursive_attributes.is_empty() {
        note(attribute::apply(tree, Depth::Recursive, mount.recursive_attributes, None)?);
    }
    for propagation in &mount.propagation {
        let depth = if propagation.recursive { Depth::Recursive } else { Depth::Single };
        note(attribute::apply(tree, depth, Attributes::default(), Some(*propagation))?);
    }
    Ok(applied)
}

/// The same by mount(2).
fn repeat(mount: &Mount, mounted: BorrowedFd<'_>, attributes: Attributes) -> nix::Result<()> {
    if !attributes.is_empty() {
        attribute::remount(mounted, Depth::Single, attributes)?;
    }
    if !mount.recursive_attributes.is_empty() {
        attribute::remount(mounted, Depth::Recursive, mount.recursive_attributes)?;
    }
    for propagation in &mount.propagation {
        attribute::propagate(mounted, *propagation)?;
    }
    Ok(())
}
