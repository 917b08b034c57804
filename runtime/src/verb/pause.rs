//! Pauses and resumes a container.

use crate::cgroup::{MemberError, Motion};
use crate::id::ContainerId;
use crate::state::Status;
use crate::store::{Store, StoreError};

/// A container could not be paused or resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PauseError {
    /// Its state cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// It has no processes to pause.
    #[error("container not running or created: `{id}` is {status}")]
    NotRunning {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// It is not paused.
    #[error("container not paused: `{id}` is {status}")]
    NotPaused {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// Its group cannot be frozen or thawed.
    #[error("cannot change the motion of container `{id}`")]
    Members {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: MemberError,
    },
}

/// Freezes every process of the container `id`; one that is paused already stays so.
pub fn pause(store: &Store, id: &ContainerId) -> Result<(), PauseError> {
    let (container, _lock) = store.load_locked(id).map_err(PauseError::Store)?;
    match container.status() {
        Status::Paused => Ok(()),
        Status::Running | Status::Created => container
            .record()
            .placement
            .set_motion(Motion::Frozen)
            .map_err(|source| PauseError::Members { id: id.clone(), source }),
        status @ (Status::Creating | Status::Stopped) => {
            Err(PauseError::NotRunning { id: id.clone(), status })
        }
    }
}

/// Lets every process of the container `id` go on.
pub fn resume(store: &Store, id: &ContainerId) -> Result<(), PauseError> {
    let (container, _lock) = store.load_locked(id).map_err(PauseError::Store)?;
    let placement = &container.record().placement;
    let status = container.status();
    // A created container that is frozen still shows as created.
    if status == Status::Stopped || placement.motion() == Motion::Thawed {
        return Err(PauseError::NotPaused { id: id.clone(), status });
    }
    placement
        .set_motion(Motion::Thawed)
        .map_err(|source| PauseError::Members { id: id.clone(), source })
}
