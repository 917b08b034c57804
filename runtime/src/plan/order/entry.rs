//! The first steps: into cgroup and namespaces, with the ids that own what is made.

use oci_spec::runtime as oci;
use oci_spec::runtime::Spec;

use super::Steps;
use crate::error::ExecPlanError;
use crate::plan::namespace::{NamespaceKind, Namespaces};
use crate::plan::options::{ExecOptions, SessionKeyring};
use crate::plan::process;
use crate::plan::step::{Clock, ClockOffset, Entry, Identity, Ids};

/// Until the process is in its namespaces, with the ids that own what is made.
pub(super) fn entering(
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
pub(super) fn maker(has_root: bool, process: &oci::Process) -> Identity {
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
