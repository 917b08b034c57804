//! Decides which namespaces are new, which are joined, and how ids are mapped.

use std::path::PathBuf;

use oci_spec::runtime::{Linux, LinuxIdMapping, LinuxNamespaceType};
use serde::{Deserialize, Serialize};

use crate::error::ExecPlanError;

/// A kind of namespace, in the order they are joined: the user namespace gives the rights for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamespaceKind {
    /// Ids and capabilities.
    User,
    /// System V and POSIX message queues, shared memory.
    Ipc,
    /// Host and domain name.
    Uts,
    /// Interfaces, addresses, ports.
    Network,
    /// Process numbers.
    Pid,
    /// What `/proc/self/cgroup` shows.
    Cgroup,
    /// Boot and monotonic clocks.
    Time,
    /// Mounts.
    Mount,
}

impl NamespaceKind {
    /// Every kind, in joining order.
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Ipc,
        Self::Uts,
        Self::Network,
        Self::Pid,
        Self::Cgroup,
        Self::Time,
        Self::Mount,
    ];

    /// Its name in `/proc/PID/ns/`.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Network => "net",
            Self::Pid => "pid",
            Self::Cgroup => "cgroup",
            Self::Time => "time",
            Self::Mount => "mnt",
        }
    }

    pub(crate) const fn flag(self) -> u64 {
        match self {
            Self::User => libc::CLONE_NEWUSER as u64,
            Self::Ipc => libc::CLONE_NEWIPC as u64,
            Self::Uts => libc::CLONE_NEWUTS as u64,
            Self::Network => libc::CLONE_NEWNET as u64,
            Self::Pid => libc::CLONE_NEWPID as u64,
            Self::Cgroup => libc::CLONE_NEWCGROUP as u64,
            Self::Time => crate::sys::clone::CLONE_NEWTIME,
            Self::Mount => libc::CLONE_NEWNS as u64,
        }
    }
}

impl std::fmt::Display for NamespaceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // As config.json names them.
        f.write_str(match self.file_name() {
            "net" => "network",
            "mnt" => "mount",
            same => same,
        })
    }
}

impl From<LinuxNamespaceType> for NamespaceKind {
    fn from(kind: LinuxNamespaceType) -> Self {
        match kind {
            LinuxNamespaceType::Mount => Self::Mount,
            LinuxNamespaceType::Cgroup => Self::Cgroup,
            LinuxNamespaceType::Uts => Self::Uts,
            LinuxNamespaceType::Ipc => Self::Ipc,
            LinuxNamespaceType::User => Self::User,
            LinuxNamespaceType::Pid => Self::Pid,
            LinuxNamespaceType::Network => Self::Network,
            LinuxNamespaceType::Time => Self::Time,
        }
    }
}

/// A namespace that exists already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// Its kind; another kind behind the path is an error when it is joined.
    pub kind: NamespaceKind,
    /// Where it is, in the runtime's mount namespace.
    pub path: PathBuf,
}

/// One line of an id map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdRange {
    /// First id inside.
    pub container: u32,
    /// First id outside.
    pub host: u32,
    /// How many.
    pub size: u32,
}

/// The two maps of a user namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdMaps {
    /// User ids.
    pub uid: Vec<IdRange>,
    /// Group ids.
    pub gid: Vec<IdRange>,
}

impl IdMaps {
    pub(crate) fn parse(
        key: &str,
        uid: Option<&Vec<LinuxIdMapping>>,
        gid: Option<&Vec<LinuxIdMapping>>,
    ) -> Result<Option<Self>, ExecPlanError> {
        let ranges = |list: Option<&Vec<LinuxIdMapping>>| -> Vec<IdRange> {
            let range = |map: &LinuxIdMapping| IdRange {
                container: map.container_id(),
                host: map.host_id(),
                size: map.size(),
            };
            list.map(|list| list.iter().map(range).collect()).unwrap_or_default()
        };
        let maps = Self { uid: ranges(uid), gid: ranges(gid) };
        match (maps.uid.is_empty(), maps.gid.is_empty()) {
            (true, true) => Ok(None),
            (false, false) => Ok(Some(maps)),
            _ => Err(ExecPlanError::Conflict {
                key: key.to_owned(),
                reason: "needs both `uidMappings` and `gidMappings`",
            }),
        }
    }

    /// Whether a user id of the container exists outside.
    pub fn maps_uid(&self, id: u32) -> bool {
        contains(&self.uid, id)
    }

    /// Whether a group id of the container exists outside.
    pub fn maps_gid(&self, id: u32) -> bool {
        contains(&self.gid, id)
    }
}

fn contains(ranges: &[IdRange], id: u32) -> bool {
    ranges.iter().any(|range| id.checked_sub(range.container).is_some_and(|at| at < range.size))
}

/// The namespaces of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// Made for it.
    pub new: Vec<NamespaceKind>,
    /// Entered; they exist already.
    pub joined: Vec<Joined>,
    /// Entered before anything new is made, so that they stay out of the container's power
    /// although it gets a new user namespace (`mur`'s own network and its owner).
    pub outer: Vec<Joined>,
    /// Maps of a new user namespace.
    pub maps: Option<IdMaps>,
}

impl Namespaces {
    /// Whether the container gets a new namespace of that kind.
    pub fn makes(&self, kind: NamespaceKind) -> bool {
        self.new.contains(&kind)
    }

    /// Whether the container leaves the runtime's namespace of that kind.
    pub fn separates(&self, kind: NamespaceKind) -> bool {
        self.makes(kind) || self.joined.iter().any(|joined| joined.kind == kind)
    }

    pub(crate) fn flags(&self) -> u64 {
        self.new.iter().fold(0, |flags, kind| flags | kind.flag())
    }

    pub(crate) fn parse(linux: &Linux, outer: &[Joined]) -> Result<Self, ExecPlanError> {
        let mut namespaces = Self { outer: outer.to_vec(), ..Self::default() };
        for (index, entry) in linux.namespaces().iter().flatten().enumerate() {
            let kind = NamespaceKind::from(entry.typ());
            let key = || format!("linux.namespaces[{index}]");
            if namespaces.separates(kind) {
                return Err(ExecPlanError::Conflict {
                    key: key(),
                    reason: "is the second namespace of its type",
                });
            }
            match entry.path().as_deref().filter(|path| !path.as_os_str().is_empty()) {
                None => namespaces.new.push(kind),
                Some(path) if path.is_absolute() => {
                    namespaces.joined.push(Joined { kind, path: path.to_owned() });
                }
                Some(path) => {
                    return Err(ExecPlanError::Relative { key: key(), path: path.to_owned() });
                }
            }
        }
        namespaces.new.sort_unstable();
        namespaces.joined.sort_by_key(|joined| joined.kind);
        namespaces.maps =
            IdMaps::parse("linux", linux.uid_mappings().as_ref(), linux.gid_mappings().as_ref())?;
        namespaces.check_maps()?;
        Ok(namespaces)
    }

    fn check_maps(&self) -> Result<(), ExecPlanError> {
        let reason = match (self.makes(NamespaceKind::User), &self.maps) {
            (true, None) => "needs `uidMappings` and `gidMappings` for its new user namespace",
            (false, Some(_)) => "has id mappings but no new user namespace",
            (true, Some(_)) | (false, None) => return Ok(()),
        };
        Err(ExecPlanError::Conflict { key: "linux".to_owned(), reason })
    }
}
