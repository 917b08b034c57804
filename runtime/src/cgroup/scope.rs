//! Makes a container's group, limits it, and undoes that unless it is kept.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc;
use oci_spec::runtime::LinuxResources;

use super::device::{self, Rule};
use super::error::ScopeError;
use super::layout::{Layout, Version, beneath};
use super::limit::{self, Controller, Home, Step};
use super::place::{Placement, place};
use super::{Manager, apply, folder, systemd};
use crate::engine::{CgroupHierarchy, CgroupSeat};
use crate::id::ContainerId;
use crate::kernel_file::read_text;
use crate::sys::placeholder::Placeholder;

/// Whose rights the caller has over the host's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// The host's root: what cannot be made is an error.
    Root,
    /// Somebody else, or root of a user namespace: a group is made where that is allowed, and
    /// what cannot be made is an error only when a limit needs it.
    Rootless,
}

impl Rights {
    /// Reads them: root is uid 0 of a user namespace in which every host id is itself.
    pub fn of_caller() -> Self {
        let whole = || {
            let map = read_text("/proc/self/uid_map").unwrap_or_default();
            map.split_whitespace().eq(["0", "0", "4294967295"])
        };
        if nix::unistd::geteuid().is_root() && whole() { Self::Root } else { Self::Rootless }
    }
}

/// What is asked for a container.
#[derive(Debug, Clone, Copy)]
pub struct ScopeRequest<'a> {
    /// Its name.
    pub id: &'a ContainerId,
    /// `linux.cgroupsPath`.
    pub cgroups_path: Option<&'a Path>,
    /// `linux.resources`.
    pub resources: Option<&'a LinuxResources>,
    /// Who keeps it.
    pub manager: Manager,
    /// What the caller may do.
    pub rights: Rights,
    /// The host's number of the user who gets the v2 group (`cgroup` mounted writable in a cgroup
    /// namespace of its own).
    pub owner: Option<u32>,
}

/// Whether a container may start without its limits on block devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoLimits {
    /// They are limits like all others.
    Required,
    /// They are set where the host can; [`Scope::outcomes`] says whether.
    Wished,
}

/// What became of one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitOutcome {
    /// The key below `linux.resources` that asks for it.
    pub limit: &'static str,
    /// Nothing, or why it is not in force, in words.
    pub result: Result<(), String>,
}

/// Everything that making a scope takes, decided.
#[derive(Debug, Clone)]
pub struct ScopePlan {
    placement: Placement,
    steps: Vec<Step>,
    devices: Option<Vec<Rule>>,
    rights: Rights,
    owner: Option<u32>,
    resources: Option<LinuxResources>,
    io: IoLimits,
    /// The topmost v2 folder in which the caller may enable controllers; `None`: the mount.
    top: Option<PathBuf>,
}

impl ScopePlan {
    /// Decides it from the request and the host's hierarchies.
    pub fn decide(request: &ScopeRequest<'_>, layout: &Layout) -> Result<Self, ScopeError> {
        let placement = place(request.id, request.cgroups_path, request.manager, layout)
            .map_err(|source| ScopeError::Place { source })?;
        Self::decide_at(placement, request, layout)
    }

    /// Decides it for a place that is chosen already; `cgroups_path` of the request is not read.
    pub(super) fn decide_at(
        mut placement: Placement,
        request: &ScopeRequest<'_>,
        layout: &Layout,
    ) -> Result<Self, ScopeError> {
        for mount in layout.mounts() {
            if placement.folders().any(|folder| folder == mount) {
                return Err(ScopeError::Root { path: mount.to_path_buf() });
            }
        }
        let asked = request.resources.is_some_and(limit::asks_for_limits);
        if placement.is_empty() && asked {
            let why = match request.manager {
                Manager::Disabled => "the cgroup manager is `disabled`",
                Manager::Cgroupfs | Manager::Systemd(_) => "the host has no cgroup hierarchy",
            };
            return Err(ScopeError::NoScope { why: why.to_owned() });
        }
        let (mut steps, mut devices) = (Vec::new(), None);
        if !placement.is_empty() {
            if let Some(resources) = request.resources {
                steps = limit::lower(resources, layout)
                    .map_err(|source| ScopeError::Limit { source })?;
            }
            let rules = request.resources.and_then(|r| r.devices().as_deref()).unwrap_or_default();
            let rules = device::parse(rules).map_err(|source| ScopeError::Devices { source })?;
            // Without the host's root nobody can make a node, and opening one is the caller's
            // right already: there is nothing that rules would take away.
            devices = (request.rights == Rights::Root).then_some(rules);
        }
        let existing = placement.folders().filter(|folder| folder.exists());
        placement.foreign = existing.map(Path::to_path_buf).collect();
        Ok(Self {
            placement,
            steps,
            devices,
            rights: request.rights,
            owner: request.owner,
            resources: request.resources.cloned(),
            io: IoLimits::Required,
            top: None,
        })
    }

    /// The same for a capsule: limits on block devices are wished, and controllers are enabled
    /// from `top` on.
    pub(super) fn for_capsule(mut self, top: Option<PathBuf>) -> Self {
        self.io = IoLimits::Wished;
        self.top = top;
        self
    }

    /// The steps, for trying each by itself.
    pub(super) fn take_steps(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Where it will be; with systemd the folders of a user's unit may still change.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// True when a limit or a rule needs the folder of `subsystems`; `None` is v2's.
    fn needs(&self, subsystems: Option<&[String]>, layout: &Layout) -> bool {
        let serves = |c: Controller| match subsystems {
            Some(names) => names.iter().any(|name| name == c.v1_name()),
            None => layout.version_of(c) == Some(Version::V2),
        };
        let limited = self.steps.iter().any(|step| match step.home {
            Home::V1(controller) => serves(controller),
            Home::V2 => subsystems.is_none(),
        });
        limited || (self.devices.is_some() && serves(Controller::Devices))
    }
}

/// A group that was made for a container; removed on drop unless kept.
#[derive(Debug)]
pub struct Scope {
    placement: Placement,
    v2: Option<OwnedFd>,
    tasks: Vec<OwnedFd>,
    /// Keeps a systemd scope open until the first process is in it.
    placeholder: Option<Placeholder>,
    outcomes: Vec<LimitOutcome>,
    /// What cgroup mounts show: where the process is in each hierarchy, in a group of its own or not.
    shown: Vec<CgroupHierarchy>,
    kept: bool,
}

impl Scope {
    /// Makes the group of `plan`, limits it and opens what a process needs to join it.
    pub fn create(plan: &ScopePlan, layout: &Layout) -> Result<Self, ScopeError> {
        let mut scope = Self::of(plan.placement.clone());
        scope.start_unit(plan, layout)?;
        scope.make_v1(plan, layout)?;
        scope.make_v2(plan, layout)?;
        for step in &plan.steps {
            let done = apply::carry_out(step, &scope.placement);
            let outcome = LimitOutcome::of(step, &done);
            if done.is_err() && !(plan.io == IoLimits::Wished && step.is_io()) {
                done?;
            }
            scope.outcomes.push(outcome);
        }
        scope.rule_devices(plan, layout)?;
        scope.give_to(plan.owner)?;
        scope.open()?;
        scope.shown = shown(&scope.placement, layout);
        Ok(scope)
    }

    fn of(placement: Placement) -> Self {
        Self {
            placement,
            v2: None,
            tasks: Vec::new(),
            placeholder: None,
            outcomes: Vec::new(),
            shown: Vec::new(),
            kept: false,
        }
    }

    /// Where it is.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What became of each limit.
    pub fn outcomes(&self) -> &[LimitOutcome] {
        &self.outcomes
    }

    /// What the engine needs to put a process in, and to show the group in its mounts.
    pub fn seat(&self) -> CgroupSeat<'_> {
        CgroupSeat {
            unified: self.v2.as_ref().map(AsFd::as_fd),
            tasks: self.tasks.iter().map(AsFd::as_fd).collect(),
            hierarchies: self.shown.clone(),
        }
    }

    /// Lets it stay when this value is dropped. Its first process must be in it by now.
    pub fn keep(mut self) -> Placement {
        self.kept = true;
        std::mem::take(&mut self.placement)
    }

    fn start_unit(&mut self, plan: &ScopePlan, layout: &Layout) -> Result<(), ScopeError> {
        let Some(unit) = self.placement.unit.clone() else { return Ok(()) };
        let version = unit_version(layout);
        let started = systemd::start(&unit, plan.resources.as_ref(), version)
            .map_err(|source| ScopeError::Systemd { source })?;
        self.placeholder = started.placeholder;
        let placed = super::place::in_files(&started.group, layout);
        self.placement.v1 = placed.v1;
        self.placement.v2 = placed.v2;
        self.placement.foreign.clear();
        Ok(())
    }

    fn make_v1(&mut self, plan: &ScopePlan, layout: &Layout) -> Result<(), ScopeError> {
        let folders = std::mem::take(&mut self.placement.v1);
        for (place, hierarchy) in folders.into_iter().zip(&layout.v1) {
            let cpuset = hierarchy.subsystems.iter().any(|name| name == "cpuset");
            let needed = plan.needs(Some(&place.subsystems), layout);
            let path = place.path.clone();
            self.placement.v1.push(place);
            let made = folder::create(&hierarchy.mount, &path, &mut |made| {
                if cpuset { folder::inherit_cpuset(made) } else { Ok(()) }
            });
            if !self.note(&path, made, needed, plan.rights)? {
                self.placement.v1.pop();
            }
        }
        Ok(())
    }

    fn make_v2(&mut self, plan: &ScopePlan, layout: &Layout) -> Result<(), ScopeError> {
        let (Some(path), Some(hierarchy)) = (self.placement.v2.clone(), &layout.v2) else {
            return Ok(());
        };
        let needed = plan.needs(None, layout);
        let made = folder::create(&hierarchy.mount, &path, &mut |_| Ok(()));
        // Beside v1 hierarchies it holds no limits, only the kernel's way to end all at once.
        let rights = if layout.is_unified() { plan.rights } else { Rights::Rootless };
        if !self.note(&path, made, needed, rights)? {
            self.placement.v2 = None;
            return Ok(());
        }
        let controllers = plan.steps.iter().filter_map(Step::v2_controller);
        let controllers: BTreeSet<String> = controllers.map(str::to_owned).collect();
        if controllers.is_empty() && !(layout.is_unified() && self.placement.unit.is_none()) {
            return Ok(());
        }
        let top = plan.top.as_deref().unwrap_or(&hierarchy.mount);
        folder::enable(top, &path, &hierarchy.controllers, &controllers)
    }

    /// Takes note of a made folder; false: it could not be made and is not needed.
    fn note(
        &mut self,
        path: &Path,
        made: Result<folder::Made, ScopeError>,
        needed: bool,
        rights: Rights,
    ) -> Result<bool, ScopeError> {
        let made = match made {
            Ok(made) => made,
            Err(ScopeError::Create { source, path })
                if rights == Rights::Rootless && !needed && is_refusal(&source) =>
            {
                tracing::debug!(path = %path.display(), %source, "no group here");
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let known = |folder: &Path| self.placement.parents.iter().any(|p| p == folder);
        let parents: Vec<_> = made.parents.into_iter().filter(|p| !known(p)).collect();
        self.placement.parents.extend(parents);
        if made.leaf || self.placeholder.is_some() {
            self.placement.foreign.retain(|folder| folder != path);
        } else {
            refuse_unfit(path)?;
            if !self.placement.foreign.iter().any(|folder| folder == path) {
                self.placement.foreign.push(path.to_path_buf());
            }
        }
        Ok(true)
    }

    fn rule_devices(&self, plan: &ScopePlan, layout: &Layout) -> Result<(), ScopeError> {
        let Some(rules) = &plan.devices else { return Ok(()) };
        put_devices(rules, &self.placement, layout).map_err(|source| ScopeError::Devices { source })
    }

    /// Gives the v2 folder and what may be delegated of it to `owner`.
    fn give_to(&self, owner: Option<u32>) -> Result<(), ScopeError> {
        let (Some(uid), Some(folder)) = (owner, &self.placement.v2) else { return Ok(()) };
        let list = read_text("/sys/kernel/cgroup/delegate").unwrap_or_else(|_| {
            "cgroup.procs\ncgroup.subtree_control\ncgroup.threads\n".to_owned()
        });
        let files = list.lines().map(|name| folder.join(name));
        for path in std::iter::once(folder.clone()).chain(files) {
            match std::os::unix::fs::chown(&path, Some(uid), None) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done.map_err(|source| ScopeError::Delegate { path, uid, source })?,
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), ScopeError> {
        let open = |path: &Path, options: &mut OpenOptions| match options.open(path) {
            Ok(file) => Ok(OwnedFd::from(file)),
            Err(source) => Err(ScopeError::Open { path: path.to_path_buf(), source }),
        };
        for place in &self.placement.v1 {
            let path = place.path.join("tasks");
            self.tasks.push(open(&path, OpenOptions::new().write(true))?);
        }
        if let Some(path) = &self.placement.v2 {
            let mut options = OpenOptions::new();
            let fd = open(path, options.read(true).custom_flags(libc::O_DIRECTORY))?;
            self.v2 = Some(fd);
        }
        Ok(())
    }
}

impl LimitOutcome {
    /// Puts the end of a step into words, with every cause.
    pub(super) fn of(step: &Step, done: &Result<(), ScopeError>) -> Self {
        let result = done.as_ref().copied().map_err(|error| in_words(error));
        Self { limit: step.limit, result }
    }
}

/// An error and its causes in one line.
pub(super) fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl Drop for Scope {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        self.placeholder = None;
        if let Err(error) = self.placement.remove() {
            tracing::warn!(%error, "a cgroup is left behind");
        }
    }
}

impl Placement {
    /// Ends what is left in the group and removes it; a group that is gone is fine.
    ///
    /// Folders that were there before the container stay.
    pub fn remove(&self) -> Result<(), ScopeError> {
        if let Some(unit) = &self.unit
            && self.folders().any(Path::exists)
        {
            systemd::stop(unit).map_err(|source| ScopeError::Systemd { source })?;
        }
        let own = self.folders().filter(|path| !self.foreign.iter().any(|f| f == path));
        let mut busy = own.filter(|path| !folder::is_removed_at_once(path)).peekable();
        if busy.peek().is_some() {
            self.end_all().map_err(|source| ScopeError::Members { source })?;
        }
        busy.try_for_each(folder::remove)?;
        for parent in self.parents.iter().rev() {
            // Another container may be in it by now.
            let _ = fs::remove_dir(parent);
        }
        Ok(())
    }

    /// Opens the group again for one more process.
    pub fn open(&self) -> Result<Scope, ScopeError> {
        let mut scope = Scope::of(self.clone());
        scope.kept = true;
        scope.open()?;
        Ok(scope)
    }

    /// The group `path` below this one, which must exist (`exec --cgroup`).
    #[must_use]
    pub fn below(&self, path: &Path) -> Self {
        let join = |folder: &Path| super::layout::beneath(folder, path);
        let mut below = self.clone();
        for place in &mut below.v1 {
            place.path = join(&place.path);
        }
        below.v2 = self.v2.as_deref().map(join);
        below
    }
}

/// Where a process in `placement` is in each hierarchy of `layout`: in the group made for it, else in
/// that of the caller.
fn shown(placement: &Placement, layout: &Layout) -> Vec<CgroupHierarchy> {
    let v1 = layout.v1.iter().map(|hierarchy| {
        let own = || beneath(&hierarchy.mount, &hierarchy.own);
        let placed = placement.v1_of(&hierarchy.subsystems[0]);
        let joined = hierarchy.subsystems.join(",");
        let name = joined.strip_prefix("name=").unwrap_or(&joined).to_owned();
        let data = if joined.starts_with("name=") { format!("none,{joined}") } else { joined };
        let group = placed.map_or_else(own, Path::to_path_buf);
        CgroupHierarchy { name, v1_data: Some(data), group }
    });
    let v2 = layout.v2.iter().map(|hierarchy| {
        let own = || beneath(&hierarchy.mount, &hierarchy.own);
        let group = placement.v2.clone().unwrap_or_else(own);
        CgroupHierarchy { name: "unified".to_owned(), v1_data: None, group }
    });
    v1.chain(v2).collect()
}

/// Changes the limits of a container that exists.
pub fn update(
    placement: &Placement,
    resources: &LinuxResources,
    layout: &Layout,
) -> Result<(), ScopeError> {
    let asked = limit::asks_for_limits(resources);
    if placement.is_empty() && asked {
        let why = "the container has no cgroup of its own".to_owned();
        return Err(ScopeError::NoScope { why });
    }
    let steps = limit::lower(resources, layout).map_err(|source| ScopeError::Limit { source })?;
    let rules = match resources.devices() {
        Some(list) => {
            let rules = device::parse(list);
            Some(rules.map_err(|source| ScopeError::Devices { source })?)
        }
        None => None,
    };
    if let Some(unit) = &placement.unit {
        systemd::set_properties(unit, resources, unit_version(layout))
            .map_err(|source| ScopeError::Systemd { source })?;
    }
    for step in &steps {
        apply::carry_out(step, placement)?;
    }
    match rules {
        Some(rules) => {
            put_devices(&rules, placement, layout).map_err(|source| ScopeError::Devices { source })
        }
        None => Ok(()),
    }
}

fn put_devices(
    rules: &[Rule],
    placement: &Placement,
    layout: &Layout,
) -> Result<(), device::DeviceError> {
    if let Some(folder) = placement.v1_of("devices") {
        return device::write_v1(folder, rules);
    }
    let Some(path) = placement.v2.as_ref().filter(|_| layout.v2.is_some()) else {
        return Err(device::DeviceError::NoController);
    };
    let folder = fs::File::open(path).map_err(|source| device::DeviceError::Program {
        action: "open the cgroup",
        path: path.clone(),
        source,
    })?;
    device::attach_v2(path, &folder.into(), rules)
}

/// The version whose properties systemd understands here.
fn unit_version(layout: &Layout) -> Version {
    if layout.is_unified() { Version::V2 } else { Version::V1 }
}

/// Refuses a folder that was there before and cannot be a container's.
fn refuse_unfit(path: &Path) -> Result<(), ScopeError> {
    let members = read_text(path.join("cgroup.procs")).unwrap_or_default();
    if !members.is_empty() {
        return Err(ScopeError::NotEmpty { path: path.to_path_buf() });
    }
    let state = |file: &str| read_text(path.join(file)).unwrap_or_default();
    if state("freezer.state").trim() == "FROZEN" || state("cgroup.freeze").trim() == "1" {
        return Err(ScopeError::Frozen { path: path.to_path_buf() });
    }
    Ok(())
}

/// The kernel refuses the caller, rather than being unable.
fn is_refusal(error: &io::Error) -> bool {
    [Errno::EACCES, Errno::EPERM, Errno::EROFS]
        .into_iter()
        .any(|errno| error.raw_os_error() == Some(errno as i32))
}
