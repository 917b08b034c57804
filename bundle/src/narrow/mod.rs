//! Narrows an engine's container by a capsule's policy: never widened, the stricter of both.
//!
//! The image stays the root, the engine's ids and mounts stand. What the policy adds: no capabilities, a
//! read-only root, nothing writable that is executable, only the allowed programs, our syscall filter on top of
//! the engine's, a Landlock domain, the lower of each limit, and a network namespace of the container's own.

mod error;
mod files;
mod limits;
mod process;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use mur_policy::landlock::LANDLOCK_ANNOTATION;
use mur_policy::{CapabilityPolicy, Confinement, ContainmentDecision, confinement};
use oci_spec::runtime::{Linux, LinuxNamespace, LinuxNamespaceType, Spec};

use crate::Program;
use crate::spec::{MASKED, READ_ONLY, seccomp};

pub use error::NarrowError;
pub use process::narrow_process;

/// The annotation with a syscall filter that is loaded over `linux.seccomp`, in the shape of that section.
/// The kernel takes the strictest answer of both.
pub const SECCOMP_ANNOTATION: &str = "org.murmur.seccomp";

/// The annotation that takes execution, set-user-id and devices from the root's own mount; its value says nothing.
pub const ROOT_NOEXEC_ANNOTATION: &str = "org.murmur.root-noexec";

/// An engine's root file system, as far as a policy needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageLayout {
    /// Where it is on the host, canonical.
    pub root: PathBuf,
    /// The programs of `shell.allow` as the image has them; every path is one inside.
    pub programs: Vec<Program>,
}

/// Narrows a container.
///
/// # Errors
/// The policy asks for what cannot be had in an engine's container, or the engine's configuration makes the
/// policy impossible. Nothing is dropped in silence.
pub fn narrow(
    spec: &Spec,
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    image: &ImageLayout,
) -> Result<Spec, NarrowError> {
    refuse_what_cannot_be(policy)?;
    if !decision.floor_met() {
        let reason = decision.shortfall_reason.clone().unwrap_or_default();
        return Err(NarrowError::FloorUnmet { reason });
    }
    let installed =
        confinement(policy, decision).ok_or(NarrowError::NoMechanism { tier: decision.applied })?;
    let process = spec.process().as_ref().ok_or(NarrowError::Missing { key: "process" })?;
    let mut root = spec.root().clone().ok_or(NarrowError::Missing { key: "root" })?;
    let linux = spec.linux().as_ref().ok_or(NarrowError::Missing { key: "linux" })?;
    root.set_readonly(Some(true));
    let mut narrowed = spec.clone();
    narrowed
        .set_mounts(Some(files::mounts(spec, policy, image)?))
        .set_process(Some(narrow_process(process, policy)))
        .set_root(Some(root))
        .set_linux(Some(narrow_linux(linux, policy)?));
    annotate(&mut narrowed, policy, decision, &installed, image)?;
    Ok(narrowed)
}

fn refuse_what_cannot_be(policy: &CapabilityPolicy) -> Result<(), NarrowError> {
    let staged = policy.shell.iter().any(|shell| !shell.staged_runtime.is_empty());
    let asked = [
        (
            !policy.network.allow.is_empty(),
            "capabilities.network.allow",
            "no egress is made in an engine's container yet",
        ),
        (
            policy.files.scope_path.is_some(),
            "capabilities.filesystem.scope",
            "an engine's container has the folders its engine mounted",
        ),
        (staged, "capabilities.shell.staged_runtime", "the image brings its own runtimes"),
        (policy.unconfined, "capabilities.containment", "`unconfined` is no container"),
    ];
    match asked.into_iter().find(|(asked, ..)| *asked) {
        Some((_, key, because)) => Err(NarrowError::NotInAnImage { key, because }),
        None => Ok(()),
    }
}

fn annotate(
    spec: &mut Spec,
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    installed: &Confinement,
    image: &ImageLayout,
) -> Result<(), NarrowError> {
    let json = |what, value: Result<String, serde_json::Error>| {
        value.map_err(|source| NarrowError::Serialise { what, source })
    };
    let filter = seccomp(&installed.syscalls)
        .map_err(|_| NarrowError::NoMechanism { tier: decision.applied })?;
    let mut annotations = spec.annotations().clone().unwrap_or_default();
    let mut set = |name: &str, value: String| annotations.insert(name.to_owned(), value);
    set(SECCOMP_ANNOTATION, json("seccomp", serde_json::to_string(&filter))?);
    if let Some(base) = &installed.landlock {
        let ruleset = base.ruleset(files::rules(spec, base, image));
        set(LANDLOCK_ANNOTATION, json("landlock", serde_json::to_string(&ruleset))?);
    }
    set(ROOT_NOEXEC_ANNOTATION, "true".to_owned());
    set("org.murmur.capsule.name", policy.capsule.name.clone());
    set("org.murmur.capsule.version", policy.capsule.version.clone());
    set("org.murmur.containment.declared", decision.declared.to_string());
    set("org.murmur.containment.achieved", decision.achieved.to_string());
    set("org.murmur.containment.host", decision.host.to_string());
    set("org.murmur.containment.tier", decision.applied.to_string());
    spec.set_annotations(Some(annotations));
    Ok(())
}

fn narrow_linux(linux: &Linux, policy: &CapabilityPolicy) -> Result<Linux, NarrowError> {
    let union = |own: &Option<Vec<String>>, ours: &[&str]| {
        let mut paths = own.clone().unwrap_or_default();
        for path in ours {
            if !paths.iter().any(|known| known == path) {
                paths.push((*path).to_owned());
            }
        }
        Some(paths)
    };
    let mut narrowed = linux.clone();
    narrowed
        .set_namespaces(Some(namespaces(linux)?))
        .set_resources(Some(limits::lower(linux.resources().as_ref(), &policy.resources)))
        .set_masked_paths(union(linux.masked_paths(), &MASKED))
        .set_readonly_paths(union(linux.readonly_paths(), &READ_ONLY))
        // A device beyond the standard ones is a grant that no manifest key can make.
        .set_devices(None)
        .set_sysctl(None);
    Ok(narrowed)
}

/// The namespaces, with the network and the cgroup view the container's own. One shared with the host would let
/// the capsule reach the host's processes: refused, because leaving it out would surprise who asked for it.
fn namespaces(linux: &Linux) -> Result<Vec<LinuxNamespace>, NarrowError> {
    let given = linux.namespaces().clone().unwrap_or_default();
    for kind in [
        LinuxNamespaceType::Mount,
        LinuxNamespaceType::Pid,
        LinuxNamespaceType::Ipc,
        LinuxNamespaceType::Uts,
    ] {
        if !given.iter().any(|namespace| namespace.typ() == kind) {
            return Err(NarrowError::HostNamespace { kind: kind.to_string() });
        }
    }
    let own = [LinuxNamespaceType::Network, LinuxNamespaceType::Cgroup];
    let kept = given.into_iter().filter(|namespace| !own.contains(&namespace.typ()));
    let made = own.map(|kind| {
        let mut namespace = LinuxNamespace::default();
        namespace.set_typ(kind);
        namespace
    });
    Ok(kept.chain(made).collect())
}
