//! Decides where in each hierarchy a container's group is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Manager;
use super::layout::{Layout, beneath};
use crate::id::ContainerId;

/// The folders of one container, enough to find, pause, kill and remove it later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// One folder for each v1 hierarchy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub v1: Vec<V1Folder>,
    /// The folder in the v2 hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v2: Option<PathBuf>,
    /// The unit that systemd keeps for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Folders that were there before the container; they are not removed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<PathBuf>,
    /// Parent folders made for it, outermost first; removed with it when nothing else is in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<PathBuf>,
}

/// A folder in a v1 hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct V1Folder {
    /// What the hierarchy serves: controllers, or `name=…`.
    pub subsystems: Vec<String>,
    /// The folder, absolute on the host.
    pub path: PathBuf,
}

/// A systemd unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its name, as `mur-web.scope`.
    pub name: String,
    /// The slice it is in, as `system.slice`.
    pub slice: String,
    /// Who manages it.
    pub instance: Instance,
}

/// Which systemd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Instance {
    /// The host's.
    System,
    /// The calling user's.
    User,
}

/// A `cgroupsPath` that names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// With systemd a path has three parts.
    #[error("`linux.cgroupsPath`: `{}` is not `slice:prefix:name`, which systemd needs", path.display())]
    NotAUnit {
        /// The path as given.
        path: PathBuf,
    },
    /// A slice name that systemd would refuse.
    #[error("`linux.cgroupsPath`: `{slice}` is not the name of a slice")]
    NotASlice {
        /// The slice as given.
        slice: String,
    },
}

impl Unit {
    /// True for a slice, false for a scope.
    pub fn is_slice(&self) -> bool {
        is_slice(&self.name)
    }
}

impl Placement {
    /// True when the container has no group of its own.
    pub fn is_empty(&self) -> bool {
        self.v1.is_empty() && self.v2.is_none()
    }

    /// The folder that serves `subsystem`, a v1 name.
    pub fn v1_of(&self, subsystem: &str) -> Option<&Path> {
        let folder = self.v1.iter().find(|f| f.subsystems.iter().any(|s| s == subsystem))?;
        Some(&folder.path)
    }

    /// Every folder, v1 in mount order, then v2.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        let v1 = self.v1.iter().map(|folder| folder.path.as_path());
        v1.chain(self.v2.as_deref())
    }
}

/// Places `id` by `cgroups_path`, the key of the spec.
///
/// An absolute path counts from the mount of each hierarchy. A relative one counts from the
/// caller's own group on v1 and from its parent on v2, where a group with processes can have no
/// children that are limited. Without one the container is `mur-<id>` in that place.
pub(super) fn place(
    id: &ContainerId,
    cgroups_path: Option<&Path>,
    manager: Manager,
    layout: &Layout,
) -> Result<Placement, PlaceError> {
    let path = cgroups_path.filter(|path| !path.as_os_str().is_empty());
    match manager {
        Manager::Disabled => Ok(Placement::default()),
        Manager::Cgroupfs => {
            let default = PathBuf::from(format!("mur-{id}"));
            Ok(in_files(path.unwrap_or(&default), layout))
        }
        Manager::Systemd(instance) => {
            let unit = unit_of(id, path, instance)?;
            let group = beneath(&slice_folder(&unit.slice), Path::new(&unit.name));
            // Where a user's units really are is known when systemd has made the unit.
            let mut placement = in_files(&beneath(Path::new("/"), &group), layout);
            placement.unit = Some(unit);
            Ok(placement)
        }
    }
}

/// Places a group at `path` in every hierarchy.
pub(super) fn in_files(path: &Path, layout: &Layout) -> Placement {
    let absolute = path.is_absolute();
    let v1 = layout.v1.iter().map(|hierarchy| {
        let base = if absolute { Path::new("/") } else { hierarchy.own.as_path() };
        let path = beneath(&hierarchy.mount, &beneath(base, path));
        V1Folder { subsystems: hierarchy.subsystems.clone(), path }
    });
    let v2 = layout.v2.as_ref().map(|hierarchy| {
        let parent = hierarchy.own.parent().unwrap_or(Path::new("/"));
        let base = if absolute { Path::new("/") } else { parent };
        beneath(&hierarchy.mount, &beneath(base, path))
    });
    Placement { v1: v1.collect(), v2, ..Placement::default() }
}

fn unit_of(id: &ContainerId, path: Option<&Path>, instance: Instance) -> Result<Unit, PlaceError> {
    let default_slice = match instance {
        Instance::System => "system.slice",
        Instance::User => "user.slice",
    };
    let Some(path) = path else {
        let name = format!("mur-{id}.scope");
        return Ok(Unit { name, slice: default_slice.to_owned(), instance });
    };
    let refused = || PlaceError::NotAUnit { path: path.to_path_buf() };
    let text = path.to_str().ok_or_else(refused)?;
    let parts: Vec<&str> = text.split(':').collect();
    let [slice, prefix, name] = parts[..] else { return Err(refused()) };
    if name.is_empty() || name.contains('/') || prefix.contains('/') {
        return Err(refused());
    }
    let slice = if slice.is_empty() { default_slice } else { slice };
    let stem = slice.strip_suffix(".slice").unwrap_or_default();
    let plain = slice == "-.slice" || (!stem.starts_with('-') && !stem.ends_with('-'));
    if stem.is_empty() || slice.contains('/') || stem.contains("--") || !plain {
        return Err(PlaceError::NotASlice { slice: slice.to_owned() });
    }
    let name = match (is_slice(name), prefix.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{name}.scope"),
        (false, false) => format!("{prefix}-{name}.scope"),
    };
    Ok(Unit { name, slice: slice.to_owned(), instance })
}

/// True when `name` is that of a slice.
fn is_slice(name: &str) -> bool {
    name.strip_suffix(".slice").is_some()
}

/// The folder of a slice: systemd nests `a-b.slice` in `a.slice`.
fn slice_folder(slice: &str) -> PathBuf {
    let mut folder = PathBuf::from("/");
    let stem = slice.strip_suffix(".slice").unwrap_or(slice);
    if stem == "-" {
        return folder;
    }
    for (at, _) in stem.match_indices('-') {
        folder.push(format!("{}.slice", &stem[..at]));
    }
    folder.push(slice);
    folder
}

#[cfg(test)]
mod tests {
    use super::super::layout::{V1Hierarchy, V2Hierarchy};
    use super::*;

    fn layout() -> Layout {
        let v1 = V1Hierarchy {
            subsystems: vec!["memory".to_owned()],
            mount: "/cg/memory".into(),
            own: "/job/7".into(),
        };
        let v2 = V2Hierarchy {
            controllers: Vec::new(),
            mount: "/cg/unified".into(),
            own: "/user/s1".into(),
        };
        Layout { v1: vec![v1], v2: Some(v2) }
    }

    #[test]
    fn a_path_is_placed_by_its_kind_in_each_hierarchy() {
        let id = "web".parse().unwrap();
        for (path, v1, v2) in [
            (Some("/a/b"), "/cg/memory/a/b", "/cg/unified/a/b"),
            (Some("a/b"), "/cg/memory/job/7/a/b", "/cg/unified/user/a/b"),
            (Some("../../../x"), "/cg/memory/job/7/x", "/cg/unified/user/x"),
            (None, "/cg/memory/job/7/mur-web", "/cg/unified/user/mur-web"),
            (Some(""), "/cg/memory/job/7/mur-web", "/cg/unified/user/mur-web"),
        ] {
            let placed = place(&id, path.map(Path::new), Manager::Cgroupfs, &layout()).unwrap();
            assert_eq!(placed.v1_of("memory"), Some(Path::new(v1)), "{path:?}");
            assert_eq!(placed.v2.as_deref(), Some(Path::new(v2)), "{path:?}");
        }
        assert!(place(&id, None, Manager::Disabled, &layout()).unwrap().is_empty());
    }

    #[test]
    fn a_unit_is_named_and_nested_as_systemd_does() {
        let id = "web".parse().unwrap();
        for (path, folder) in [
            (None, "/cg/memory/system.slice/mur-web.scope"),
            (Some("machine.slice:libpod:0f"), "/cg/memory/machine.slice/libpod-0f.scope"),
            (Some("a-b.slice::0f"), "/cg/memory/a.slice/a-b.slice/0f.scope"),
            (Some(":cri:0f"), "/cg/memory/system.slice/cri-0f.scope"),
            (Some("-.slice:x:y.slice"), "/cg/memory/y.slice"),
        ] {
            let manager = Manager::Systemd(Instance::System);
            let placed = place(&id, path.map(Path::new), manager, &layout()).unwrap();
            assert_eq!(placed.v1_of("memory"), Some(Path::new(folder)), "{path:?}");
        }
    }

    #[test]
    fn a_path_that_is_no_unit_is_refused() {
        let id = "web".parse().unwrap();
        for path in [
            "/a/b",
            "a:b",
            "a.slice:b:",
            "a.slice:b:c/d",
            "a:b:c",
            "a--b.slice:x:y",
            "../a.slice:x:y",
            "-a.slice:x:y",
            "a.slice:b:c:d",
        ] {
            let manager = Manager::Systemd(Instance::System);
            let placed = place(&id, Some(Path::new(path)), manager, &layout());
            assert!(placed.is_err(), "{path}: {placed:?}");
        }
    }
}
