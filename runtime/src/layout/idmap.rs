//! Tries whether a folder can be mounted with another owner, by doing it on a mount that is never attached.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;

use nix::fcntl::{AT_FDCWD, OFlag};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pause, pipe2, write};

use crate::sys::mount::{ATTR_IDMAP, Depth, MountAttr, mount_setattr, open_tree_clone};
use crate::sys::rehearsal::in_child;

/// One owner on disk, and who it is to be on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdMapping {
    /// User: on disk, on the host.
    pub(crate) uid: (u32, u32),
    /// Group: on disk, on the host.
    pub(crate) gid: (u32, u32),
}

/// Makes an idmapped mount of `folder` and drops it again.
///
/// # Errors
/// The call that was refused, in words.
pub(crate) fn attempt(folder: &Path, mapping: IdMapping) -> Result<(), String> {
    let say = |call: &str| {
        let call = call.to_owned();
        move |errno: nix::errno::Errno| format!("`{call}` failed with {errno}")
    };
    let mount = open_tree_clone(AT_FDCWD, folder, Depth::Single).map_err(say("open_tree"))?;
    let userns = user_namespace(mapping).map_err(|error| format!("no id map: {error}"))?;
    let descriptor = u64::try_from(userns.as_raw_fd()).map_err(|error| error.to_string())?;
    let attributes = MountAttr { set: ATTR_IDMAP, userns: descriptor, ..MountAttr::default() };
    mount_setattr(mount.as_fd(), Depth::Single, &attributes).map_err(say("mount_setattr"))
}

/// A user namespace with this map, held by its descriptor alone.
fn user_namespace(mapping: IdMapping) -> io::Result<File> {
    let (ready, made) = pipe2(OFlag::O_CLOEXEC)?;
    // The closure takes the writing end along, so that a child which fails is heard as the end of the pipe.
    let child = in_child(move || {
        let _ = set_pdeathsig(Signal::SIGKILL);
        if unshare(CloneFlags::CLONE_NEWUSER).is_ok() && write(&made, b"1").is_ok() {
            pause();
        }
    })?;
    let namespace = map(child, ready.into(), mapping);
    // A child that failed is gone already.
    let _ = kill(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
    namespace
}

/// Writes the map of a child that is in its own user namespace, and opens the namespace.
fn map(child: Pid, mut ready: File, mapping: IdMapping) -> io::Result<File> {
    ready.read_exact(&mut [0])?;
    let line = |(disk, host): (u32, u32)| format!("{disk} {host} 1\n");
    fs::write(format!("/proc/{child}/uid_map"), line(mapping.uid))?;
    fs::write(format!("/proc/{child}/gid_map"), line(mapping.gid))?;
    File::open(format!("/proc/{child}/ns/user"))
}
