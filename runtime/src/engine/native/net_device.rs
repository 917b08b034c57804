//! Moves interfaces of the runtime's network namespace to the container's (runtime-spec, config-linux.md,
//! "Network Devices").

use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::Pid;

use super::super::error::EngineError;
use super::netlink::Netlink;
use crate::plan::{NamespaceKind, NetDevice};
use crate::sys::clone;

/// Moves them all to the namespace of `pid`, with their permanent addresses, and brings them up.
pub(super) fn move_all(devices: &[NetDevice], pid: Pid) -> Result<(), EngineError> {
    if devices.is_empty() {
        return Ok(());
    }
    let (theirs, host, container) = connect(pid).map_err(failed("the network of the container"))?;
    for device in devices {
        move_one(device, &theirs, &host, &container).map_err(failed(&device.host))?;
    }
    Ok(())
}

fn failed(what: &str) -> impl FnOnce(Errno) -> EngineError {
    let action = format!("cannot move the network device `{what}`");
    move |errno| EngineError::Parent { action, source: errno.into() }
}

/// The container's namespace, and a connection to either side.
fn connect(pid: Pid) -> nix::Result<(OwnedFd, Netlink, Netlink)> {
    let look = |path: &str| open(path, OFlag::O_CLOEXEC, Mode::empty());
    let (own, theirs) = (look("/proc/self/ns/net")?, look(&format!("/proc/{pid}/ns/net"))?);
    let host = Netlink::open()?;
    clone::setns(&theirs, NamespaceKind::Network.flag())?;
    let container = Netlink::open();
    clone::setns(&own, NamespaceKind::Network.flag())?;
    Ok((theirs, host, container?))
}

fn move_one(
    device: &NetDevice,
    theirs: &OwnedFd,
    host: &Netlink,
    container: &Netlink,
) -> nix::Result<()> {
    let links = host.links()?;
    let link = links.iter().find(|link| link.name == device.host).ok_or(Errno::ENODEV)?;
    let addresses = host.addresses(link.index)?;
    let before = container.links()?;
    host.move_link(link.index, theirs, &device.name)?;
    // Its number may be another one there, and with `%d` its name is not known before.
    let after = container.links()?;
    let moved = after.iter().find(|link| before.iter().all(|old| old.index != link.index));
    let moved = moved.ok_or(Errno::ENODEV)?;
    for address in &addresses {
        container.add_address(moved.index, address)?;
    }
    container.bring_up(moved.index)
}
