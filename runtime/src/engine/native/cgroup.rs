//! Shows a container its own cgroups, and nothing above them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::symlinkat;

use super::super::seat::CgroupHierarchy;
use super::beneath::{Beneath, Missing};
use super::fault::Fault;
use super::mounts::{attach, change_attached, make};
use crate::plan::{Attributes, Mount};
use crate::sys::mount::{Depth, move_mount, move_mount_to, open_tree_clone};

/// Whether the container has a cgroup namespace: then the file system itself shows no more than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Namespace,
    Host,
}

/// Carries out a mount of type `cgroup`.
pub(super) fn mount(
    root: Beneath<'_>,
    mount: &Mount,
    hierarchies: &[CgroupHierarchy],
    view: View,
) -> Result<(), Fault> {
    let place = root.open_or_make(&mount.destination, Missing::Folder)?;
    match hierarchies {
        [] => Err(Fault::refused("the container has no cgroup")),
        [only] if only.v1_data.is_none() => {
            let tree = hierarchy(only, view)?;
            attach(mount, tree.as_fd(), place.as_fd(), mount.attributes)
        }
        several => {
            let folder = make("tmpfs", "tmpfs", &["mode=755"], 0)?;
            move_mount(folder.as_fd(), place.as_fd())?;
            for one in several {
                beside(folder.as_fd(), one, view).map_err(|fault| within(fault, &one.name))?;
            }
            finish(mount, folder.as_fd())
        }
    }
}

fn within(fault: Fault, name: &str) -> Fault {
    if let Fault::Errno(errno) = fault {
        return Fault::Part(format!("hierarchy `{name}`"), errno);
    }
    fault
}

/// One v1 hierarchy, and links for the controllers mounted together (`cpu` to `cpu,cpuacct`).
fn beside(folder: BorrowedFd<'_>, one: &CgroupHierarchy, view: View) -> Result<(), Fault> {
    mkdirat(folder, one.name.as_str(), Mode::from_bits_truncate(0o755))?;
    move_mount_to(hierarchy(one, view)?.as_fd(), folder, one.name.as_str())?;
    if one.name.contains(',') {
        for controller in one.name.split(',') {
            match symlinkat(one.name.as_str(), folder, controller) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

/// The folder gets its attributes when it is filled, and with it all that is in it.
fn finish(mount: &Mount, folder: BorrowedFd<'_>) -> Result<(), Fault> {
    let everything = Mount {
        attributes: Attributes::default(),
        recursive_attributes: mount.attributes.and(mount.recursive_attributes),
        ..mount.clone()
    };
    Ok(change_attached(&everything, folder)?)
}

fn hierarchy(one: &CgroupHierarchy, view: View) -> Result<OwnedFd, Fault> {
    if view == View::Host {
        return Ok(open_tree_clone(AT_FDCWD, &one.group, Depth::Single)?);
    }
    let (kind, data): (_, Vec<&str>) = match &one.v1_data {
        None => ("cgroup2", Vec::new()),
        Some(data) => ("cgroup", data.split(',').collect()),
    };
    match make(kind, "cgroup", &data, 0) {
        // Not allowed in every user namespace; its own group can be bound in any.
        Err(Fault::Errno(libc::EPERM | libc::EBUSY)) => {
            Ok(open_tree_clone(AT_FDCWD, Path::new(&one.group), Depth::Single)?)
        }
        other => other,
    }
}
