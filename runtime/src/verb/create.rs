//! Creates a container: state folder, control groups, first process, each undone if a later fails.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::unistd::geteuid;
use oci_spec::runtime::{Hooks, LinuxNamespaceType, LinuxResources, Spec};

use super::delete::destroy;
use super::group::{self, Group, MadeGroup};
use super::version::{InvalidVersion, check_version};
use crate::cgroup::{Manager, Placement, ScopeError};
use crate::engine::{Engine, EngineError, Gate, HookFault, HookPoints, InitProcess, Seat, Stdio};
use crate::error::ExecPlanError;
use crate::hook::{self, HookRunner, HookState, InvalidHook};
use crate::id::ContainerId;
use crate::plan::{self, ExecOptions, ExecPlan};
use crate::state::{Phase, ProcessMark, RECORD_FORMAT, Record, Status, timestamp};
use crate::store::{Container, StateDir, Store, StoreError, TenantRecord};
use crate::sys::descriptor::is_open;

/// How far a container is brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Its first process waits for `start`.
    Created,
    /// Its program runs, and `poststart` hooks have run.
    Running,
}

/// What is asked for.
#[derive(Debug)]
pub struct CreateRequest<'a> {
    /// Its name.
    pub id: &'a ContainerId,
    /// Absolute folder of the bundle, where relative paths of the config start.
    pub bundle: &'a Path,
    /// The config; nothing is read from the bundle.
    pub spec: &'a Spec,
    /// Choices beyond the config.
    pub options: ExecOptions,
    /// Its control groups.
    pub group: Group,
    /// Its streams, where it has no terminal.
    pub stdio: Stdio<'a>,
    /// A connected socket that receives the master of its terminal, where it has one.
    pub console: Option<BorrowedFd<'a>>,
    /// How many descriptors from 3 on its program keeps.
    pub preserve_fds: u32,
    /// How far it is brought.
    pub until: Until,
    /// A file that gets the number of its first process.
    pub pid_file: Option<&'a Path>,
}

/// A container that was created, and its first process, a child of the caller.
#[derive(Debug)]
pub struct Created {
    /// The container; it stays until it is deleted.
    pub container: Container,
    /// Its first process, which lives on when this value is dropped.
    pub init: InitProcess,
}

/// A container could not be created. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The config is for another version of the specification.
    #[error("cannot create container `{id}`")]
    Version {
        /// Its name.
        id: ContainerId,
        /// Which version.
        source: InvalidVersion,
    },
    /// A hook cannot be run.
    #[error("cannot create container `{id}`")]
    Hook {
        /// Its name.
        id: ContainerId,
        /// Which hook, and why.
        source: InvalidHook,
    },
    /// The config cannot be planned.
    #[error("cannot create container `{id}`")]
    Plan {
        /// Its name.
        id: ContainerId,
        /// Which key, and why.
        source: ExecPlanError,
    },
    /// Its state cannot be kept.
    #[error("cannot keep the state of container `{id}`")]
    Store {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: StoreError,
    },
    /// The name is taken, or cannot be made a folder.
    #[error(transparent)]
    Name(StoreError),
    /// Its control groups cannot be made.
    #[error("cannot make the cgroup of container `{id}`")]
    Scope {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: ScopeError,
    },
    /// Its first process cannot be started.
    #[error("cannot start the first process of container `{id}`")]
    Engine {
        /// Its name.
        id: ContainerId,
        /// Why.
        source: EngineError,
    },
    /// Its first process ended before it could be looked at.
    #[error("the first process of container `{id}` ended at once")]
    Gone {
        /// Its name.
        id: ContainerId,
    },
    /// The number of its first process cannot be written.
    #[error("cannot write the pid file `{}`", path.display())]
    PidFile {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
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

/// Creates the container of `request` in `store`, its first process started by `engine`.
pub fn create(
    store: &Store,
    engine: &dyn Engine,
    request: CreateRequest<'_>,
) -> Result<Created, CreateError> {
    let id = request.id.clone();
    check_version(request.spec.version())
        .map_err(|source| CreateError::Version { id: id.clone(), source })?;
    let hooks = request.spec.hooks().clone().unwrap_or_default();
    hook::check(&hooks).map_err(|source| CreateError::Hook { id: id.clone(), source })?;
    let plan = plan::plan(request.spec, request.bundle, &request.options)
        .map_err(|source| CreateError::Plan { id: id.clone(), source })?;
    let mut record = first_record(&id, request.bundle, request.spec, request.group.manager());
    let prepared = group::prepare(&request.group, &id, request.spec)
        .map_err(|source| CreateError::Scope { id: id.clone(), source })?;
    record.placement = prepared.placement();

    let dir = store.reserve(&id).map_err(CreateError::Name)?;
    let kept = |source| CreateError::Store { id: id.clone(), source };
    dir.write_first(&record).map_err(kept)?;
    let group = prepared
        .make(request.group)
        .map_err(|source| CreateError::Scope { id: id.clone(), source })?;

    let state = HookState::of(&id, &record.bundle, &record.annotations);
    let mut runner = HookRunner::new(&hooks, state.clone());
    let seated = Seated { plan: &plan, group: &group, dir: &dir, record, spec: request.spec };
    let asked = Asked {
        stdio: request.stdio,
        console: request.console,
        preserve_fds: request.preserve_fds,
        until: request.until,
        pid_file: request.pid_file,
    };
    let started = seated.start(engine, &asked, &mut runner);
    let (mut init, mut record) = match started {
        Ok(started) => started,
        Err(error) => {
            // What the hooks before the program set up is theirs to take away.
            if runner.reached() {
                drop(group);
                hook::run_each(hooks.poststop().as_ref(), &state.at(Status::Stopped, None));
            }
            return Err(error);
        }
    };
    record.placement = group.keep();
    let container = dir.keep(record).map_err(kept)?;
    init.keep();
    if request.until == Until::Running {
        run_poststart(container, init, &hooks, &state)
    } else {
        Ok(Created { container, init })
    }
}

/// Runs the `poststart` hooks; the container is destroyed when one fails.
fn run_poststart(
    container: Container,
    init: InitProcess,
    hooks: &Hooks,
    state: &HookState,
) -> Result<Created, CreateError> {
    let state = state.clone().at(Status::Running, Some(init.pid().as_raw()));
    match hook::run_all(hooks.poststart().as_ref(), &state) {
        Ok(()) => Ok(Created { container, init }),
        Err(source) => {
            let id = container.id().clone();
            if let Err(error) = destroy(container) {
                tracing::warn!(%id, %error, "not destroyed");
            }
            Err(CreateError::Poststart { id, source })
        }
    }
}

/// What is asked of the first process.
struct Asked<'a> {
    stdio: Stdio<'a>,
    console: Option<BorrowedFd<'a>>,
    preserve_fds: u32,
    until: Until,
    pid_file: Option<&'a Path>,
}

/// Everything that is made before the first process.
struct Seated<'a> {
    plan: &'a ExecPlan,
    group: &'a MadeGroup,
    dir: &'a StateDir,
    record: Record,
    spec: &'a Spec,
}

impl Seated<'_> {
    /// Starts the first process and writes what later verbs need of it.
    fn start(
        mut self,
        engine: &dyn Engine,
        asked: &Asked<'_>,
        hooks: &mut HookRunner<'_>,
    ) -> Result<(InitProcess, Record), CreateError> {
        let id = self.record.id.clone();
        let kept = |source| CreateError::Store { id: id.clone(), source };
        let gate = match asked.until {
            Until::Created => Some(self.dir.make_gate().map_err(kept)?),
            Until::Running => None,
        };
        let wanted = hooks.wanted();
        let any = wanted.create_runtime || wanted.create_container || wanted.start_container;
        let seat = Seat {
            cgroup: self.group.seat(),
            stdio: asked.stdio,
            console_socket: asked.console,
            preserve_fds: asked.preserve_fds,
            gate: gate.as_ref().map_or(Gate::Open, |gate| Gate::Closed {
                wait: gate.wait.as_fd(),
                report: gate.report.as_fd(),
            }),
            hooks: any.then_some(hooks as &mut dyn HookPoints),
            state: None,
        };
        let init = engine
            .create(self.plan, seat)
            .map_err(|source| CreateError::Engine { id: id.clone(), source })?;
        self.record.phase = Phase::Made;
        self.record.init = ProcessMark::read(init.pid());
        if self.record.init.is_none() && asked.until == Until::Created {
            return Err(CreateError::Gone { id });
        }
        if let Some(process) = self.spec.process() {
            let tenant = TenantRecord { base: self.plan.tenant_base(), process: process.clone() };
            self.dir.write_tenant(&tenant).map_err(kept)?;
        }
        if let Some(path) = asked.pid_file {
            write_pid_file(path, init.pid().as_raw())
                .map_err(|source| CreateError::PidFile { path: path.to_path_buf(), source })?;
        }
        Ok((init, self.record))
    }
}

/// The first of `count` descriptors from 3 on that is not open, so that it cannot be passed on.
///
/// To be asked before anything is opened: a descriptor of our own would fill the gap.
pub fn first_missing(count: u32) -> Option<i32> {
    let end = i32::try_from(count).unwrap_or(i32::MAX).saturating_add(3);
    (3..end).find(|&number| !is_open(number))
}

/// Writes a pid file at once: who waits for it never reads half a number.
pub(super) fn write_pid_file(path: &Path, pid: i32) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    fs::write(&beside, pid.to_string())?;
    fs::rename(&beside, path)
}

/// What is kept of a container whose creation begins.
pub(super) fn first_record(
    id: &ContainerId,
    bundle: &Path,
    spec: &Spec,
    manager: Manager,
) -> Record {
    let hooks = spec.hooks().clone().unwrap_or_default();
    let root = spec.root().as_ref().map(|root| bundle.join(root.path()));
    let annotations = spec.annotations().iter().flatten();
    let mut later = Hooks::default();
    later.set_poststart(hooks.poststart().clone()).set_poststop(hooks.poststop().clone());
    let namespaces = spec.linux().as_ref().and_then(|linux| linux.namespaces().as_ref());
    let own_pids = namespaces
        .into_iter()
        .flatten()
        .any(|namespace| namespace.typ() == LinuxNamespaceType::Pid && namespace.path().is_none());
    Record {
        format: RECORD_FORMAT,
        id: id.clone(),
        bundle: bundle.to_path_buf(),
        rootfs: root.unwrap_or_default(),
        created: timestamp(SystemTime::now()),
        owner: geteuid().as_raw(),
        annotations: annotations.map(|(k, v)| (k.clone(), v.clone())).collect::<BTreeMap<_, _>>(),
        phase: Phase::Creating,
        init: None,
        placement: Placement::default(),
        manager,
        own_pids,
        hooks: (later != Hooks::default()).then_some(later),
        limits: limits_of(spec),
    }
}

/// The limits of the config that `update` can change.
fn limits_of(spec: &Spec) -> Option<LinuxResources> {
    let mut limits = spec.linux().as_ref()?.resources().clone()?;
    limits.set_devices(None);
    (limits != LinuxResources::default()).then_some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_has_the_number_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        write_pid_file(&path, 42).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "42");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
