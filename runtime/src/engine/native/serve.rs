//! The parent: gives the child what it waits for, until its program runs or it waits at the gate.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, chroot, fchdir};

use super::super::error::EngineError;
use super::super::hook::{HookPoint, HookPoints, HookSet};
use super::super::init::InitProcess;
use super::super::seat::StateSource;
use super::channel::{Channel, FromChild, MOST_DESCRIPTORS};
use super::idmap::{self, Rights};
use super::launch::Started;
use super::stage::{binds, open_root};
use super::{agent, net_device, parent};
use crate::plan::{IdMaps, Identity, NamespaceKind, NetDevice, RootStep, Step};
use crate::sys::{clone, id};

/// What the parent has to do for a child.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub steps: &'a [Step],
    pub net_devices: &'a [NetDevice],
    pub hooks: Option<&'a mut dyn HookPoints>,
    pub wanted: HookSet,
    pub state: Option<&'a dyn StateSource>,
    /// The child waits for these.
    pub setup: Option<Setup<'a>>,
}

/// What a child in a new user namespace cannot do itself.
#[derive(Debug)]
pub(super) struct Setup<'a> {
    /// Not where a relay has written them.
    pub maps: Option<&'a IdMaps>,
    pub rights: Rights,
    /// Clone the root and the sources of binds in the child's mount namespace.
    pub stage: bool,
    /// Maps of the binds that have their own.
    pub bind_maps: &'a [Option<OwnedFd>],
}

/// Map-only user namespaces of the binds that have maps of their own, by number.
pub(super) fn bind_maps(
    steps: &[Step],
    rights: Rights,
) -> Result<Vec<Option<OwnedFd>>, EngineError> {
    binds(steps)
        .map(|(_, bind)| bind.maps.map(|maps| idmap::map_only(maps, rights)).transpose())
        .collect()
}

/// Serves the child. Whatever fails, no process of this attempt is left.
pub(super) fn until_started(
    started: Started,
    channel: Channel,
    mut work: Work<'_>,
    gated: bool,
) -> Result<InitProcess, EngineError> {
    let relay = started.is_relay();
    let Started { pid, pidfd, .. } = started;
    let mut init = InitProcess::new(pid, pidfd);
    if relay {
        init = adopt(&channel, init, &work)?;
    }
    if let Some(setup) = work.setup.take() {
        prepare(&init, &channel, &work, &setup)?;
        work.setup = Some(setup);
    }
    match serve(&init, &channel, &mut work, gated) {
        Ok(()) if gated => {
            init.hold_gate(channel.into());
            Ok(init)
        }
        Ok(()) => Ok(init),
        Err(error) => Err(error),
    }
}

/// Takes the relay's child for our own, which it is: they are siblings.
fn adopt(
    channel: &Channel,
    relay: InitProcess,
    work: &Work<'_>,
) -> Result<InitProcess, EngineError> {
    match channel.hear_child().map_err(parent("cannot receive from the new process"))? {
        FromChild::Born(pid, pidfd) => {
            drop(relay);
            Ok(InitProcess::new(pid, pidfd))
        }
        FromChild::Fault(failed) => Err(failed.fault.into_error(work.steps.get(failed.step))),
        FromChild::Closed => Err(vanished(&relay)),
        FromChild::Hooks | FromChild::Sources(_) | FromChild::Listener(_) | FromChild::Ready => {
            Err(parent("cannot receive from the new process")(Errno::EPROTO))
        }
    }
}

fn serve(
    init: &InitProcess,
    channel: &Channel,
    work: &mut Work<'_>,
    gated: bool,
) -> Result<(), EngineError> {
    let mut ready = false;
    loop {
        match channel.hear_child().map_err(parent("cannot receive from the new process"))? {
            FromChild::Hooks => {
                net_device::move_all(work.net_devices, init.pid())?;
                if let Some(hooks) = work.hooks.as_mut().filter(|_| work.wanted.create_runtime) {
                    let point = HookPoint::CreateRuntime;
                    hooks
                        .run(point, init.pid())
                        .map_err(|source| EngineError::Hook { point, source })?;
                }
                go(channel, init.pid(), &[])?;
            }
            FromChild::Sources(first) => {
                let setup = work.setup.as_ref().filter(|setup| setup.stage);
                let setup = setup.ok_or_else(|| parent("cannot clone sources")(Errno::EPROTO))?;
                let sources = in_mounts_of(init, || sources(init, work, setup, first))??;
                send(channel, init.pid(), &sources)?;
            }
            FromChild::Listener(listener) => {
                agent::pass(&listener, init.pid(), work.steps, work.state)?;
            }
            FromChild::Ready if gated => return Ok(()),
            FromChild::Ready => ready = true,
            FromChild::Fault(failed) => {
                return Err(failed.fault.into_error(work.steps.get(failed.step)));
            }
            FromChild::Closed if ready => return Ok(()),
            FromChild::Closed => return Err(vanished(init)),
            FromChild::Born(..) => {
                return Err(parent("cannot receive from the new process")(Errno::EPROTO));
            }
        }
    }
}

/// Id maps, then what only this side of the user namespace may do.
fn prepare(
    init: &InitProcess,
    channel: &Channel,
    work: &Work<'_>,
    setup: &Setup<'_>,
) -> Result<(), EngineError> {
    if let Some(maps) = setup.maps {
        idmap::write(init.pid(), maps, setup.rights)?;
    }
    raise(init.pid(), work.steps);
    if !setup.stage {
        return go(channel, init.pid(), &[]);
    }
    let staged = in_mounts_of(init, || -> Result<Vec<OwnedFd>, EngineError> {
        let mut all = Vec::new();
        for step in work.steps {
            if let Step::Root(RootStep::OpenRoot(root)) = step {
                all.push(open_root(root).map_err(|fault| fault.into_error(Some(step)))?);
            }
        }
        all.extend(sources(init, work, setup, 0)?);
        Ok(all)
    })??;
    send(channel, init.pid(), &staged)
}

/// Sources from number `first` on, as many as one message takes.
fn sources(
    init: &InitProcess,
    work: &Work<'_>,
    setup: &Setup<'_>,
    first: usize,
) -> Result<Vec<OwnedFd>, EngineError> {
    // One place is left for the root.
    const BATCH: usize = MOST_DESCRIPTORS - 1;
    let mut own = None;
    let mut all = Vec::new();
    for (number, (step, bind)) in binds(work.steps).enumerate().skip(first).take(BATCH) {
        let given = setup.bind_maps.get(number).and_then(Option::as_ref).map(AsFd::as_fd);
        if bind.translated.is_some() && given.is_none() && own.is_none() {
            own = Some(user_namespace(init.pid())?);
        }
        let map: Option<BorrowedFd<'_>> = given.or_else(|| own.as_ref().map(AsFd::as_fd));
        all.push(bind.open(map).map_err(|fault| fault.into_error(Some(step)))?);
    }
    Ok(all)
}

fn user_namespace(pid: Pid) -> Result<OwnedFd, EngineError> {
    let path = format!("/proc/{pid}/ns/user");
    open(path.as_str(), OFlag::O_CLOEXEC, Mode::empty())
        .map_err(|errno| EngineError::Open { path: path.into(), source: errno.into() })
}

/// Does something inside the child's mount namespace, and returns. The process has one thread, so that
/// nobody else's paths change meanwhile.
fn in_mounts_of<T>(init: &InitProcess, act: impl FnOnce() -> T) -> Result<T, EngineError> {
    let failed = "cannot enter the mounts of the new process";
    let folder = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let look = |path: &str, flags: OFlag| open(path, flags, Mode::empty()).map_err(parent(failed));
    let own = look("/proc/self/ns/mnt", OFlag::O_CLOEXEC)?;
    let (root, here) = (look("/", folder)?, look(".", folder)?);
    let mount = NamespaceKind::Mount.flag();
    clone::setns(init.pidfd(), mount).map_err(parent(failed))?;
    let result = act();
    let back = || -> nix::Result<()> {
        clone::setns(&own, mount)?;
        fchdir(&root)?;
        chroot(".")?;
        fchdir(&here)
    };
    back().map_err(parent("cannot return to the own mounts"))?;
    Ok(result)
}

/// Limits and the like that need a right on the host: raised here, set by the child. What is refused
/// here is refused there, with words.
fn raise(pid: Pid, steps: &[Step]) {
    for step in steps {
        if let Step::Identity(Identity::Rlimit(limit)) = step
            && let Ok((soft, hard)) = id::limit(limit.resource)
            && hard < limit.hard
        {
            let _ = id::prlimit(pid, limit.resource, soft, limit.hard);
        }
        if let Step::Identity(Identity::OomScoreAdjust(score)) = step {
            let _ = std::fs::write(format!("/proc/{pid}/oom_score_adj"), score.to_string());
        }
    }
}

fn go(channel: &Channel, pid: Pid, descriptors: &[BorrowedFd<'_>]) -> Result<(), EngineError> {
    match channel.go(pid, descriptors) {
        // It is gone; what it has said says why.
        Ok(()) | Err(Errno::EPIPE | Errno::ECONNRESET) => Ok(()),
        Err(errno) => Err(parent("cannot send to the new process")(errno)),
    }
}

fn send(channel: &Channel, pid: Pid, descriptors: &[OwnedFd]) -> Result<(), EngineError> {
    let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    go(channel, pid, &borrowed)
}

fn vanished(init: &InitProcess) -> EngineError {
    let how = match waitid(Id::PIDFd(init.pidfd()), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
        Ok(WaitStatus::Exited(_, code)) => format!("exited with {code}"),
        Ok(WaitStatus::Signaled(_, signal, _)) => format!("was ended by {signal}"),
        _ => "without a trace".to_owned(),
    };
    EngineError::Vanished { how }
}
