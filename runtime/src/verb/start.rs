//! Starts a created container: lets its first process through the gate.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

use super::delete::destroy;
use crate::engine::{HookFault, StartFailure, read_start_report};
use crate::hook::{self, HookState};
use crate::id::ContainerId;
use crate::state::Status;
use crate::store::{Container, Store, StoreError};

/// A container could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Its state cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// It is not waiting for a start.
    #[error("cannot start container `{id}`: it is {status}")]
    Status {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// The gate cannot be opened.
    #[error("cannot open the gate `{}`", path.display())]
    Gate {
        /// The file.
        path: PathBuf,
        /// What the kernel answered; `ENXIO` when the first process has gone.
        source: io::Error,
    },
    /// Its program did not start; the container is stopped.
    #[error("cannot start the program of container `{id}`")]
    Program {
        /// Its name.
        id: ContainerId,
        /// What failed.
        source: StartFailure,
    },
    /// A `poststart` hook failed; the container was stopped and destroyed.
    #[error("a poststart hook of container `{id}` failed")]
    Poststart {
        /// Its name.
        id: ContainerId,
        /// Which hook, and how.
        source: HookFault,
    },
}

/// Starts the container `id` and returns when its program runs.
pub fn start(store: &Store, id: &ContainerId) -> Result<(), StartError> {
    let (container, lock) = store.load_locked(id).map_err(StartError::Store)?;
    let status = container.status();
    if status != Status::Created {
        return Err(StartError::Status { id: id.clone(), status });
    }
    open_gate(&container)?;
    container.remove_gate();
    let record = container.record();
    let Some(hooks) = record.hooks.clone() else { return Ok(()) };
    let pid = record.init.map(|init| init.pid);
    let state = HookState::of(id, &record.bundle, &record.annotations).at(Status::Running, pid);
    let Err(source) = hook::run_all(hooks.poststart().as_ref(), &state) else { return Ok(()) };
    drop(lock);
    if let Err(error) = destroy(container) {
        tracing::warn!(%id, %error, "not destroyed");
    }
    Err(StartError::Poststart { id: id.clone(), source })
}

/// Lets the first process go on and waits until its program runs, or it says why not.
fn open_gate(container: &Container) -> Result<(), StartError> {
    let failed = |path: PathBuf| move |source| StartError::Gate { path, source };
    let open = |path: PathBuf, options: &mut OpenOptions| {
        options.custom_flags(libc::O_NONBLOCK).open(&path).map_err(failed(path))
    };
    let mut report = open(container.report(), OpenOptions::new().read(true))?;
    let mut wait = open(container.gate(), OpenOptions::new().write(true))?;
    // From here on a read waits until every writer has closed: init does when it executes.
    fcntl(&report, FcntlArg::F_SETFL(OFlag::empty()))
        .map_err(|errno| failed(container.report())(errno.into()))?;
    wait.write_all(b"0").map_err(failed(container.gate()))?;
    match read_start_report(&mut report).map_err(failed(container.report()))? {
        None => Ok(()),
        Some(source) => {
            container.remove_gate();
            Err(StartError::Program { id: container.id().clone(), source })
        }
    }
}
