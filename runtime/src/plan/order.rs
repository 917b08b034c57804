//! Puts the steps of a process in order. Each step relies on those before it.

use std::path::{Path, PathBuf};

use mur_bundle::{ROOT_NOEXEC_ANNOTATION, SECCOMP_ANNOTATION};
use mur_policy::landlock::LANDLOCK_ANNOTATION;
use oci_spec::runtime as oci;
use oci_spec::runtime::Spec;

use super::device::devices;
use super::mount::{Mount, Mounted, Place, Propagation, clean};
use super::namespace::{NamespaceKind, Namespaces};
use super::net_device::net_devices;
use super::options::{ExecOptions, Holder, Orphan, SessionKeyring};
use super::process::{self, Program};
use super::step::{
    Affinity, Clock, ClockOffset, Confinement, Entry, Identity, Ids, Meeting, Root, RootStep, Step,
    Sysctl,
};
use super::{ExecPlan, TenantBase, TenantPlan, memory, sysctl};
use crate::confine::{Capabilities, Landlock, seccomp};
use crate::error::ExecPlanError;
use crate::plan::Attributes;
use crate::sys::mount::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY};

/// The steps so far.
#[derive(Default)]
struct Steps(Vec<Step>);

impl Steps {
    fn then(&mut self, step: impl Into<Step>) {
        self.0.push(step.into());
    }

    fn all<S: Into<Step>>(&mut self, steps: impl IntoIterator<Item = S>) {
        self.0.extend(steps.into_iter().map(Into::into));
    }
}

/// A container's own steps.
pub(super) fn container(
    spec: &Spec,
    bundle: &Path,
    options: &ExecOptions,
) -> Result<ExecPlan, ExecPlanError> {
    let default = oci::LinuxBuilder::default().build().unwrap_or_default();
    let linux = spec.linux().as_ref().unwrap_or(&default);
    let process = spec.process().as_ref().ok_or(ExecPlanError::Missing { key: "process" })?;
    refuse_unknown(linux)?;
    let namespaces = Namespaces::parse(linux, &options.outer)?;
    let base = base(spec, linux, bundle, &namespaces)?;
    let program = Program::parse(process, options)?;
    let affinity = process::affinity(process)?;

    let mut steps = Steps::default();
    entering(spec, linux, process, &namespaces, options, &mut steps)?;
    if namespaces.separates(NamespaceKind::Mount) {
        building_root(spec, linux, process, bundle, &namespaces, options, &mut steps)?;
    } else {
        host_root(spec, linux, process, bundle, &mut steps)?;
    }
    if options.holder == Holder::Reaper && !namespaces.makes(NamespaceKind::Pid) {
        let key = "linux.namespaces".to_owned();
        return Err(ExecPlanError::Conflict {
            key,
            reason: "needs a new pid namespace for its holder",
        });
    }
    becoming(process, &base, &affinity, linux.memory_policy().as_ref(), &mut steps)?;
    if options.orphan == Orphan::Killed {
        steps.then(Identity::EndWithParent);
    }
    confining(process, &base, options, &mut steps);
    Ok(ExecPlan {
        net_devices: net_devices(linux.net_devices().as_ref(), &namespaces)?,
        namespaces,
        initial_affinity: affinity.initial,
        program,
        steps: steps.0,
        base,
    })
}

/// What nobody here carries out must not be passed over.
fn refuse_unknown(linux: &oci::Linux) -> Result<(), ExecPlanError> {
    if linux.intel_rdt().is_some() {
        let key = "linux.intelRdt".to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "cannot be honoured yet" });
    }
    Ok(())
}

/// The steps of one more process.
pub(super) fn tenant(
    base: &TenantBase,
    process: &oci::Process,
    options: &ExecOptions,
) -> Result<TenantPlan, ExecPlanError> {
    let program = Program::parse(process, options)?;
    let affinity = process::affinity(process)?;
    let mut steps = Steps::default();
    steps.then(Entry::JoinCgroup);
    if let Some(score) = process.oom_score_adj() {
        steps.then(Identity::OomScoreAdjust(score));
    }
    // By the host's procfs: the container's may be anything.
    labels(process, &mut steps);
    // Before the namespaces: a process of the container must not be able to trace this one.
    steps.then(Identity::NotDumpable);
    steps.then(Entry::JoinTarget);
    if base.namespaces.contains(&NamespaceKind::User) {
        steps.then(maker(base.has_root, process));
    }
    steps.all(base.host_root.clone().map(RootStep::ChangeRoot));
    steps.then(Identity::NewSession);
    if let SessionKeyring::New(name) = &options.keyring {
        steps.then(Identity::Keyring(name.clone()));
    }
    if let Some(terminal) = process::terminal(process)? {
        steps.then(RootStep::Terminal(terminal));
    }
    becoming(process, base, &affinity, None, &mut steps)?;
    let holderless = ExecOptions { holder: Holder::Program, ..options.clone() };
    confining(process, base, &holderless, &mut steps);
    steps.0.retain(|step| {
        !matches!(step, Step::Meeting(Meeting::Gate | Meeting::StartContainerHooks))
    });
    let namespaces = base.namespaces.clone();
    Ok(TenantPlan { namespaces, initial_affinity: affinity.initial, program, steps: steps.0 })
}

fn base(
    spec: &Spec,
    linux: &oci::Linux,
    bundle: &Path,
    namespaces: &Namespaces,
) -> Result<TenantBase, ExecPlanError> {
    let annotation = spec.annotations().as_ref().and_then(|all| all.get(LANDLOCK_ANNOTATION));
    let landlock = annotation
        .map(|text| serde_json::from_str::<Landlock>(text))
        .transpose()
        .map_err(|source| ExecPlanError::Annotation { name: LANDLOCK_ANNOTATION, source })?;
    let annotation = spec.annotations().as_ref().and_then(|all| all.get(SECCOMP_ANNOTATION));
    let narrower = annotation
        .map(|text| serde_json::from_str::<oci::LinuxSeccomp>(text))
        .transpose()
        .map_err(|source| ExecPlanError::Annotation { name: SECCOMP_ANNOTATION, source })?;
    Ok(TenantBase {
        namespaces: NamespaceKind::ALL
            .into_iter()
            .filter(|&kind| namespaces.separates(kind))
            .collect(),
        landlock,
        filter: linux.seccomp().as_ref().map(seccomp::compile).transpose()?,
        narrower: narrower.as_ref().map(seccomp::compile).transpose()?,
        personality: memory::personality(linux.personality().as_ref())?,
        host_root: (!namespaces.separates(NamespaceKind::Mount))
            .then(|| root(spec).map(|root| root_path(root, bundle)))
            .transpose()?,
        has_root: namespaces.maps.as_ref().is_none_or(|maps| maps.maps_uid(0) && maps.maps_gid(0)),
    })
}

/// Until the process is in its namespaces, with the ids that own what is made.
fn entering(
    spec: &Spec,
    linux: &oci::Linux,
    process: &oci::Process,
    namespaces: &Namespaces,
    options: &ExecOptions,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    steps.then(Entry::JoinCgroup);
    if namespaces.separates(NamespaceKind::User) {
        steps.then(Entry::AwaitIdMaps);
    }
    for joined in &namespaces.joined {
        if matches!(joined.kind, NamespaceKind::Mount | NamespaceKind::Time) {
            steps.then(Entry::JoinNamespace(joined.kind));
        }
    }
    if namespaces.makes(NamespaceKind::Cgroup) {
        steps.then(Entry::NewCgroupNamespace);
    }
    clocks(linux, namespaces, steps)?;
    // While `/proc/self` still belongs to the caller.
    if let Some(score) = process.oom_score_adj() {
        steps.then(Identity::OomScoreAdjust(score));
    }
    steps.then(Identity::NotDumpable);
    if namespaces.separates(NamespaceKind::User) {
        let maps_root =
            namespaces.maps.as_ref().is_none_or(|maps| maps.maps_uid(0) && maps.maps_gid(0));
        steps.then(maker(maps_root, process));
    }
    steps.then(Identity::NewSession);
    if let SessionKeyring::New(name) = &options.keyring {
        steps.then(Identity::Keyring(name.clone()));
    }
    if namespaces.makes(NamespaceKind::Network) {
        steps.then(Entry::LoopbackUp);
    }
    names(spec, namespaces, steps)
}

/// Root where it can exist, and the process's own user. Of a namespace that is joined the maps are not
/// known: both are tried.
fn maker(has_root: bool, process: &oci::Process) -> Identity {
    let root = has_root.then(Ids::default);
    let mut ids: Vec<Ids> = root.into_iter().chain([process::ids(process.user())]).collect();
    ids.dedup();
    Identity::MakerIds(ids)
}

fn clocks(
    linux: &oci::Linux,
    namespaces: &Namespaces,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    let mut offsets = Vec::new();
    for (name, offset) in linux.time_offsets().iter().flatten() {
        let clock = match name.as_str() {
            "monotonic" => Clock::Monotonic,
            "boottime" => Clock::Boottime,
            other => {
                return Err(ExecPlanError::Invalid {
                    key: "linux.timeOffsets".to_owned(),
                    value: other.to_owned(),
                    reason: "is neither `monotonic` nor `boottime`",
                });
            }
        };
        let seconds = offset.secs().unwrap_or(0);
        let nanoseconds = offset.nanosecs().unwrap_or(0);
        offsets.push(ClockOffset { clock, seconds, nanoseconds });
    }
    offsets.sort_by_key(|offset| offset.clock == Clock::Boottime);
    if namespaces.makes(NamespaceKind::Time) {
        steps.then(Entry::TimeNamespace(offsets));
    } else if !offsets.is_empty() {
        let key = "linux.timeOffsets".to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "needs a new time namespace" });
    }
    Ok(())
}

fn names(spec: &Spec, namespaces: &Namespaces, steps: &mut Steps) -> Result<(), ExecPlanError> {
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let (host, domain) = (given(spec.hostname()), given(spec.domainname()));
    if (host.is_some() || domain.is_some()) && !namespaces.separates(NamespaceKind::Uts) {
        let key = if host.is_some() { "hostname" } else { "domainname" }.to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "needs a uts namespace" });
    }
    steps.all(host.map(Entry::Hostname));
    steps.all(domain.map(Entry::Domainname));
    Ok(())
}

/// Until the process is inside its root file system.
fn building_root(
    spec: &Spec,
    linux: &oci::Linux,
    process: &oci::Process,
    bundle: &Path,
    namespaces: &Namespaces,
    options: &ExecOptions,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    let root = root(spec)?;
    let propagation = root_propagation(linux)?;
    let built = propagation.unwrap_or(Propagation { kind: libc::MS_SLAVE, recursive: true });
    steps.then(RootStep::OpenRoot(Root { path: root_path(root, bundle), propagation: built }));

    let label = linux.mount_label().as_deref().filter(|label| !label.is_empty());
    let mut mounts = Vec::new();
    for (index, entry) in spec.mounts().iter().flatten().enumerate() {
        mounts.push(Mount::parse(entry, &Place { index, bundle, label })?);
    }
    let host_dev = |mount: &Mount| {
        mount.destination == Path::new("/dev") && matches!(mount.what, Mounted::Bind { .. })
    };
    let own_dev = !mounts.iter().any(host_dev);
    steps.all(mounts.into_iter().map(RootStep::Mount));
    let listed = linux.devices().as_deref().unwrap_or_default();
    if own_dev {
        steps.all(devices(listed)?.into_iter().map(RootStep::Device));
        steps.then(RootStep::DeviceLinks);
    }
    steps.all(process::terminal(process)?.map(RootStep::Terminal));
    let cwd = process::cwd(process)?;
    steps.all((cwd != Path::new("/")).then(|| RootStep::WorkFolder(cwd)));
    steps.all([Meeting::CreateRuntimeHooks, Meeting::CreateContainerHooks]);
    labels(process, steps);
    protecting(linux, namespaces, steps)?;
    let restricted = root_attributes(spec, root);
    if !restricted.is_empty() {
        steps.then(RootStep::RestrictRoot(restricted));
    }
    steps.then(RootStep::EnterRoot(options.root_entry));
    steps.all(propagation.map(RootStep::RootPropagation));
    Ok(())
}

fn protecting(
    linux: &oci::Linux,
    namespaces: &Namespaces,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    for (key, value) in sorted(linux.sysctl().as_ref()) {
        let path = PathBuf::from(sysctl::path(key, namespaces)?);
        steps.then(RootStep::Sysctl(Sysctl { path, value: value.clone() }));
    }
    let paths = |key: &str, list: &Option<Vec<String>>| {
        let absolute = |(index, path): (usize, &String)| {
            if path.starts_with('/') {
                return Ok(clean(Path::new(path)));
            }
            let key = format!("linux.{key}[{index}]");
            Err(ExecPlanError::Relative { key, path: PathBuf::from(path) })
        };
        list.iter().flatten().enumerate().map(absolute).collect::<Result<Vec<_>, _>>()
    };
    // Read-only first: a mask beneath a read-only path stays the mount that is seen.
    let read_only = paths("readonlyPaths", linux.readonly_paths())?;
    steps.all(read_only.into_iter().map(RootStep::ReadOnlyPath));
    let masked = paths("maskedPaths", linux.masked_paths())?;
    steps.all(masked.into_iter().map(RootStep::Mask));
    Ok(())
}

fn sorted(map: Option<&std::collections::HashMap<String, String>>) -> Vec<(&String, &String)> {
    let mut all: Vec<_> = map.into_iter().flatten().collect();
    all.sort();
    all
}

/// Without a mount namespace everything mounted would be mounted on the host.
fn host_root(
    spec: &Spec,
    linux: &oci::Linux,
    process: &oci::Process,
    bundle: &Path,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    let root = root(spec)?;
    let filled = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
    let asked = [
        ("mounts", spec.mounts().as_ref().is_some_and(|list| !list.is_empty())),
        ("root.readonly", root.readonly() == Some(true)),
        ("linux.devices", linux.devices().as_ref().is_some_and(|list| !list.is_empty())),
        ("linux.maskedPaths", filled(linux.masked_paths())),
        ("linux.readonlyPaths", filled(linux.readonly_paths())),
        ("linux.rootfsPropagation", linux.rootfs_propagation().is_some()),
        ("linux.sysctl", linux.sysctl().as_ref().is_some_and(|map| !map.is_empty())),
    ];
    if let Some((key, _)) = asked.into_iter().find(|(_, asked)| *asked) {
        let key = key.to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "needs a mount namespace" });
    }
    steps.all([Meeting::CreateRuntimeHooks, Meeting::CreateContainerHooks]);
    labels(process, steps);
    steps.then(RootStep::ChangeRoot(root_path(root, bundle)));
    Ok(())
}

fn root(spec: &Spec) -> Result<&oci::Root, ExecPlanError> {
    let root = spec.root().as_ref().ok_or(ExecPlanError::Missing { key: "root" })?;
    if root.path().as_os_str().is_empty() {
        return Err(ExecPlanError::Missing { key: "root.path" });
    }
    Ok(root)
}

fn root_path(root: &oci::Root, bundle: &Path) -> PathBuf {
    bundle.join(root.path())
}

fn root_propagation(linux: &oci::Linux) -> Result<Option<Propagation>, ExecPlanError> {
    let Some(word) = linux.rootfs_propagation().as_deref().filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    let invalid = || ExecPlanError::Invalid {
        key: "linux.rootfsPropagation".to_owned(),
        value: word.to_owned(),
        reason: "is no mount propagation",
    };
    Propagation::parse(word).map(Some).ok_or_else(invalid)
}

fn labels(process: &oci::Process, steps: &mut Steps) {
    let given = |label: &Option<String>| label.clone().filter(|label| !label.is_empty());
    steps.all(given(process.apparmor_profile()).map(Identity::ApparmorProfile));
    steps.all(given(process.selinux_label()).map(Identity::SelinuxLabel));
}

/// Until the process is the user it shall be, and its program is found.
fn becoming(
    process: &oci::Process,
    base: &TenantBase,
    affinity: &Affinity,
    policy: Option<&oci::LinuxMemoryPolicy>,
    steps: &mut Steps,
) -> Result<(), ExecPlanError> {
    steps.all(affinity.last.clone().map(Identity::CpuAffinity));
    steps.all(process::schedule(process)?.map(Identity::Schedule));
    steps.all(process::io_priority(process)?.map(Identity::IoPriority));
    steps.all(memory::policy(policy)?.map(Identity::MemoryPolicy));
    steps.all(base.personality.map(Identity::Personality));
    steps.all(base.landlock.clone().map(Confinement::LandlockRules));
    // After the last descriptor is opened, before the right to raise a limit is gone.
    steps.all(process::rlimits(process)?.into_iter().map(Identity::Rlimit));
    steps.then(Identity::Umask(process.user().umask().unwrap_or(0o022)));
    steps.then(Identity::Cwd(process::cwd(process)?));
    let capabilities = Capabilities::parse(process.capabilities().as_ref());
    steps.then(Identity::BoundingSet(capabilities.bounding));
    steps.then(Identity::UserIds(process::ids(process.user())));
    steps.then(Meeting::FindProgram);
    Ok(())
}

/// What the root's own mount loses; the mounts in it have options of their own.
fn root_attributes(spec: &Spec, root: &oci::Root) -> Attributes {
    let annotated = |name| spec.annotations().as_ref().is_some_and(|all| all.contains_key(name));
    let read_only = if root.readonly() == Some(true) { ATTR_RDONLY } else { 0 };
    let closed = ATTR_NOEXEC | ATTR_NOSUID | ATTR_NODEV;
    let set = read_only | if annotated(ROOT_NOEXEC_ANNOTATION) { closed } else { 0 };
    Attributes { set, clear: 0 }
}

/// What cannot be undone, last.
fn confining(process: &oci::Process, base: &TenantBase, options: &ExecOptions, steps: &mut Steps) {
    let capabilities =
        Confinement::Capabilities(Capabilities::parse(process.capabilities().as_ref()));
    let domain = base.landlock.as_ref().map(|_| Confinement::LandlockDomain);
    // The policy's filter is loaded over the engine's: the kernel takes the strictest answer.
    let filters = [&base.filter, &base.narrower].into_iter().flatten();
    let filter: Vec<_> = filters.cloned().map(Confinement::SyscallFilter).collect();
    if process.no_new_privileges() == Some(true) {
        steps.all([Confinement::NoNewPrivileges, capabilities]);
        steps.all(domain);
        steps.all(filter);
    } else {
        // Both need CAP_SYS_ADMIN, which the program may not have.
        if domain.is_some() || !filter.is_empty() {
            steps.then(Confinement::RegainCapabilities);
        }
        steps.all(domain);
        steps.all(filter);
        steps.then(capabilities);
    }
    // Confined before the gate: what the kernel refuses fails `create`, and `start` only executes.
    steps.all([Meeting::Ready, Meeting::Gate]);
    if options.holder == Holder::Reaper {
        steps.then(Meeting::Holder);
    }
    steps.all([Meeting::StartContainerHooks, Meeting::Execute]);
}
