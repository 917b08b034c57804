//! Makes a container of processes on disk.

use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Pid, fchdir};
use oci_spec::runtime::Spec;

use super::super::create::{CreateError, first_record, write_pid_file};
use super::super::group::{self, Group, MadeGroup};
use super::super::version::check_version;
use super::option::CriuOptions;
use super::{CriuError, DESCRIPTORS, LANDLOCK, make_folder, run};
use crate::cgroup::{Layout, Placement, ScopeError};
use crate::engine::{HookPoints, InitProcess};
use crate::hook::{self, HookRunner, HookState};
use crate::id::ContainerId;
use crate::plan::{self, ExecOptions};
use crate::state::{Phase, ProcessMark};
use crate::store::{Container, StateDir, Store, TenantRecord};
use crate::sys::process::pidfd_open;
use crate::verb::Created;

const LOG: &str = "restore.log";

/// What is asked for.
#[derive(Debug)]
pub struct RestoreRequest<'a> {
    /// Name of the new container.
    pub id: &'a ContainerId,
    /// Absolute folder of the bundle, with the root file system.
    pub bundle: &'a Path,
    /// Its config: control groups, root and what later processes are held by.
    pub spec: &'a Spec,
    /// Its control groups.
    pub group: Group,
    /// What criu is told.
    pub options: &'a CriuOptions,
    /// A file that gets the number of its first process.
    pub pid_file: Option<&'a Path>,
}

/// A container could not be restored. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// What creating a container needs as well failed.
    #[error(transparent)]
    Create(CreateError),
    /// criu could not do it.
    #[error(transparent)]
    Criu(CriuError),
}

/// Restores a container from the images of `request`.
pub fn restore(store: &Store, request: RestoreRequest<'_>) -> Result<Created, RestoreError> {
    let id = request.id.clone();
    refuse_lossy(&request).map_err(RestoreError::Criu)?;
    let create = RestoreError::Create;
    check_version(request.spec.version())
        .map_err(|source| create(CreateError::Version { id: id.clone(), source }))?;
    let plan = plan::plan(request.spec, request.bundle, &ExecOptions::default())
        .map_err(|source| create(CreateError::Plan { id: id.clone(), source }))?;
    let hooks = request.spec.hooks().clone().unwrap_or_default();
    hook::check(&hooks).map_err(|source| create(CreateError::Hook { id: id.clone(), source }))?;
    let scope_failed = |source| create(CreateError::Scope { id: id.clone(), source });
    let prepared = group::prepare(&request.group, &id, request.spec).map_err(scope_failed)?;
    let manager = request.group.manager();
    let mut record = first_record(&id, request.bundle, request.spec, manager);
    record.placement = prepared.placement();

    let dir = store.reserve(&id).map_err(|source| create(CreateError::Name(source)))?;
    let kept = |source| create(CreateError::Store { id: id.clone(), source });
    dir.write_first(&record).map_err(kept)?;
    let group = prepared.make(request.group).map_err(scope_failed)?;
    let layout = Layout::read().map_err(|source| scope_failed(ScopeError::Layout { source }))?;
    let images = Images {
        id: &id,
        options: request.options,
        placement: group.placement(),
        layout: &layout,
        root: &record.rootfs,
        readonly: request
            .spec
            .root()
            .as_ref()
            .and_then(oci_spec::runtime::Root::readonly)
            .unwrap_or(false),
    };
    let mut init = images.restore(&dir).map_err(RestoreError::Criu)?;
    record.phase = Phase::Made;
    record.init = ProcessMark::read(init.pid());
    if let Some(process) = request.spec.process() {
        let tenant = TenantRecord { base: plan.tenant_base(), process: process.clone() };
        dir.write_tenant(&tenant).map_err(kept)?;
    }
    if let Some(path) = request.pid_file {
        write_pid_file(path, init.pid().as_raw())
            .map_err(|source| create(CreateError::PidFile { path: path.to_path_buf(), source }))?;
    }
    record.placement = MadeGroup::keep(group);
    let container: Container = dir.keep(record).map_err(kept)?;
    init.keep();
    Ok(Created { container, init })
}

/// Refuses what criu, as it is called here, would not bring back.
fn refuse_lossy(request: &RestoreRequest<'_>) -> Result<(), CriuError> {
    let spec = request.spec;
    let empty = std::path::PathBuf::new();
    let hooks = spec.hooks().clone().unwrap_or_default();
    let state = HookState::of(request.id, &empty, &std::collections::BTreeMap::new());
    let wanted = HookRunner::new(&hooks, state).wanted();
    let terminal = spec.process().as_ref().and_then(oci_spec::runtime::Process::terminal);
    let annotated = spec.annotations().as_ref().is_some_and(|all| all.contains_key(LANDLOCK));
    let reason = if annotated {
        "criu does not keep its Landlock domain, and it would come back unconfined"
    } else if terminal == Some(true) {
        "its terminal cannot be handed to anybody"
    } else if wanted.create_runtime || wanted.create_container || wanted.start_container {
        "its hooks before the program's start cannot be run"
    } else {
        return Ok(());
    };
    Err(CriuError::Lossy { id: request.id.clone(), action: "restored", reason })
}

/// Processes on disk and where they go.
struct Images<'a> {
    id: &'a ContainerId,
    options: &'a CriuOptions,
    placement: &'a Placement,
    layout: &'a Layout,
    root: &'a Path,
    readonly: bool,
}

impl Images<'_> {
    /// Restores the processes; the first is a child of the caller.
    fn restore(&self, dir: &StateDir) -> Result<InitProcess, CriuError> {
        let file = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| CriuError::File { action, path, source }
        };
        make_folder(self.options.work())?;
        let images =
            fs::canonicalize(&self.options.images).map_err(file("open", &self.options.images))?;
        let root = RootMount::make(self.root, &dir.path().join("root"), self.readonly)?;
        let pid_file = dir.path().join("criu-pid");
        let mut arguments =
            self.options.restore(&root.path, &pid_file, self.placement, self.layout, LOG);
        arguments.extend(inherited(&images)?);
        run(self.id, "restore", &arguments, self.options.work(), LOG)?;
        let text = fs::read_to_string(&pid_file).map_err(file("read", &pid_file))?;
        let _ = fs::remove_file(&pid_file);
        let pid = Pid::from_raw(text.trim().parse().unwrap_or(0));
        let pidfd = pidfd_open(pid).map_err(|errno| file("understand", &pid_file)(errno.into()))?;
        Ok(InitProcess::new(pid, pidfd))
    }
}

/// The streams of the caller take the place of pipes that the first process had.
fn inherited(images: &Path) -> Result<Vec<OsString>, CriuError> {
    let path = images.join(DESCRIPTORS);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(CriuError::File { action: "read", path, source }),
    };
    let links: Vec<String> = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut seen: Vec<String> = Vec::new();
    let mut arguments = Vec::new();
    for (number, link) in links.into_iter().enumerate() {
        if link.starts_with("pipe:") && !seen.contains(&link) {
            arguments.push("--inherit-fd".into());
            arguments.push(format!("fd[{number}]:{link}").into());
            seen.push(link);
        }
    }
    Ok(arguments)
}

/// A mount namespace of our own with the root file system as a mount, which criu needs.
///
/// Nothing of it is on the host: a restore that is killed leaves no mount, through which removing
/// the state folder would reach the root file system. On drop the caller is back where it was.
struct RootMount {
    path: PathBuf,
    namespace: OwnedFd,
    folder: OwnedFd,
}

impl RootMount {
    fn make(root: &Path, at: &Path, readonly: bool) -> Result<Self, CriuError> {
        let failed = |errno: nix::Error| CriuError::File {
            action: "mount the root file system on",
            path: at.to_path_buf(),
            source: errno.into(),
        };
        make_folder(at)?;
        let flags = OFlag::O_CLOEXEC;
        let namespace = open("/proc/self/ns/mnt", flags, Mode::empty()).map_err(failed)?;
        let folder = open(".", flags | OFlag::O_PATH, Mode::empty()).map_err(failed)?;
        unshare(CloneFlags::CLONE_NEWNS).map_err(failed)?;
        // Owned from here on: whatever fails, the caller goes back.
        let mounted = Self { path: at.to_path_buf(), namespace, folder };
        let none: Option<&str> = None;
        let apart = MsFlags::MS_SLAVE | MsFlags::MS_REC;
        mount(none, "/", none, apart, none).map_err(failed)?;
        let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(root), at, none, bind, none).map_err(failed)?;
        let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
        mount(none, at, none, private, none).map_err(failed)?;
        if readonly {
            // A remount takes away what it does not repeat.
            let flags = statvfs(at).map_err(failed)?.flags();
            let kept = [
                (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
                (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
                (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
                (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
                (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
            ];
            let kept = kept.iter().filter(|(is, _)| flags.contains(*is)).map(|(_, flag)| *flag);
            let readonly = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
            let flags = kept.fold(readonly, |all, flag| all | flag);
            mount(none, at, none, flags, none).map_err(failed)?;
        }
        Ok(mounted)
    }
}

impl Drop for RootMount {
    fn drop(&mut self) {
        let back = setns(&self.namespace, CloneFlags::CLONE_NEWNS);
        if let Err(error) = back.and_then(|()| fchdir(&self.folder)) {
            tracing::warn!(%error, "still in the mount namespace of the restore");
            return;
        }
        let _ = fs::remove_dir(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::Manager;

    #[test]
    fn what_would_not_come_back_is_refused_before_anything_is_made() {
        let options = CriuOptions::default();
        let id = "web".parse().unwrap();
        for (key, value, refused) in [
            ("hostname", serde_json::json!("x"), false),
            ("annotations", serde_json::json!({"org.murmur.landlock": "{}"}), true),
            (
                "process",
                serde_json::json!({"terminal": true, "cwd": "/", "user": {"uid": 0, "gid": 0}}),
                true,
            ),
            ("hooks", serde_json::json!({"createRuntime": [{"path": "/a"}]}), true),
            ("hooks", serde_json::json!({"poststop": [{"path": "/a"}]}), false),
        ] {
            let mut config = serde_json::json!({"ociVersion": "1.0.0"});
            config[key] = value;
            let spec: Spec = serde_json::from_value(config).unwrap();
            let group =
                Group::Managed { manager: Manager::Disabled, rights: crate::cgroup::Rights::Root };
            let request = RestoreRequest {
                id: &id,
                bundle: Path::new("/b"),
                spec: &spec,
                group,
                options: &options,
                pid_file: None,
            };
            assert_eq!(refuse_lossy(&request).is_err(), refused, "{key}");
        }
    }
}
