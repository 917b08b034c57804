//! The steps that make the root file system and enter it.

use std::path::{Path, PathBuf};

use mur_bundle::ROOT_NOEXEC_ANNOTATION;
use oci_spec::runtime as oci;
use oci_spec::runtime::Spec;

use super::{Steps, labels};
use crate::error::ExecPlanError;
use crate::plan::device::devices;
use crate::plan::mount::{Attributes, Mount, Mounted, Place, Propagation, clean};
use crate::plan::namespace::Namespaces;
use crate::plan::options::ExecOptions;
use crate::plan::step::{Meeting, Root, RootStep, Sysctl};
use crate::plan::{process, sysctl};
use crate::sys::mount::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY};

/// Until the process is inside its root file system.
pub(super) fn building_root(
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
    steps.all((cwd != Path::new("/")).then_some(RootStep::WorkFolder(cwd)));
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
pub(super) fn host_root(
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

pub(super) fn root(spec: &Spec) -> Result<&oci::Root, ExecPlanError> {
    let root = spec.root().as_ref().ok_or(ExecPlanError::Missing { key: "root" })?;
    if root.path().as_os_str().is_empty() {
        return Err(ExecPlanError::Missing { key: "root.path" });
    }
    Ok(root)
}

pub(super) fn root_path(root: &oci::Root, bundle: &Path) -> PathBuf {
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

/// What the root's own mount loses; the mounts in it have options of their own.
fn root_attributes(spec: &Spec, root: &oci::Root) -> Attributes {
    let annotated = |name| spec.annotations().as_ref().is_some_and(|all| all.contains_key(name));
    let read_only = if root.readonly() == Some(true) { ATTR_RDONLY } else { 0 };
    let closed = ATTR_NOEXEC | ATTR_NOSUID | ATTR_NODEV;
    let set = read_only | if annotated(ROOT_NOEXEC_ANNOTATION) { closed } else { 0 };
    Attributes { set, clear: 0 }
}
