//! Makes the process: with one `clone3`, or through a relay where namespaces must be entered first
//! by somebody who then makes the rest.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, write};

use super::super::error::EngineError;
use super::super::seat::Target;
use super::channel::Channel;
use super::fault::{Fault, Word};
use super::idmap::{self, Rights};
use super::{identity, parent};
use crate::plan::{IdMaps, Ids, Joined, NamespaceKind, Namespaces};
use crate::sys::clone::{self, CloneRequest, Side};
use crate::sys::schedule;

/// Namespaces to make and to enter, and by whom.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    new: u64,
    /// Entered by the parent around the clone, in order.
    around: Vec<(NamespaceKind, OwnedFd)>,
    /// Entered by the child itself.
    inside: Vec<(NamespaceKind, OwnedFd)>,
    /// Entered by a relay, in order.
    relayed: Vec<(NamespaceKind, OwnedFd)>,
    target: Option<(BorrowedFd<'a>, u64)>,
    target_by_relay: bool,
}

/// Where the process is born.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub cgroup: Option<BorrowedFd<'a>>,
    pub tasks: &'a [BorrowedFd<'a>],
    pub affinity: Option<&'a [u64]>,
}

/// Who this is after the clone.
#[derive(Debug)]
pub(super) enum Born<'a> {
    /// The new process; it still has to enter these.
    Here { joined: Vec<(NamespaceKind, OwnedFd)> },
    /// The relay that makes it.
    Relay(Relay<'a>),
    /// The parent of one of them.
    Child(Started),
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Started {
    pub pid: Pid,
    pub pidfd: OwnedFd,
    relay: bool,
}

impl Started {
    /// It is a relay: the process proper will be announced.
    pub(super) fn is_relay(&self) -> bool {
        self.relay
    }
}

impl<'a> Launch<'a> {
    /// For a container's init.
    pub(super) fn container(
        namespaces: &Namespaces,
        privileged: bool,
    ) -> Result<Self, EngineError> {
        let mut launch = Self {
            new: namespaces.flags(),
            around: Vec::new(),
            inside: Vec::new(),
            relayed: Vec::new(),
            target: None,
            target_by_relay: false,
        };
        // A new time namespace is made and shifted by the child before it enters it.
        launch.new &= !NamespaceKind::Time.flag();
        let all = || namespaces.outer.iter().chain(&namespaces.joined);
        let has = |kind: NamespaceKind| all().any(|joined| joined.kind == kind);
        let late = has(NamespaceKind::Mount) || has(NamespaceKind::Time);
        let nested = namespaces.makes(NamespaceKind::User) && late;
        let relay = has(NamespaceKind::User) || nested || (!privileged && all().next().is_some());
        for joined in all() {
            let opened = (joined.kind, open_namespace(joined)?);
            if relay {
                launch.relayed.push(opened);
            } else if matches!(joined.kind, NamespaceKind::Mount | NamespaceKind::Time) {
                launch.inside.push(opened);
            } else {
                launch.around.push(opened);
            }
        }
        Ok(launch)
    }

    /// For one more process of a container.
    pub(super) fn tenant(
        kinds: &[NamespaceKind],
        target: Target<'a>,
        privileged: bool,
    ) -> Result<Self, EngineError> {
        let all = kinds.iter().fold(0, |flags, kind| flags | kind.flag());
        let pid = NamespaceKind::Pid.flag();
        let mut launch = Self {
            new: 0,
            around: Vec::new(),
            inside: Vec::new(),
            relayed: Vec::new(),
            target: Some((target.pidfd, all)),
            target_by_relay: !privileged && all & pid != 0,
        };
        if privileged && all & pid != 0 {
            let pidfd = target.pidfd.try_clone_to_owned().map_err(|source| {
                EngineError::Parent { action: "cannot keep the handle".to_owned(), source }
            })?;
            launch.around.push((NamespaceKind::Pid, pidfd));
            launch.target = Some((target.pidfd, all & !pid));
        }
        Ok(launch)
    }

    /// What the child enters of the target: nothing where a relay does.
    pub(super) fn target_kinds(&self) -> u64 {
        match self.target {
            Some((_, kinds)) if !self.target_by_relay => kinds,
            _ => 0,
        }
    }

    /// Makes the process. Returns three times: here, in the relay or the child.
    pub(super) fn start(
        self,
        place: &Place<'a>,
        maps: Option<&'a IdMaps>,
    ) -> Result<Born<'a>, EngineError> {
        let moved = place.affinity.map(Affinity::change).transpose()?;
        let relay = !self.relayed.is_empty() || self.target_by_relay;
        let mut new = self.new;
        if !place.tasks.is_empty() {
            // Made by the child once it is in its cgroups: its root is where it is then.
            new &= !NamespaceKind::Cgroup.flag();
        }
        let around = Around::enter(&self.around)?;
        let request = CloneRequest {
            namespaces: if relay { 0 } else { new },
            cgroup: place.cgroup,
            sibling: false,
        };
        let side = clone::clone3(request);
        if let Ok(Side::Child) = side {
            // The parent's own namespaces are the parent's business.
            std::mem::forget(around);
            return Ok(if relay {
                Born::Relay(Relay { launch: self, new, tasks: place.tasks.to_vec(), maps })
            } else {
                Born::Here { joined: self.inside }
            });
        }
        let restored = around.leave();
        let side = side.map_err(parent("cannot create the process (clone3)"))?;
        let Side::Parent(pid, pidfd) = side else { unreachable!("the child has returned") };
        let started = Started { pid, pidfd, relay };
        let settled = restored.and_then(|()| moved.map_or(Ok(()), Affinity::restore));
        if let Err(error) = settled {
            crate::sys::process::kill_and_reap(started.pidfd.as_fd());
            return Err(error);
        }
        Ok(Born::Child(started))
    }
}

/// Enters namespaces for others, makes the process as a sibling, announces it and ends.
#[derive(Debug)]
pub(super) struct Relay<'a> {
    launch: Launch<'a>,
    new: u64,
    tasks: Vec<BorrowedFd<'a>>,
    maps: Option<&'a IdMaps>,
}

impl Relay<'_> {
    /// `child` is run in the process that is made.
    pub(super) fn run(self, channel: Channel, child: impl FnOnce(Channel)) -> ! {
        match self.relay(&channel) {
            Ok(true) => child(channel),
            Ok(false) => clone::exit_now(0),
            Err(fault) => {
                if let Ok(text) = serde_json::to_vec(&Word { step: usize::MAX, fault }) {
                    let _ = channel.say(b'F', &text);
                }
            }
        }
        clone::exit_now(1)
    }

    /// `true`: this is the new process.
    fn relay(&self, channel: &Channel) -> Result<bool, Fault> {
        for tasks in &self.tasks {
            write(tasks, b"0").map_err(Fault::part("joining the cgroup"))?;
        }
        // Nothing of the namespaces to be entered may trace this copy of the runtime.
        nix::sys::prctl::set_dumpable(false)?;
        if let Some((target, kinds)) = self.launch.target {
            clone::setns(target, kinds).map_err(Fault::part("entering the container"))?;
        }
        for (kind, namespace) in &self.launch.relayed {
            let entering = format!("entering the {kind} namespace");
            clone::setns(namespace, kind.flag()).map_err(Fault::part(entering))?;
        }
        match self.make_sibling()? {
            Side::Child => Ok(true),
            Side::Parent(pid, pidfd) => {
                if let Some(maps) = self.maps {
                    // Only from the namespace above can the map be written (user_namespaces(7)).
                    if let Err(error) = idmap::write(pid, maps, Rights::read()?) {
                        crate::sys::process::kill_and_reap(pidfd.as_fd());
                        return Err(Fault::refused(error.to_string()));
                    }
                }
                channel.send(b'B', &pid.as_raw().to_ne_bytes(), &[pidfd.as_fd()])?;
                Ok(false)
            }
        }
    }

    fn make_sibling(&self) -> Result<Side, Fault> {
        let request = CloneRequest { namespaces: self.new, cgroup: None, sibling: true };
        let make = || {
            // So that its id maps can be written.
            nix::sys::prctl::set_dumpable(true)?;
            clone::clone3(request)
        };
        let first = self.maps.and_then(|maps| Some((maps.uid.first()?, maps.gid.first()?)));
        match (make(), first) {
            // Root of the host is nobody in the namespace entered, and nobody makes a user namespace:
            // the ids that the new one is mapped to exist there.
            (Err(Errno::EPERM), Some((uid, gid))) => {
                let ids = Ids { uid: uid.host, gid: gid.host, additional: Vec::new() };
                identity::take_ids(&ids).map_err(|_| Fault::from(Errno::EPERM))?;
                make().map_err(Fault::part("clone3"))
            }
            (side, _) => side.map_err(Fault::part("clone3")),
        }
    }
}

fn open_namespace(joined: &Joined) -> Result<OwnedFd, EngineError> {
    open(&joined.path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())
        .map_err(|errno| EngineError::Open { path: joined.path.clone(), source: errno.into() })
}

/// Namespaces the parent has entered for its next child.
#[derive(Debug)]
struct Around {
    own: Vec<(NamespaceKind, OwnedFd)>,
}

impl Around {
    fn enter(namespaces: &[(NamespaceKind, OwnedFd)]) -> Result<Self, EngineError> {
        let mut around = Self { own: Vec::with_capacity(namespaces.len()) };
        for (kind, namespace) in namespaces {
            let for_children = *kind == NamespaceKind::Pid;
            let file = if for_children { "pid_for_children" } else { kind.file_name() };
            let own =
                open(format!("/proc/self/ns/{file}").as_str(), OFlag::O_CLOEXEC, Mode::empty());
            let entered = own.and_then(|own| {
                clone::setns(namespace, kind.flag())?;
                Ok((*kind, own))
            });
            match entered {
                Ok(pair) => around.own.push(pair),
                Err(errno) => {
                    around.leave()?;
                    return Err(parent(&format!("cannot enter the {kind} namespace"))(errno));
                }
            }
        }
        Ok(around)
    }

    fn leave(self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for (kind, own) in self.own.iter().rev() {
            let returned = clone::setns(own, kind.flag());
            result = result.and(returned.map_err(parent("cannot return to the own namespaces")));
        }
        result
    }
}

/// Cpus of the runtime itself, changed for the moment of the clone: the child inherits them.
#[derive(Debug)]
struct Affinity(Vec<u64>);

impl Affinity {
    fn change(cpus: &[u64]) -> Result<Self, EngineError> {
        let failed = |errno: Errno| EngineError::Parent {
            action: "cannot run on `execCPUAffinity.initial`".to_owned(),
            source: io::Error::from(errno),
        };
        let own = schedule::affinity().map_err(failed)?;
        schedule::set_affinity(cpus).map_err(failed)?;
        Ok(Self(own))
    }

    fn restore(self) -> Result<(), EngineError> {
        schedule::set_affinity(&self.0).map_err(parent("cannot return to the own cpus"))
    }
}
