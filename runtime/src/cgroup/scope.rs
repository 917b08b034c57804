//! Makes a container's group, limits it, and undoes that unless it is kept.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

use super::error::{ScopeError, in_words};
use super::layout::{Layout, beneath};
use super::limit::Step;
use super::place::Placement;
use super::plan::{LimitOutcome, Rights, ScopePlan};
use super::{apply, folder, systemd};
use crate::engine::{CgroupHierarchy, CgroupSeat};
use crate::kernel_file::read_text;
use crate::sys::placeholder::Placeholder;

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
        let disabled = scope.make_v2(plan, layout)?;
        for step in &plan.steps {
            let done = apply::carry_out(step, &scope.placement);
            let wished = plan.wished.covers(step.is_io());
            let done = if wished { done.map_err(|error| in_words(&error)) } else { Ok(done?) };
            // Without its controller the file is missing, which is not the reason.
            let reason = step.v2_controller().and_then(|name| disabled.get(name));
            let result = done.map_err(|words| reason.cloned().unwrap_or(words));
            scope.outcomes.push(LimitOutcome { limit: step.limit, result });
        }
        scope.outcomes.extend(plan.formless.iter().cloned());
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
        let version = super::update::unit_version(layout);
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

    /// Makes the v2 folder; the answer is which controllers cannot be enabled, and why.
    fn make_v2(
        &mut self,
        plan: &ScopePlan,
        layout: &Layout,
    ) -> Result<BTreeMap<String, String>, ScopeError> {
        let nothing = BTreeMap::new();
        let (Some(path), Some(hierarchy)) = (self.placement.v2.clone(), &layout.v2) else {
            return Ok(nothing);
        };
        let needed = plan.needs(None, layout);
        let made = folder::create(&hierarchy.mount, &path, &mut |_| Ok(()));
        // Beside v1 hierarchies it holds no limits, only the kernel's way to end all at once.
        let rights = if layout.is_unified() { plan.rights } else { Rights::Rootless };
        if !self.note(&path, made, needed, rights)? {
            self.placement.v2 = None;
            return Ok(nothing);
        }
        let limited = plan.steps.iter().any(|step| step.v2_controller().is_some());
        let counted = layout.is_unified() && self.placement.unit.is_none();
        if !limited && !counted {
            return Ok(nothing);
        }
        let required = plan.steps.iter().filter(|step| !plan.wished.covers(step.is_io()));
        let required = required.filter_map(Step::v2_controller).map(str::to_owned).collect();
        let top = plan.top.as_deref().unwrap_or(&hierarchy.mount);
        folder::enable(top, &path, &hierarchy.controllers, &required)
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
        super::update::put_devices(rules, &self.placement, layout)
            .map_err(|source| ScopeError::Devices { source })
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
    /// Removes what a creator left that was killed: systemd may know the unit in another folder.
    pub fn abandon(&self) -> Result<(), ScopeError> {
        if let Some(unit) = &self.unit {
            systemd::stop(unit).map_err(|source| ScopeError::Systemd { source })?;
        }
        self.end_all().map_err(|source| ScopeError::Members { source })?;
        self.remove()
    }

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
