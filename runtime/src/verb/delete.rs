//! Deletes a container: what is left of its processes, its control groups, its state.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc::SIGKILL;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cgroup::{MemberError, ScopeError};
use crate::hook::{self, HookState};
use crate::id::ContainerId;
use crate::state::{Phase, Status};
use crate::store::{Container, Store, StoreError};
use crate::sys::signal::send_to_pidfd;

/// How long the first process may take to end once it is killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a container that still lives is ended first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// It must have stopped.
    No,
    /// It is killed; one that does not exist is fine.
    Yes,
}

/// A container could not be deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// Its state cannot be read or removed.
    #[error(transparent)]
    Store(StoreError),
    /// It has not stopped.
    #[error("cannot delete container `{id}` that is not stopped: {status}")]
    NotStopped {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// Its first process survives SIGKILL.
    #[error("the first process of container `{id}` does not end: {reason}")]
    Survives {
        /// Its name.
        id: ContainerId,
        /// What the kernel answered, or that time ran out.
        reason: String,
    },
    /// Its other processes cannot be ended.
    #[error("cannot end the processes of container `{id}`")]
    Members {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: MemberError,
    },
    /// Its control groups cannot be removed.
    #[error("cannot remove the cgroup of container `{id}`")]
    Scope {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: ScopeError,
    },
}

/// Deletes the container `id`.
pub fn delete(store: &Store, id: &ContainerId, force: Force) -> Result<(), DeleteError> {
    let loaded = match force {
        // Waits for a creator that is still at work, or finds that it died.
        Force::Yes => store.load_locked(id).map(|(container, lock)| (container, Some(lock))),
        Force::No => store.load(id).map(|container| (container, None)),
    };
    let (container, lock) = match loaded {
        Ok(loaded) => loaded,
        Err(StoreError::NotFound { .. }) if force == Force::Yes => return Ok(()),
        Err(StoreError::HalfMade { .. } | StoreError::Parse { .. }) if force == Force::Yes => {
            // Killed before its first record: nothing but the folder was made.
            return match store.salvage(id) {
                Ok(folder) => {
                    drop(folder);
                    Ok(())
                }
                Err(StoreError::NotFound { .. }) => Ok(()),
                Err(error) => Err(DeleteError::Store(error)),
            };
        }
        Err(error) => return Err(DeleteError::Store(error)),
    };
    let status = container.status();
    if force == Force::No && status != Status::Stopped {
        return Err(DeleteError::NotStopped { id: id.clone(), status });
    }
    let done = destroy(container);
    drop(lock);
    done
}

/// Ends what is left of `container` and takes it apart; `poststop` hooks run before its state goes.
pub fn destroy(container: Container) -> Result<(), DeleteError> {
    let record = container.record();
    let id = record.id.clone();
    end_init(&container)?;
    if !record.own_pids {
        // Nothing ended the others with the first one.
        let ended = record.placement.end_all();
        ended.map_err(|source| DeleteError::Members { id: id.clone(), source })?;
    }
    let removed = match record.phase {
        Phase::Creating => record.placement.abandon(),
        Phase::Made => record.placement.remove(),
    };
    removed.map_err(|source| DeleteError::Scope { id: id.clone(), source })?;
    if let Some(hooks) = &record.hooks {
        let state = HookState::of(&id, &record.bundle, &record.annotations);
        hook::run_each(hooks.poststop().as_ref(), &state.at(Status::Stopped, None));
    }
    container.remove().map_err(DeleteError::Store)
}

/// Kills the first process, if it lives, and waits until it has ended.
fn end_init(container: &Container) -> Result<(), DeleteError> {
    let record = container.record();
    let Some(pidfd) = record.init.and_then(|init| init.open()) else { return Ok(()) };
    let survives = |reason: String| DeleteError::Survives { id: record.id.clone(), reason };
    match send_to_pidfd(pidfd.as_fd(), SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(errno) => return Err(survives(errno.to_string())),
    }
    if record.placement.motion() == crate::cgroup::Motion::Frozen {
        let _ = record.placement.set_motion(crate::cgroup::Motion::Thawed);
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) => return Err(survives(format!("after {} s", PATIENCE.as_secs()))),
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(survives(errno.to_string())),
        }
    }
}
