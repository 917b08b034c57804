//! What config.json holds, against what its policy asks for.

use std::collections::BTreeMap;

use mur_policy::landlock::handled_fs;
use mur_policy::{CapabilityPolicy, SyscallFilter, Tier};
use oci_spec::runtime::{Linux, LinuxNamespaceType, LinuxResources, Mount, Process, Spec};

use super::{Fault, Findings};
use crate::annotation::TIER;
use crate::diff::{Direction, diff, ruleset};
use crate::limits::{control_group_limits, process_limits};
use crate::spec::seccomp;

/// Checks everything that can be told from config.json and the policy in it.
pub(super) fn check(spec: &Spec, policy: &CapabilityPolicy, findings: &mut Findings) {
    for mount in spec.mounts().iter().flatten() {
        mount_holds(mount, policy, findings);
    }
    if spec.root().as_ref().and_then(oci_spec::runtime::Root::readonly) != Some(true) {
        findings.add(Fault::Weaker, "`root.readonly` is not set");
    }
    match spec.process() {
        Some(process) => process_holds(process, findings),
        None => findings.add(Fault::Missing, "there is no `process`"),
    }
    match spec.linux() {
        Some(linux) => kernel_holds(linux, findings),
        None => findings.add(Fault::Missing, "there is no `linux`"),
    }
    domain_holds(spec, findings);
    for change in diff(&expected(spec, policy), spec) {
        if change.direction == Direction::Wider {
            let what = format!("{}: {} instead of {}", change.what, change.after, change.before);
            findings.add(Fault::Weaker, what);
        }
    }
}

/// What is writable is not executable, and what is executable is read-only; nothing is set-user-ID.
fn mount_holds(mount: &Mount, policy: &CapabilityPolicy, findings: &mut Findings) {
    let options = mount.options().as_deref().unwrap_or_default();
    let has = |names: [&str; 2]| options.iter().any(|own| names.contains(&own.as_str()));
    let place = mount.destination().display();
    let fenced = has(["ro", "rro"]) || has(["noexec", "rnoexec"]);
    if !fenced && !policy.files.workdir_exec {
        findings.add(Fault::Weaker, format!("`{place}` is writable and executable"));
    }
    if !has(["nosuid", "rnosuid"]) {
        findings.add(Fault::Weaker, format!("`{place}` has set-user-ID programs"));
    }
}

fn process_holds(process: &Process, findings: &mut Findings) {
    if process.no_new_privileges() != Some(true) {
        findings.add(Fault::Weaker, "`process.noNewPrivileges` is not set");
    }
    let Some(sets) = process.capabilities() else {
        return findings.add(Fault::Weaker, "`process.capabilities` is left to the runtime");
    };
    let sets =
        [sets.bounding(), sets.effective(), sets.inheritable(), sets.permitted(), sets.ambient()];
    if sets.into_iter().any(|set| set.as_ref().is_none_or(|set| !set.is_empty())) {
        findings.add(Fault::Weaker, "`process.capabilities` is not five empty lists");
    }
}

fn kernel_holds(linux: &Linux, findings: &mut Findings) {
    for kind in [
        LinuxNamespaceType::User,
        LinuxNamespaceType::Mount,
        LinuxNamespaceType::Pid,
        LinuxNamespaceType::Ipc,
        LinuxNamespaceType::Uts,
        LinuxNamespaceType::Cgroup,
        LinuxNamespaceType::Network,
    ] {
        let own = linux.namespaces().iter().flatten().any(|own| own.typ() == kind);
        if !own {
            findings.add(Fault::Weaker, format!("there is no {kind} namespace"));
        }
    }
    for (key, map) in [("uidMappings", linux.uid_mappings()), ("gidMappings", linux.gid_mappings())]
    {
        let map = map.as_deref().unwrap_or_default();
        if map.is_empty() {
            findings.add(Fault::Weaker, format!("`linux.{key}` is empty"));
        }
        if map.iter().any(|own| own.size() > 1) {
            findings.add(Fault::Weaker, format!("`linux.{key}` maps more ids than the capsule's"));
        }
    }
}

/// A Landlock domain mediates everything its ABI can, wherever the tier has one.
fn domain_holds(spec: &Spec, findings: &mut Findings) {
    let tier = spec.annotations().as_ref().and_then(|all| all.get(TIER));
    match (ruleset(spec), tier.map(String::as_str)) {
        (None, Some(tier)) if tier == Tier::SeccompOnly.as_str() => {}
        (None, _) => findings.add(Fault::Weaker, "there is no Landlock domain"),
        (Some(rules), _) => {
            let unmediated = handled_fs(rules.abi)
                .into_iter()
                .find(|access| !rules.handled_access.fs.contains(access));
            if let Some(access) = unmediated {
                let what = format!("the Landlock domain leaves `{access:?}` alone");
                findings.add(Fault::Weaker, what);
            }
        }
    }
}

/// The configuration with the filter and the limits that its policy asks for.
fn expected(spec: &Spec, policy: &CapabilityPolicy) -> Spec {
    let mut expected = spec.clone();
    let mut linux = spec.linux().clone().unwrap_or_default();
    let filter = SyscallFilter::of_capsule(policy.network.unix_sockets);
    linux.set_seccomp(seccomp(&filter).ok());
    // A bundle for a runtime that refuses what it cannot set has no limits at all, and says so.
    if linux.resources().is_some() {
        let mut limits = control_group_limits(&policy.resources, None);
        let block = linux.resources().as_ref().map(LinuxResources::block_io);
        limits.set_block_io(block.cloned().flatten());
        linux.set_resources(Some(limits));
    }
    expected.set_linux(Some(linux));
    if let Some(mut process) = spec.process().clone() {
        process.set_rlimits(Some(process_limits(&policy.resources, &BTreeMap::new())));
        expected.set_process(Some(process));
    }
    expected
}
