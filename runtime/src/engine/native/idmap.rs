//! Writes the id maps of a user namespace, directly or through the set-user-ID helpers.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Pid, Uid};

use super::super::error::EngineError;
use crate::plan::{IdMaps, IdRange, NamespaceKind};
use crate::sys::clone::{self, CloneRequest, Side};
use crate::sys::{id, process};

const CAP_SETUID: u64 = 1 << 7;
const CAP_SETGID: u64 = 1 << 6;

/// What the runtime itself may map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rights {
    any_uid: bool,
    any_gid: bool,
}

impl Rights {
    pub(super) fn read() -> nix::Result<Self> {
        let held = id::capget()?.effective;
        Ok(Self { any_uid: held & CAP_SETUID != 0, any_gid: held & CAP_SETGID != 0 })
    }
}

/// Writes both maps for the child `pid`, which waits in a new user namespace.
pub(super) fn write(pid: Pid, maps: &IdMaps, rights: Rights) -> Result<(), EngineError> {
    // Without that right the kernel wants setgroups(2) off before the group map (user_namespaces(7));
    // the helper newgidmap sets it itself where it must.
    if !rights.any_gid && is_own(&maps.gid, Gid::effective().as_raw()) {
        write_file(pid, "setgroups", "deny")?;
    }
    one(pid, "gid_map", "newgidmap", &maps.gid, rights.any_gid, Gid::effective().as_raw())?;
    one(pid, "uid_map", "newuidmap", &maps.uid, rights.any_uid, Uid::effective().as_raw())
}

fn one(
    pid: Pid,
    file: &str,
    helper: &str,
    ranges: &[IdRange],
    any: bool,
    own: u32,
) -> Result<(), EngineError> {
    if any || is_own(ranges, own) {
        let line = |range: &IdRange| format!("{} {} {}\n", range.container, range.host, range.size);
        return write_file(pid, file, &ranges.iter().map(line).collect::<String>());
    }
    let numbers = ranges.iter().flat_map(|range| [range.container, range.host, range.size]);
    let output = Command::new(helper)
        .arg(pid.to_string())
        .args(numbers.map(|number| number.to_string()))
        .stdin(Stdio::null())
        .output()
        .map_err(|source| EngineError::Parent {
            action: format!("cannot run `{helper}`"),
            source,
        })?;
    if output.status.success() {
        return Ok(());
    }
    Err(EngineError::Refused {
        step: format!("cannot map ids by `{helper}`"),
        reason: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// The one map that needs no right: one id, the caller's own.
fn is_own(ranges: &[IdRange], own: u32) -> bool {
    matches!(ranges, [IdRange { host, size: 1, .. }] if *host == own)
}

fn write_file(pid: Pid, file: &str, text: &str) -> Result<(), EngineError> {
    let path = format!("/proc/{pid}/{file}");
    fs::write(&path, text)
        .map_err(|source| EngineError::Parent { action: format!("cannot write `{path}`"), source })
}

/// A user namespace that is only a map, for idmapped mounts. Nothing lives in it.
pub(super) fn map_only(maps: &IdMaps, rights: Rights) -> Result<OwnedFd, EngineError> {
    let failed = |errno: nix::errno::Errno| EngineError::Parent {
        action: "cannot make a user namespace for mapped mounts".to_owned(),
        source: io::Error::from(errno),
    };
    let (wait, release) = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(failed)?;
    let request =
        CloneRequest { namespaces: NamespaceKind::User.flag(), ..CloneRequest::default() };
    match clone::clone3(request).map_err(failed)? {
        Side::Child => {
            drop(release);
            let _ = nix::unistd::read(&wait, &mut [0]);
            clone::exit_now(0)
        }
        Side::Parent(pid, pidfd) => {
            drop(wait);
            let made = write(pid, maps, rights).and_then(|()| {
                open(format!("/proc/{pid}/ns/user").as_str(), OFlag::O_CLOEXEC, Mode::empty())
                    .map_err(failed)
            });
            drop(release);
            process::kill_and_reap(std::os::fd::AsFd::as_fd(&pidfd));
            made
        }
    }
}
