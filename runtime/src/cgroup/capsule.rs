//! The group of a capsule: found wherever the host gives the caller one, and tried for `explain`.
//!
//! Root makes it beside its own. On v2 somebody else needs a delegated group: the one the caller is
//! in when it is alone there, else a scope that the user's systemd makes around the caller. The
//! caller then steps aside into a leaf, with whoever else is in the group, because a group with
//! processes cannot limit its children.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use oci_spec::runtime::LinuxResources;

use super::error::{ScopeError, in_words};
use super::folder;
use super::layout::Layout;
use super::limit::Controller;
use super::place::{Instance, Placement, Unit, in_files};
use super::plan::{LimitOutcome, Rights, ScopePlan, ScopeRequest, Wished};
use super::scope::Scope;
use super::{Manager, systemd};
use crate::engine::CgroupSeat;
use crate::kernel_file::{read_text, write_text};

/// Where the caller goes so that its group can have limited children.
const ASIDE: &str = "murmur-supervisor";

/// Names the group of a capsule: `murmur-<session>-<pid>-<serial>`, safe as one folder.
pub fn scope_name(session: &str, pid: u32, serial: u32) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '.' { c } else { '-' };
    let session: String = session.chars().take(64).map(keep).collect();
    format!("murmur-{session}-{pid}-{serial}")
}

/// The process that made a group of this name; `None` for a name of somebody else's.
fn maker_of(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix("murmur-ses_")?.rsplitn(3, '-');
    let (serial, pid) = (parts.next()?, parts.next()?);
    serial.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Removes the empty groups of capsules whose maker has ended without taking them away.
///
/// A group with a process in it is busy and stays: its container is deleted first.
pub fn sweep_groups() {
    let Ok(layout) = Layout::read() else { return };
    let any = in_files(Path::new("any"), &layout);
    for folder in any.folders().filter_map(Path::parent) {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let maker = entry.file_name().to_str().and_then(maker_of);
            if maker.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                // Busy, or gone in between: somebody else's to remove.
                let _ = std::fs::remove_dir(entry.path());
            }
        }
    }
}

/// The group of a capsule; removed on drop unless kept.
#[derive(Debug)]
pub struct CapsuleScope {
    // Dropped first: the caller moves back when the group is gone.
    scope: Scope,
    base: Base,
}

/// What trying the limits of a capsule showed. Nothing stays of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeProbe {
    /// Where the group was, or why none can be made, in words.
    pub scope: Result<String, String>,
    /// Each limit; empty when there is no group.
    pub limits: Vec<LimitOutcome>,
}

impl CapsuleScope {
    /// Makes the group `name` and limits it by `resources`.
    ///
    /// A limit on block devices that cannot be set is in [`CapsuleScope::outcomes`]; every other
    /// one is an error.
    pub fn create(name: &str, resources: &LinuxResources) -> Result<Self, ScopeError> {
        let (base, plan) = prepare(name, resources, Wished::Io)?;
        let scope = Scope::create(&plan, &base.layout)?;
        Ok(Self { scope, base })
    }

    /// Where it is.
    pub fn placement(&self) -> &Placement {
        self.scope.placement()
    }

    /// What became of each limit.
    pub fn outcomes(&self) -> &[LimitOutcome] {
        self.scope.outcomes()
    }

    /// What the engine needs to put a process in.
    pub fn seat(&self) -> CgroupSeat<'_> {
        self.scope.seat()
    }

    /// Lets it stay when this value is dropped, and the caller where it is.
    pub fn keep(mut self) -> Placement {
        self.base.aside = None;
        self.scope.keep()
    }
}

/// Makes a throw-away group and tries each limit of `resources` in it.
pub fn probe_limits(name: &str, resources: &LinuxResources) -> ScopeProbe {
    let made = prepare(name, resources, Wished::Everything).and_then(|(base, plan)| {
        let scope = Scope::create(&plan, &base.layout)?;
        Ok((base, scope))
    });
    // The later one is dropped first: the group is removed before the caller moves back.
    let (_base, scope) = match made {
        Ok(made) => made,
        Err(error) => return ScopeProbe { scope: Err(in_words(&error)), limits: Vec::new() },
    };
    let place = scope.placement();
    if place.is_empty() {
        let why = "the caller may make no cgroup in any hierarchy".to_owned();
        return ScopeProbe { scope: Err(why), limits: Vec::new() };
    }
    let limits = scope.outcomes().to_vec();
    let shown = place.v1_of("memory").or(place.v2.as_deref()).or_else(|| place.folders().next());
    let shown = shown.map(|path| path.display().to_string()).unwrap_or_default();
    ScopeProbe { scope: Ok(shown), limits }
}

/// The group in which a capsule's is made.
#[derive(Debug)]
struct Base {
    layout: Layout,
    /// Where controllers may be enabled, when that is not everywhere.
    top: Option<PathBuf>,
    aside: Option<Aside>,
}

fn prepare(
    name: &str,
    resources: &LinuxResources,
    wished: Wished,
) -> Result<(Base, ScopePlan), ScopeError> {
    let rights = Rights::of_caller();
    let base = Base::find(rights)?;
    let resources = &without_absent_wishes(resources, &base.layout);
    let placement = match &base.top {
        Some(top) => Placement { v2: Some(top.join(name)), ..Placement::default() },
        None => in_files(Path::new(name), &base.layout),
    };
    let request = ScopeRequest {
        id: &"capsule".parse().unwrap_or_else(|_| unreachable!("a plain word")),
        cgroups_path: None,
        resources: Some(resources),
        manager: Manager::Cgroupfs,
        rights,
        owner: None,
    };
    let plan = ScopePlan::decide_at(placement, &request, wished, &base.layout)?;
    let top = base.top.clone();
    Ok((base, plan.below(top)))
}

/// The same without limits on block devices where no controller of the caller's could hold one: systemd
/// hands users `cpu memory pids` alone, and a capsule only wishes for the rest.
fn without_absent_wishes(resources: &LinuxResources, layout: &Layout) -> LinuxResources {
    let mut resources = resources.clone();
    if layout.version_of(Controller::Io).is_none() {
        resources.set_block_io(None);
    }
    resources
}

impl Base {
    fn find(rights: Rights) -> Result<Self, ScopeError> {
        let layout = read_layout()?;
        if rights == Rights::Root || !layout.is_unified() {
            return Ok(Self { layout, top: None, aside: None });
        }
        let own = own_folder(&layout);
        if is_delegated(&own) && members(&own) == [std::process::id()] {
            return Self::delegated(layout, own);
        }
        let unit = Unit {
            name: format!("murmur-{}.scope", std::process::id()),
            slice: "app.slice".to_owned(),
            instance: Instance::User,
        };
        match systemd::start_around_caller(&unit) {
            Ok(()) => {
                let layout = read_layout()?;
                let own = own_folder(&layout);
                Self::delegated(layout, own)
            }
            Err(error) if is_delegated(&own) => {
                tracing::debug!(%error, "using the inherited group, which is not ours alone");
                Self::delegated(layout, own)
            }
            Err(source) => Err(ScopeError::Systemd { source }),
        }
    }

    /// Uses `own`, which belongs to the caller, after stepping aside in it.
    fn delegated(mut layout: Layout, own: PathBuf) -> Result<Self, ScopeError> {
        let aside = Aside::step(&own)?;
        let offered = read_text(own.join("cgroup.controllers")).unwrap_or_default();
        if let Some(v2) = &mut layout.v2 {
            v2.controllers = offered.split_whitespace().map(str::to_owned).collect();
        }
        Ok(Self { layout, top: Some(own), aside })
    }
}

fn read_layout() -> Result<Layout, ScopeError> {
    Layout::read().map_err(|source| ScopeError::Layout { source })
}

/// The v2 folder of the caller, or its parent when the caller has stepped aside already.
fn own_folder(layout: &Layout) -> PathBuf {
    let Some(v2) = &layout.v2 else { return PathBuf::new() };
    let own = super::layout::beneath(&v2.mount, &v2.own);
    match own.file_name().zip(own.parent()) {
        Some((name, parent)) if name == ASIDE => parent.to_path_buf(),
        _ => own,
    }
}

/// True when the caller may make groups in `folder`, move processes and enable controllers.
fn is_delegated(folder: &Path) -> bool {
    ["", "cgroup.procs", "cgroup.subtree_control"]
        .into_iter()
        .all(|file| access(&folder.join(file), AccessFlags::W_OK).is_ok())
}

/// Processes directly in `folder`.
fn members(folder: &Path) -> Vec<u32> {
    let text = read_text(folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Moves every process from one group to another, those that are forked meanwhile too.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..16 {
        let pids = members(from);
        if pids.is_empty() {
            break;
        }
        for pid in pids {
            match write_text(to.join("cgroup.procs"), &pid.to_string()) {
                // It has ended.
                Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => {}
                done => done?,
            }
        }
    }
    Ok(())
}

/// The stay of a group's processes in a leaf of it; they move back on drop when nobody else needs
/// them there.
#[derive(Debug)]
struct Aside {
    group: PathBuf,
}

impl Aside {
    /// Moves the processes of `group`, the caller's, to a leaf in it; `None`: it has none.
    fn step(group: &Path) -> Result<Option<Self>, ScopeError> {
        if members(group).is_empty() {
            return Ok(None);
        }
        let leaf = group.join(ASIDE);
        folder::create(group, &leaf, &mut |_| Ok(()))?;
        let aside = Self { group: group.to_path_buf() };
        move_all(group, &leaf)
            .map_err(|source| ScopeError::Open { path: leaf.join("cgroup.procs"), source })?;
        Ok(Some(aside))
    }

    fn undo(&self) -> io::Result<()> {
        let leaf = self.group.join(ASIDE);
        if folder::children(&self.group) != [leaf.as_path()] {
            return Ok(());
        }
        let control = self.group.join("cgroup.subtree_control");
        let enabled = read_text(&control)?;
        for controller in enabled.split_whitespace() {
            write_text(&control, &format!("-{controller}"))?;
        }
        move_all(&leaf, &self.group)?;
        fs::remove_dir(leaf)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Err(error) = self.undo() {
            tracing::debug!(%error, group = %self.group.display(), "not moved back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maker_of_a_group_is_read_from_our_own_names_alone() {
        let name = scope_name("ses_01ab", 4711, 0);
        assert_eq!(maker_of(&name), Some(4711));
        for other in ["murmur-supervisor", "ses_01ab-4711-0", "murmur-ses_01ab", "murmur-ses_-x-0"]
        {
            assert_eq!(maker_of(other), None, "{other}");
        }
    }

    #[test]
    fn limits_on_block_devices_are_let_go_where_no_controller_holds_them_and_others_are_not() {
        let json = serde_json::json!({
            "pids": {"limit": 5},
            "blockIO": {"throttleReadBpsDevice": [{"major": 8, "minor": 0, "rate": 1}]},
        });
        let asked: LinuxResources = serde_json::from_value(json).unwrap();
        let left = without_absent_wishes(&asked, &Layout::default());
        assert!(left.block_io().is_none());
        assert_eq!(left.pids(), asked.pids());
    }

    #[test]
    fn a_session_names_a_group_that_is_one_folder() {
        for (session, name) in [
            ("01890a5d", "murmur-01890a5d-7-1"),
            ("../etc", "murmur-..-etc-7-1"),
            ("a b\n", "murmur-a-b--7-1"),
        ] {
            assert_eq!(scope_name(session, 7, 1), name);
        }
        assert!(scope_name(&"x".repeat(300), 1, 1).len() < 255);
    }

    #[test]
    fn a_caller_that_stepped_aside_still_counts_from_its_group() {
        for (own, folder) in [("/u/s", "/cg/u/s"), ("/u/s/murmur-supervisor", "/cg/u/s")] {
            let text = format!("0::{own}\n");
            let layout = Layout::parse("1 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n", &text);
            assert_eq!(own_folder(&layout), Path::new(folder));
        }
    }
}
