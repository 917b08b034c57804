//! Decides and makes the control groups of a new container.

use std::path::Path;

use oci_spec::runtime::{LinuxNamespaceType, Spec};

use crate::cgroup::{
    CapsuleScope, Layout, Manager, Placement, Rights, Scope, ScopeError, ScopePlan, ScopeRequest,
};
use crate::engine::CgroupSeat;
use crate::id::ContainerId;

/// The control groups of a new container.
#[derive(Debug)]
pub enum Group {
    /// Made from `linux.cgroupsPath` and `linux.resources`.
    Managed {
        /// Who keeps them.
        manager: Manager,
        /// What the caller may do.
        rights: Rights,
    },
    /// Made already; the limits of the config are those it has.
    Given(Box<CapsuleScope>),
}

impl Group {
    /// Who keeps them.
    pub fn manager(&self) -> Manager {
        match self {
            Self::Managed { manager, .. } => *manager,
            Self::Given(_) => Manager::Cgroupfs,
        }
    }
}

/// A group that is decided and not made yet.
pub(super) enum PreparedGroup {
    Managed(Box<ScopePlan>, Layout),
    Given(Placement),
}

/// A group that is made; removed on drop unless kept.
pub(super) enum MadeGroup {
    Managed(Box<Scope>),
    Given(Box<CapsuleScope>),
}

pub(super) fn prepare(
    group: &Group,
    id: &ContainerId,
    spec: &Spec,
) -> Result<PreparedGroup, ScopeError> {
    let (manager, rights) = match group {
        Group::Given(scope) => return Ok(PreparedGroup::Given(scope.placement().clone())),
        Group::Managed { manager, rights } => (*manager, *rights),
    };
    let layout = Layout::read().map_err(|source| ScopeError::Layout { source })?;
    let linux = spec.linux().as_ref();
    let wanted = ScopeRequest {
        id,
        cgroups_path: linux.and_then(|linux| linux.cgroups_path().as_deref()),
        resources: linux.and_then(|linux| linux.resources().as_ref()),
        manager,
        rights,
        owner: group_owner(spec, &layout),
    };
    let plan = ScopePlan::decide(&wanted, &layout)?;
    Ok(PreparedGroup::Managed(Box::new(plan), layout))
}

impl PreparedGroup {
    pub(super) fn placement(&self) -> Placement {
        match self {
            Self::Managed(plan, _) => plan.placement().clone(),
            Self::Given(placement) => placement.clone(),
        }
    }

    pub(super) fn make(self, group: Group) -> Result<MadeGroup, ScopeError> {
        match (self, group) {
            (Self::Managed(plan, layout), _) => {
                Scope::create(&plan, &layout).map(Box::new).map(MadeGroup::Managed)
            }
            (Self::Given(_), Group::Given(scope)) => Ok(MadeGroup::Given(scope)),
            (Self::Given(_), Group::Managed { .. }) => unreachable!("prepared from the same group"),
        }
    }
}

impl MadeGroup {
    pub(super) fn seat(&self) -> CgroupSeat<'_> {
        match self {
            Self::Managed(scope) => scope.seat(),
            Self::Given(scope) => scope.seat(),
        }
    }

    pub(super) fn placement(&self) -> &Placement {
        match self {
            Self::Managed(scope) => scope.placement(),
            Self::Given(scope) => scope.placement(),
        }
    }

    pub(super) fn keep(self) -> Placement {
        match self {
            Self::Managed(scope) => scope.keep(),
            Self::Given(scope) => scope.keep(),
        }
    }
}

/// Who gets the v2 group: the host's number of the program's user, if the container has a cgroup
/// namespace of its own with the hierarchy mounted writable (runtime-spec, "Cgroup ownership").
fn group_owner(spec: &Spec, layout: &Layout) -> Option<u32> {
    let linux = spec.linux().as_ref().filter(|_| layout.is_unified())?;
    linux.namespaces().iter().flatten().find(|namespace| {
        namespace.typ() == LinuxNamespaceType::Cgroup && namespace.path().is_none()
    })?;
    spec.mounts().iter().flatten().find(|mount| {
        let options = mount.options().iter().flatten();
        mount.source().as_deref() == Some(Path::new("cgroup"))
            && mount.destination() == Path::new("/sys/fs/cgroup")
            && !options.into_iter().any(|option| option == "ro")
    })?;
    let uid = spec.process().as_ref()?.user().uid();
    let maps = linux.uid_mappings().as_deref().unwrap_or_default();
    if maps.is_empty() {
        return Some(uid);
    }
    maps.iter().find_map(|map| {
        let offset = uid.checked_sub(map.container_id())?;
        (offset < map.size()).then(|| map.host_id() + offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_belongs_to_the_user_of_a_writable_mount_in_a_namespace() {
        let spec = |options: &[&str], maps: serde_json::Value| -> Spec {
            serde_json::from_value(serde_json::json!({
                "ociVersion": "1.3.0",
                "process": {"cwd": "/", "args": ["a"], "user": {"uid": 5, "gid": 5}},
                "mounts": [{
                    "destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
                    "options": options,
                }],
                "linux": {"namespaces": [{"type": "cgroup"}], "uidMappings": maps},
            }))
            .unwrap()
        };
        let unified = Layout::parse("1 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/\n");
        let map = serde_json::json!([{"containerID": 0, "hostID": 1000, "size": 10}]);
        let none = serde_json::json!([]);
        for (spec, layout, owner) in [
            (spec(&["rw"], none.clone()), &unified, Some(5)),
            (spec(&["rw"], map.clone()), &unified, Some(1005)),
            (spec(&["ro"], map.clone()), &unified, None),
            (spec(&["rw"], map), &Layout::default(), None),
        ] {
            assert_eq!(group_owner(&spec, layout), owner);
        }
    }
}
