//! A process in a narrowed container: its first, and each that `exec` adds.

use mur_policy::{CapabilityPolicy, StripList, rlimits};
use oci_spec::runtime::{
    Capabilities, LinuxCapabilities, PosixRlimit, PosixRlimitBuilder, Process,
};

/// Takes away what the policy does not grant: capabilities, new privileges, credentials, and the higher of two limits.
/// The user and the arguments are the engine's.
pub fn narrow_process(process: &Process, policy: &CapabilityPolicy) -> Process {
    let none = || Some(Capabilities::default());
    let mut capabilities = LinuxCapabilities::default();
    capabilities
        .set_bounding(none())
        .set_effective(none())
        .set_inheritable(none())
        .set_permitted(none())
        .set_ambient(none());
    let mut narrowed = process.clone();
    narrowed
        .set_capabilities(Some(capabilities))
        .set_no_new_privileges(Some(true))
        .set_rlimits(Some(lower_limits(process, policy)))
        .set_env(process.env().as_ref().map(|env| without_credentials(env, policy)));
    narrowed
}

fn without_credentials(env: &[String], policy: &CapabilityPolicy) -> Vec<String> {
    let strip = StripList::of(policy);
    let name = |entry: &str| entry.split('=').next().unwrap_or_default().to_owned();
    env.iter().filter(|entry| !strip.drops(&name(entry))).cloned().collect()
}

fn lower_limits(process: &Process, policy: &CapabilityPolicy) -> Vec<PosixRlimit> {
    let mut limits = process.rlimits().clone().unwrap_or_default();
    for ours in rlimits(&policy.resources) {
        let Ok(kind) = ours.name.parse() else { continue };
        let theirs = limits.iter().position(|limit| limit.typ() == kind);
        let theirs = theirs.map(|index| limits.swap_remove(index));
        let (soft, hard) = theirs.map_or((ours.soft, ours.hard), |theirs| {
            (theirs.soft().min(ours.soft), theirs.hard().min(ours.hard))
        });
        limits.extend(PosixRlimitBuilder::default().typ(kind).soft(soft).hard(hard).build());
    }
    limits
}
