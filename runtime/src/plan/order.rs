//! Puts the steps of a process in order. Each step relies on those before it.

mod entry;
mod root;

use std::path::Path;

use mur_bundle::SECCOMP_ANNOTATION;
use mur_policy::landlock::LANDLOCK_ANNOTATION;
use oci_spec::runtime as oci;
use oci_spec::runtime::Spec;

use super::namespace::{NamespaceKind, Namespaces};
use super::net_device::net_devices;
use super::options::{ExecOptions, Holder, Orphan, SessionKeyring};
use super::process::{self, Program};
use super::step::{Affinity, Confinement, Entry, Identity, Meeting, RootStep, Step};
use super::{ExecPlan, TenantBase, TenantPlan, memory};
use crate::confine::{Capabilities, Landlock, seccomp};
use crate::error::ExecPlanError;

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
    entry::entering(spec, linux, process, &namespaces, options, &mut steps)?;
    if namespaces.separates(NamespaceKind::Mount) {
        root::building_root(spec, linux, process, bundle, &namespaces, options, &mut steps)?;
    } else {
        root::host_root(spec, linux, process, bundle, &mut steps)?;
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
        steps.then(entry::maker(base.has_root, process));
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
            .then(|| root::root(spec).map(|root| root::root_path(root, bundle)))
            .transpose()?,
        has_root: namespaces.maps.as_ref().is_none_or(|maps| maps.maps_uid(0) && maps.maps_gid(0)),
    })
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
