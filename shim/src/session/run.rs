//! Runs a capsule: stage, confine, execute, report, record. What was made for it ends with it.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use mur_bundle::{Bundle, HostLayout, plan, write};
use mur_policy::report::{CgroupScopeStatus, ScopeOutcome};
use mur_policy::{Notice, ScopeReport};
use mur_runtime::cgroup::{CapsuleScope, Rights, scope_name, sweep_groups};
use mur_runtime::engine::{NativeEngine, Stdio};
use mur_runtime::id::ContainerId;
use mur_runtime::layout::{IdentityChoice, Purpose, WorkdirState};
use mur_runtime::plan::{ExecOptions, Holder, Orphan};
use mur_runtime::state::Status;
use mur_runtime::store::Store;
use mur_runtime::verb::{
    Console, CreateRequest, Created, ExitStatus as Ended, Force, Group, Master, Supervisor, Until,
    create, delete,
};
use nix::sys::signal::{Signal, kill};
use oci_spec::runtime::{LinuxResources, Spec};

use super::error::{PrepareError, RunError};
use super::explain::{io_outcome, with_some_process};
use super::folders::{SessionFolders, is_held};
use super::id::{SessionId, is_session};
use super::prepare::Prepared;
use super::quota::Quota;
use super::record::{self, Command};
use super::trace::{ExitStatus, Trace};

/// The folder of the session in which its root is staged.
const STAGED_ROOT: &str = "bundle";

/// How the command's streams are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// To the caller's own.
    Caller,
    /// Standard output to the caller's standard error, so that the caller's output is free.
    OutputToError,
}

/// Choices of a run that change nothing of what is allowed.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions<'a> {
    /// The streams.
    pub streams: Streams,
    /// `--root`: where container state is kept; `None` is the default place.
    pub state_root: Option<&'a Path>,
}

/// A session that starts now.
#[derive(Debug)]
pub struct Staged<'a> {
    /// Its name.
    pub id: &'a SessionId,
    /// What the capsule may do.
    pub report: &'a ScopeReport,
    /// What is weaker than it looks.
    pub notices: &'a [Notice],
}

/// A session that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its name.
    pub id: SessionId,
    /// The command's exit code; 128+n for a signal.
    pub exit_code: u8,
    /// In the words of the trace.
    pub exit_status: ExitStatus,
    /// The limit that ended the command, by its manifest key, where the evidence names one.
    pub resource_limit: Option<&'static str>,
    /// The bytes that were found above `workdir_max_bytes`.
    pub quota_breach: Option<u64>,
    /// How long the command ran.
    pub duration: Duration,
    /// The work folder.
    pub workdir: std::path::PathBuf,
    /// The records folder.
    pub records: std::path::PathBuf,
}

/// Runs the capsule to its end. `staged` is told when everything is decided and recorded, before the command starts.
pub fn run(
    prepared: &Prepared,
    options: &RunOptions<'_>,
    mut staged: impl FnMut(&Staged<'_>),
) -> Result<Finished, RunError> {
    prepared.require_host()?;
    let dry = prepared.read_dry_layout(IdentityChoice::Natural, Purpose::Session)?;
    prepared.require_command(&dry)?;
    let resources = resources_of(prepared, &dry)?;

    sweep(options);
    let id = SessionId::mint();
    let scope = make_scope(prepared, &id, &resources)?;
    let (folders, undo) = SessionFolders::create(&prepared.home, &id, &prepared.workdir)?;
    let layout = read_session_layout(prepared, &folders)?;
    folders.give_to(layout.identity.uid.host, layout.identity.gid.host)?;

    let report = report_of(prepared, &layout, &scope);
    let notices = prepared.notices(&report, &layout);
    write_runtime_folder(prepared, &folders, &report, layout.identity.gid.host)?;
    write_log(&folders, &notices, layout.identity.gid.host)?;
    let bundle = stage_root(prepared, &folders, &layout)?;

    let mut trace = Trace::create(&folders.records, &id)?;
    trace.write(&record::session_start(&prepared.policy, &report))?;
    staged(&Staged { id: &id, report: &report, notices: &notices });

    let session = Session { prepared, options, id: &id, folders: &folders };
    let outcome = session.execute(&bundle, scope)?;
    undo.keep();
    let finished = session.finish(&mut trace, &layout, outcome)?;
    folders.end()?;
    Ok(finished)
}

/// Takes away the containers and groups of sessions that ended without doing so themselves.
fn sweep(options: &RunOptions<'_>) {
    if let Some(store) = shared_store(options).map(|root| Store::open(&root)) {
        for container in store.list().unwrap_or_default() {
            let id = container.id();
            let ended = container.status() == Status::Stopped && is_session(id.as_str());
            // The session's own folder, in whoever's home: one that is being made or ended holds its lock.
            let held = container.record().bundle.parent().is_some_and(is_held);
            if ended && !held {
                let _ = delete(&store, id, Force::Yes);
            }
        }
    }
    sweep_groups();
}

/// Where container state is kept, if there is a place for it beside the session's own folders.
fn shared_store(options: &RunOptions<'_>) -> Option<std::path::PathBuf> {
    let given = options.state_root.map(Path::to_path_buf);
    given.or_else(|| Store::default_root(Rights::of_caller()).ok())
}

/// What a container is limited by.
fn resources_of(prepared: &Prepared, layout: &HostLayout) -> Result<LinuxResources, PrepareError> {
    let policy = with_some_process(&prepared.policy);
    let planned = plan(&policy, &prepared.decision, layout)?;
    let linux = planned.spec().linux().as_ref();
    Ok(linux.and_then(|linux| linux.resources().clone()).unwrap_or_default())
}

fn make_scope(
    prepared: &Prepared,
    id: &SessionId,
    resources: &LinuxResources,
) -> Result<CapsuleScope, RunError> {
    let name = scope_name(id.as_str(), std::process::id(), 0);
    CapsuleScope::create(&name, resources)
        .map_err(|source| RunError::Scope { capsule: prepared.policy.capsule.name.clone(), source })
}

fn read_session_layout(
    prepared: &Prepared,
    folders: &SessionFolders,
) -> Result<HostLayout, PrepareError> {
    let mut places = prepared.folders_of_bundle();
    let paths = &folders.paths;
    for (place, path) in [
        (&mut places.runtime, &paths.runtime),
        (&mut places.records, &paths.records),
        (&mut places.tmp, &paths.tmp),
        (&mut places.home, &paths.home),
    ] {
        place.path.clone_from(path);
        place.source.clone_from(path);
    }
    let workdir = (folders.workdir.path().to_path_buf(), WorkdirState::Existing);
    prepared.read_layout(workdir, places, IdentityChoice::Natural, Purpose::Session)
}

/// The same report as `explain` gives: performed and probed outcomes are worded alike.
fn report_of(prepared: &Prepared, layout: &HostLayout, scope: &CapsuleScope) -> ScopeReport {
    let mut outcomes = prepared.outcomes(layout);
    if prepared.policy.has_subprocess_route() {
        outcomes.cgroup = ScopeOutcome { status: CgroupScopeStatus::Delegated, reason: None };
        outcomes.io_max = io_outcome(scope.outcomes(), layout);
    }
    ScopeReport::new(&prepared.policy, &prepared.decision, &outcomes)
}

/// What the capsule may read about itself.
fn write_runtime_folder(
    prepared: &Prepared,
    folders: &SessionFolders,
    report: &ScopeReport,
    gid: u32,
) -> Result<(), RunError> {
    let runtime = folders.open_runtime()?;
    runtime.write_file("murmur.yaml", &prepared.manifest, gid)?;
    runtime.write_file("MURMUR.md", report.render_text().as_bytes(), gid)?;
    Ok(())
}

/// Keeps the warnings with the session's records (`spec/codes.md` §1).
fn write_log(folders: &SessionFolders, notices: &[Notice], gid: u32) -> Result<(), RunError> {
    let lines: Vec<String> =
        notices.iter().map(|notice| format!("[capability-policy] {notice}\n")).collect();
    let logs = folders.records.open_below("logs".as_ref())?;
    logs.write_file("bootstrap.log", lines.concat().as_bytes(), gid)?;
    Ok(())
}

fn stage_root(
    prepared: &Prepared,
    folders: &SessionFolders,
    layout: &HostLayout,
) -> Result<Bundle, RunError> {
    let planned = plan(&prepared.policy, &prepared.decision, layout).map_err(PrepareError::from)?;
    Ok(write(&planned, &folders.paths.session.join(STAGED_ROOT))?)
}

/// How the command ended, before it is recorded.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    ended: Ended,
    duration: Duration,
    resource_limit: Option<&'static str>,
    quota_breach: Option<u64>,
}

/// A session whose folders are made.
struct Session<'a> {
    prepared: &'a Prepared,
    options: &'a RunOptions<'a>,
    id: &'a SessionId,
    folders: &'a SessionFolders,
}

impl Session<'_> {
    /// Starts the command and stays until it ends; the container is gone afterwards.
    fn execute(&self, bundle: &Bundle, scope: CapsuleScope) -> Result<Outcome, RunError> {
        let store = Store::open(&self.state_root());
        let id: ContainerId = self.id.as_str().parse()?;
        let supervisor = Supervisor::new()?;
        let console = console_of(bundle.spec())?;
        let placement = scope.placement().clone();
        let before = placement.counters();
        let started = Instant::now();
        let created = self.create(&store, &id, bundle, scope, console.as_ref())?;
        let deleted = Deleted { store: &store, id: &id };
        let master = console.map(Console::into_master).transpose()?.flatten();
        let (ended, quota_breach) = self.wait(supervisor, &created, master)?;
        let duration = started.elapsed();
        let resource_limit = record::limit_of(ended, &before, &placement.counters());
        drop(deleted);
        Ok(Outcome { ended, duration, resource_limit, quota_breach })
    }

    fn create(
        &self,
        store: &Store,
        id: &ContainerId,
        bundle: &Bundle,
        scope: CapsuleScope,
        console: Option<&Console>,
    ) -> Result<Created, RunError> {
        let (input, errors) = (io::stdin(), io::stderr());
        let streams = match self.options.streams {
            Streams::Caller => Stdio::Inherit,
            Streams::OutputToError => Stdio::Given([input.as_fd(), errors.as_fd(), errors.as_fd()]),
        };
        let request = CreateRequest {
            id,
            bundle: bundle.dir(),
            spec: bundle.spec(),
            options: ExecOptions {
                holder: Holder::Reaper,
                orphan: Orphan::Killed,
                ..ExecOptions::default()
            },
            group: Group::Given(Box::new(scope)),
            stdio: streams,
            console: console.map(Console::engine_end),
            preserve_fds: 0,
            until: Until::Running,
            pid_file: None,
        };
        Ok(create(store, &NativeEngine, request)?)
    }

    /// Waits for the command, measuring its folders as it goes.
    fn wait(
        &self,
        supervisor: Supervisor,
        created: &Created,
        master: Option<Master>,
    ) -> Result<(Ended, Option<u64>), RunError> {
        let folders = [&self.folders.workdir, &self.folders.tmp, &self.folders.home];
        let mut quota = Quota::new(self.prepared.policy.resources.workdir_max_bytes, folders);
        let period = Some(Quota::PERIOD);
        let ended = supervisor.wait_ticking(&created.init, master, period, |init| {
            if quota.is_breached() {
                // Its number is not reused before it is reaped.
                let _ = kill(init.pid(), Signal::SIGKILL);
            }
        })?;
        Ok((ended, quota.breach()))
    }

    fn finish(
        &self,
        trace: &mut Trace,
        layout: &HostLayout,
        outcome: Outcome,
    ) -> Result<Finished, RunError> {
        let Outcome { ended, duration, resource_limit, quota_breach } = outcome;
        let exit_code = ended.code();
        let ok = exit_code == 0 && quota_breach.is_none();
        let exit_status = if ok { ExitStatus::Ok } else { ExitStatus::Failed };
        let command = Command { exit_code, duration, resource_limit };
        trace.write(&record::shell(&self.prepared.policy, layout, &command))?;
        trace.write(&record::session_end(duration, exit_status))?;
        Ok(Finished {
            id: self.id.clone(),
            exit_code: if quota_breach.is_some() { 1 } else { exit_code },
            exit_status,
            resource_limit,
            quota_breach,
            duration,
            workdir: self.folders.workdir.path().to_path_buf(),
            records: self.folders.records.path().to_path_buf(),
        })
    }

    /// Where the container's state is: a session without a place for state keeps it with its own folders.
    fn state_root(&self) -> std::path::PathBuf {
        shared_store(self.options).unwrap_or_else(|| self.folders.paths.session.join("state"))
    }
}

fn console_of(spec: &Spec) -> Result<Option<Console>, RunError> {
    let wanted = spec.process().as_ref().and_then(oci_spec::runtime::Process::terminal);
    if wanted != Some(true) {
        return Ok(None);
    }
    Supervisor::require_terminal()?;
    Ok(Some(Console::pair()?))
}

/// Deletes the container when it goes out of scope, whatever happened before.
struct Deleted<'a> {
    store: &'a Store,
    id: &'a ContainerId,
}

impl Drop for Deleted<'_> {
    fn drop(&mut self) {
        if let Err(error) = delete(self.store, self.id, Force::Yes) {
            tracing::warn!(id = %self.id, error = &error as &dyn std::error::Error, "not deleted");
        }
    }
}
