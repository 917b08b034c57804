//! Opens what comes from the host: the root file system and the sources of binds.
//!
//! Where the container has a user namespace of its own and the runtime is root, the *parent* does this
//! inside the child's mount namespace, with its own rights: a source in a private folder can be opened,
//! and flags the host set on a mount stay locked. Everywhere else the child does it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;

use super::fault::Fault;
use crate::plan::{IdMaps, Mount, Mounted, Root, RootStep, Step};
use crate::sys::mount::{
    ATTR_IDMAP, Depth, MountAttr, mount_place, mount_setattr, move_mount, open_tree_clone,
};

/// Sets how mount events travel, and lays a clone of the root file system over itself.
pub(super) fn open_root(root: &Root) -> Result<OwnedFd, Fault> {
    let kind = MsFlags::from_bits_truncate(root.propagation.kind);
    let all = if root.propagation.recursive { MsFlags::MS_REC } else { MsFlags::empty() };
    let none = None::<&Path>;
    mount(none, "/", none, kind | all, none).map_err(Fault::part("propagation of `/`"))?;
    let place =
        open(&root.path, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    if kind == MsFlags::MS_SHARED {
        private_parent(&root.path).map_err(Fault::part("its parent mount"))?;
    }
    let tree = open_tree_clone(AT_FDCWD, &root.path, Depth::Recursive)?;
    move_mount(tree.as_fd(), place.as_fd())?;
    Ok(tree)
}

/// A new mount over a shared one would appear on the host, and cannot be pivoted to.
fn private_parent(path: &Path) -> nix::Result<()> {
    let none = None::<&Path>;
    for ancestor in path.ancestors() {
        if mount_place(AT_FDCWD, ancestor)?.root {
            return mount(none, ancestor, none, MsFlags::MS_PRIVATE, none);
        }
    }
    Ok(())
}

/// The binds of a plan, in order: their number is how parent and child speak of them.
pub(super) fn binds(steps: &[Step]) -> impl Iterator<Item = (&Step, Bind<'_>)> {
    steps.iter().filter_map(|step| {
        let Step::Root(RootStep::Mount(mount)) = step else { return None };
        Bind::of(mount).map(|bind| (step, bind))
    })
}

/// The source side of a bind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bind<'a> {
    /// Maps of its own.
    pub maps: Option<&'a IdMaps>,
    /// On the host.
    pub source: &'a Path,
    /// How much of it.
    pub depth: Depth,
    /// Whose ids are translated.
    pub translated: Option<Depth>,
}

impl<'a> Bind<'a> {
    /// The source side of `mount`, if it is a bind.
    pub(super) fn of(mount: &'a Mount) -> Option<Self> {
        let Mounted::Bind { source, recursive, idmap } = &mount.what else { return None };
        let depth = |all: bool| if all { Depth::Recursive } else { Depth::Single };
        let translated = idmap.as_ref().map(|idmap| depth(idmap.recursive));
        let maps = idmap.as_ref().and_then(|idmap| idmap.maps.as_ref());
        Some(Self { maps, source, depth: depth(*recursive), translated })
    }

    /// Clones the source as a detached mount, ids translated by `map`.
    pub(super) fn open(&self, map: Option<BorrowedFd<'_>>) -> Result<OwnedFd, Fault> {
        let tree = open_tree_clone(AT_FDCWD, self.source, self.depth)?;
        if let Some(depth) = self.translated {
            let map = map.ok_or_else(|| {
                Fault::refused("ids can be mapped by mappings or by a new user namespace")
            })?;
            translate(tree.as_fd(), depth, map).map_err(Fault::part("id mapping"))?;
        }
        Ok(tree)
    }
}

fn translate(tree: BorrowedFd<'_>, depth: Depth, map: BorrowedFd<'_>) -> nix::Result<()> {
    use std::os::fd::AsRawFd;
    let userns = u64::try_from(map.as_raw_fd()).map_err(|_| Errno::EBADF)?;
    mount_setattr(tree, depth, &MountAttr { set: ATTR_IDMAP, userns, ..MountAttr::default() })
}
