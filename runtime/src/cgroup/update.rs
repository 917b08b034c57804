//! Changes the limits of a container that exists.

use std::fs;

use oci_spec::runtime::LinuxResources;

use super::device::{self, DeviceError, Rule};
use super::error::ScopeError;
use super::layout::{Layout, Version};
use super::place::Placement;
use super::{apply, limit, systemd};

/// Changes the limits of a container that exists.
pub fn update(
    placement: &Placement,
    resources: &LinuxResources,
    layout: &Layout,
) -> Result<(), ScopeError> {
    let asked = limit::asks_for_limits(resources);
    if placement.is_empty() && asked {
        let why = "the container has no cgroup of its own".to_owned();
        return Err(ScopeError::NoScope { why });
    }
    let steps = limit::lower(resources, layout).map_err(|source| ScopeError::Limit { source })?;
    let rules = match resources.devices() {
        Some(list) => {
            let rules = device::parse(list);
            Some(rules.map_err(|source| ScopeError::Devices { source })?)
        }
        None => None,
    };
    if let Some(unit) = &placement.unit {
        systemd::set_properties(unit, resources, unit_version(layout))
            .map_err(|source| ScopeError::Systemd { source })?;
    }
    for step in &steps {
        apply::carry_out(step, placement)?;
    }
    match rules {
        Some(rules) => {
            put_devices(&rules, placement, layout).map_err(|source| ScopeError::Devices { source })
        }
        None => Ok(()),
    }
}

pub(super) fn put_devices(
    rules: &[Rule],
    placement: &Placement,
    layout: &Layout,
) -> Result<(), DeviceError> {
    if let Some(folder) = placement.v1_of("devices") {
        return device::write_v1(folder, rules);
    }
    let Some(path) = placement.v2.as_ref().filter(|_| layout.v2.is_some()) else {
        return Err(DeviceError::NoController);
    };
    let folder = fs::File::open(path).map_err(|source| DeviceError::Program {
        action: "open the cgroup",
        path: path.clone(),
        source,
    })?;
    device::attach_v2(path, &folder.into(), rules)
}

/// The version whose properties systemd understands here.
pub(super) fn unit_version(layout: &Layout) -> Version {
    if layout.is_unified() { Version::V2 } else { Version::V1 }
}
