//! Starts one more process in a running container.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::unistd::Pid;
use oci_spec::runtime::Process;

use super::create::write_pid_file;
use crate::cgroup::{Layout, LayoutError, Placement, ScopeError};
use crate::engine::{Engine, EngineError, Gate, InitProcess, Seat, Stdio, Target};
use crate::error::ExecPlanError;
use crate::id::ContainerId;
use crate::kernel_file::read_text;
use crate::plan::{ExecOptions, plan_tenant};
use crate::state::Status;
use crate::store::{Container, StoreError, TenantRecord};

/// Whether a process may be started in a paused container, where it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paused {
    /// No.
    Refuse,
    /// Yes (`--ignore-paused`).
    Ignore,
}

/// What is asked for.
#[derive(Debug)]
pub struct ExecRequest<'a> {
    /// The process.
    pub process: &'a Process,
    /// What later processes of the container are held by, and its own process.
    pub tenant: &'a TenantRecord,
    /// Choices beyond the process.
    pub options: ExecOptions,
    /// What to do about a pause.
    pub paused: Paused,
    /// A group below the container's (`--cgroup`); it must exist.
    pub group: Option<&'a Path>,
    /// Its streams, where it has no terminal.
    pub stdio: Stdio<'a>,
    /// A connected socket that receives the master of its terminal, where it has one.
    pub console: Option<BorrowedFd<'a>>,
    /// How many descriptors from 3 on its program keeps.
    pub preserve_fds: u32,
    /// A file that gets its number.
    pub pid_file: Option<&'a Path>,
}

/// A process could not be started. The container is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The state of the container cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// The container has no place for a process.
    #[error("cannot exec in a container that is not running: `{id}` is {status}")]
    NotRunning {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// The container is paused.
    #[error("cannot exec in a paused container: `{id}` (`--ignore-paused` overrides)")]
    Paused {
        /// Its name.
        id: ContainerId,
    },
    /// The process cannot be planned.
    #[error("cannot exec in container `{id}`")]
    Plan {
        /// Its name.
        id: ContainerId,
        /// Which key, and why.
        source: ExecPlanError,
    },
    /// The host's hierarchies cannot be read.
    #[error("cannot tell the cgroup of container `{id}`")]
    Layout {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: LayoutError,
    },
    /// The group cannot be joined.
    #[error("cannot join the cgroup of container `{id}`")]
    Scope {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: ScopeError,
    },
    /// The process cannot be started.
    #[error("cannot exec in container `{id}`")]
    Engine {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: EngineError,
    },
    /// The number of the process cannot be written.
    #[error("cannot write the pid file `{}`", path.display())]
    PidFile {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// Starts the process of `request` in `container`; it is a child of the caller, and killed when the
/// answer is dropped without [`InitProcess::keep`].
pub fn exec(
    container: &Container,
    engine: &dyn Engine,
    request: &ExecRequest<'_>,
) -> Result<InitProcess, ExecError> {
    let id = container.id().clone();
    match container.status() {
        Status::Running | Status::Created => {}
        Status::Paused if request.paused == Paused::Ignore => {}
        Status::Paused => return Err(ExecError::Paused { id }),
        status @ (Status::Creating | Status::Stopped) => {
            return Err(ExecError::NotRunning { id, status });
        }
    }
    let init = container.record().init;
    let Some((init, pidfd)) = init.and_then(|init| Some((init, init.open()?))) else {
        return Err(ExecError::NotRunning { id, status: Status::Stopped });
    };
    let plan = plan_tenant(&request.tenant.base, request.process, &request.options)
        .map_err(|source| ExecError::Plan { id: id.clone(), source })?;
    let placement = placement_of(container, init.pid, request.group)?;
    let scope = placement.open().map_err(|source| ExecError::Scope { id: id.clone(), source })?;
    let seat = Seat {
        cgroup: scope.seat(),
        stdio: request.stdio,
        console_socket: request.console,
        preserve_fds: request.preserve_fds,
        gate: Gate::Open,
        hooks: None,
        state: None,
    };
    let target = Target { pid: Pid::from_raw(init.pid), pidfd: pidfd.as_fd() };
    let process =
        engine.exec(&plan, &target, seat).map_err(|source| ExecError::Engine { id, source })?;
    if let Some(path) = request.pid_file {
        write_pid_file(path, process.pid().as_raw())
            .map_err(|source| ExecError::PidFile { path: path.to_path_buf(), source })?;
    }
    Ok(process)
}

/// The group that the new process joins.
fn placement_of(
    container: &Container,
    init: i32,
    below: Option<&Path>,
) -> Result<Placement, ExecError> {
    let placement = &container.record().placement;
    if let Some(path) = below {
        return Ok(placement.below(path));
    }
    let Some(folder) = &placement.v2 else { return Ok(placement.clone()) };
    // An init such as systemd moves itself to a leaf and limits the children of the group, which
    // then takes no process any more: the new one goes where init is.
    let control = read_text(folder.join("cgroup.subtree_control")).unwrap_or_default();
    if control.trim().is_empty() {
        return Ok(placement.clone());
    }
    let layout = Layout::read()
        .map_err(|source| ExecError::Layout { id: container.id().clone(), source })?;
    let own = read_text(format!("/proc/{init}/cgroup")).unwrap_or_default();
    let mut placement = placement.clone();
    let group = own.lines().find_map(|line| line.strip_prefix("0::"));
    if let (Some(group), Some(v2)) = (group, &layout.v2) {
        let current = v2.mount.join(group.trim_start_matches('/'));
        if current.starts_with(folder) {
            placement.v2 = Some(current);
        }
    }
    Ok(placement)
}
