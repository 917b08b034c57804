//! Sends a signal to a container.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::libc::SIGKILL;

use super::signal::SignalNumber;
use crate::cgroup::{MemberError, Motion};
use crate::id::ContainerId;
use crate::state::Status;
use crate::store::{Container, Store, StoreError};
use crate::sys::signal::send_to_pidfd;

/// Which processes a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The first one.
    Init,
    /// All of them (`--all`).
    All,
}

/// A signal could not be sent.
///
/// Engines read the texts `container not running` and `does not exist`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KillError {
    /// Its state cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// It has ended, or was never finished.
    #[error("container not running: `{id}` is {status}")]
    NotRunning {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// The kernel refuses.
    #[error("cannot send signal {signal} to container `{id}`")]
    Refused {
        /// Its name.
        id: ContainerId,
        /// The signal.
        signal: SignalNumber,
        /// What the kernel answered.
        source: Errno,
    },
    /// The processes of its group cannot be reached.
    #[error("cannot send signal {signal} to every process of container `{id}`")]
    Members {
        /// Its name.
        id: ContainerId,
        /// The signal.
        signal: SignalNumber,
        /// Why.
        source: MemberError,
    },
}

/// Sends `signal` to the container `id`.
pub fn kill(
    store: &Store,
    id: &ContainerId,
    signal: SignalNumber,
    reach: Reach,
) -> Result<(), KillError> {
    let loaded = store.load(id);
    if let Err(StoreError::HalfMade { id }) = loaded {
        // Its creator is at work, or died: neither has a process to signal.
        return Err(KillError::NotRunning { id, status: Status::Creating });
    }
    let container = loaded.map_err(KillError::Store)?;
    send(&container, signal, reach)
}

/// Sends `signal` to `container`.
pub(super) fn send(
    container: &Container,
    signal: SignalNumber,
    reach: Reach,
) -> Result<(), KillError> {
    let id = container.id().clone();
    let record = container.record();
    let Some(pidfd) = record.init.and_then(|init| init.open()) else {
        return match reach {
            // Whatever is left of it in its group is still reached.
            Reach::All => signal_members(container, signal),
            Reach::Init => Err(KillError::NotRunning { id, status: container.status() }),
        };
    };
    // Without a pid namespace of its own nothing ends the other processes with the first one.
    let all = reach == Reach::All || (signal.number() == SIGKILL && !record.own_pids);
    if all && !record.placement.is_empty() {
        signal_members(container, signal)?;
    }
    match send_to_pidfd(pidfd.as_fd(), signal.number()) {
        Err(Errno::ESRCH) if all => {}
        Err(Errno::ESRCH) => return Err(KillError::NotRunning { id, status: Status::Stopped }),
        Err(source) => return Err(KillError::Refused { id, signal, source }),
        Ok(()) => {}
    }
    // Frozen processes of v1 do not die before they are thawed.
    if signal.number() == SIGKILL && record.placement.motion() == Motion::Frozen {
        let thawed = record.placement.set_motion(Motion::Thawed);
        thawed.map_err(|source| KillError::Members { id, signal, source })?;
    }
    Ok(())
}

fn signal_members(container: &Container, signal: SignalNumber) -> Result<(), KillError> {
    let placement = &container.record().placement;
    if placement.is_empty() {
        return Ok(());
    }
    placement.signal_all(signal.number()).map_err(|source| KillError::Members {
        id: container.id().clone(),
        signal,
        source,
    })
}
