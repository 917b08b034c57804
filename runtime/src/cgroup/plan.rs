//! Decides everything that making a group takes.

use std::path::{Path, PathBuf};

use oci_spec::runtime::LinuxResources;

use super::Manager;
use super::device::{self, Rule};
use super::error::{ScopeError, in_words};
use super::layout::{Layout, Version};
use super::limit::{self, Controller, Home, Step};
use super::place::{Placement, place};
use crate::id::ContainerId;
use crate::kernel_file::read_text;

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

/// Which limits a group may do without; [`super::Scope::outcomes`] says what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wished {
    /// None: each is set or refused.
    Nothing,
    /// Those on block devices, which few hosts delegate.
    Io,
    /// All: to find out what the host can do.
    Everything,
}

impl Wished {
    pub(super) fn covers(self, is_io: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Io => is_io,
            Self::Everything => true,
        }
    }
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
    pub(super) placement: Placement,
    pub(super) steps: Vec<Step>,
    pub(super) devices: Option<Vec<Rule>>,
    pub(super) rights: Rights,
    pub(super) owner: Option<u32>,
    pub(super) resources: Option<LinuxResources>,
    pub(super) wished: Wished,
    /// Wished limits that have no form here.
    pub(super) formless: Vec<LimitOutcome>,
    /// The topmost v2 folder in which the caller may enable controllers; `None`: the mount.
    pub(super) top: Option<PathBuf>,
}

impl ScopePlan {
    /// Decides it from the request and the host's hierarchies.
    pub fn decide(request: &ScopeRequest<'_>, layout: &Layout) -> Result<Self, ScopeError> {
        let placement = place(request.id, request.cgroups_path, request.manager, layout)
            .map_err(|source| ScopeError::Place { source })?;
        Self::decide_at(placement, request, Wished::Nothing, layout)
    }

    /// Decides it for a place that is chosen already; `cgroups_path` of the request is not read.
    pub(super) fn decide_at(
        mut placement: Placement,
        request: &ScopeRequest<'_>,
        wished: Wished,
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
        let (mut steps, mut devices, mut formless) = (Vec::new(), None, Vec::new());
        if !placement.is_empty() {
            if let Some(resources) = request.resources {
                (steps, formless) = lower(resources, wished, layout)?;
            }
            let rules = request.resources.and_then(|r| r.devices().as_deref()).unwrap_or_default();
            let rules = device::parse(rules).map_err(|source| ScopeError::Devices { source })?;
            // Without the host's root nobody can make a node, and opening one is the caller's
            // right already: there is nothing that rules would take away.
            devices = (request.rights == Rights::Root).then_some(rules);
        }
        for folder in placement.folders().map(Path::to_path_buf).collect::<Vec<_>>() {
            if folder.exists() {
                placement.foreign.push(folder);
                continue;
            }
            // Whoever cleans up after a crash must know what was about to be made.
            let missing = folder.ancestors().skip(1).take_while(|parent| !parent.exists());
            let mut missing: Vec<_> = missing.map(Path::to_path_buf).collect();
            missing.reverse();
            placement.parents.extend(missing);
        }
        Ok(Self {
            placement,
            steps,
            devices,
            rights: request.rights,
            owner: request.owner,
            resources: request.resources.cloned(),
            wished,
            formless,
            top: None,
        })
    }

    /// The same with controllers enabled from `top` on.
    pub(super) fn below(mut self, top: Option<PathBuf>) -> Self {
        self.top = top;
        self
    }

    /// Where it will be; with systemd the folders of a user's unit may still change.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// True when a limit or a rule needs the folder of `subsystems`; `None` is v2's.
    pub(super) fn needs(&self, subsystems: Option<&[String]>, layout: &Layout) -> bool {
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

/// Lowers `resources`; what is wished and has no form here is an outcome already.
fn lower(
    resources: &LinuxResources,
    wished: Wished,
    layout: &Layout,
) -> Result<(Vec<Step>, Vec<LimitOutcome>), ScopeError> {
    let (mut steps, mut formless) = (Vec::new(), Vec::new());
    for part in limit::lower_each(resources, layout) {
        match part {
            Ok(part) => steps.extend(part),
            Err(error) if wished.covers(error.limit().starts_with("blockIO")) => {
                let (limit, result) = (error.limit(), Err(in_words(&error)));
                formless.push(LimitOutcome { limit, result });
            }
            Err(source) => return Err(ScopeError::Limit { source }),
        }
    }
    Ok((steps, formless))
}
