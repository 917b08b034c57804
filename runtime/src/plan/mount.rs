//! Decides what each entry of `mounts` becomes.

use std::path::{Component, Path, PathBuf};

use oci_spec::runtime as oci;
use serde::{Deserialize, Serialize};

use super::mount_option::{self, MountOption, TreePart};
use super::namespace::IdMaps;
use crate::error::ExecPlanError;

/// One mount, decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Where, absolute in the container, without `.` and `..`.
    pub destination: PathBuf,
    /// What.
    pub what: Mounted,
    /// Attribute changes of the mount itself.
    pub attributes: Attributes,
    /// Attribute changes of the mount and all beneath it.
    pub recursive_attributes: Attributes,
    /// Propagation changes, in order.
    pub propagation: Vec<Propagation>,
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mounted {
    /// A file or folder of the host.
    Bind {
        /// Absolute, in the runtime's mount namespace.
        source: PathBuf,
        /// With the mounts beneath it.
        recursive: bool,
        /// Ids are translated.
        idmap: Option<Idmap>,
    },
    /// A new kernel file system without a device.
    Kernel {
        /// `proc`, `sysfs`, `tmpfs`, `devpts`, `mqueue`, …
        kind: String,
        /// What `/proc/mounts` shows as its source.
        source: String,
        /// `key` or `key=value`.
        data: Vec<String>,
        /// Start with what the folder beneath holds (`tmpcopyup`).
        copy_up: bool,
    },
    /// The container's own cgroups.
    Cgroup,
    /// Any other file system, by mount(2).
    Other {
        /// File system type.
        kind: String,
        /// Device, share, or a mere name.
        source: PathBuf,
        /// `MS_*`.
        flags: u64,
        /// Joined by commas.
        data: String,
    },
    /// A mount that is there is changed, by mount(2).
    Remount {
        /// `MS_*`, `MS_REMOUNT` among them.
        flags: u64,
        /// Joined by commas.
        data: String,
    },
}

impl Mounted {
    /// Gives what is new the `SELinux` context of the container. A kernel without `SELinux` refuses the
    /// option. Binds keep their own, and what the kernel itself labels cannot be given one.
    fn set_label(&mut self, label: &str) {
        match self {
            Self::Kernel { kind, data, .. } if matches!(kind.as_str(), "tmpfs" | "devpts") => {
                data.push(format!("context={label}"));
            }
            Self::Other { data, .. } if !data.contains("context=") => {
                // Quoted: a label may hold commas.
                let comma = if data.is_empty() { "" } else { "," };
                *data = format!("{data}{comma}context=\"{label}\"");
            }
            Self::Kernel { .. }
            | Self::Other { .. }
            | Self::Bind { .. }
            | Self::Cgroup
            | Self::Remount { .. } => {}
        }
    }
}

/// How ids of a bind are translated: an id on disk is taken as an id of the container's side of the map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idmap {
    /// Its own maps; `None`: the container's user namespace.
    pub maps: Option<IdMaps>,
    /// With the mounts beneath it (`ridmap`).
    pub recursive: bool,
}

/// `MOUNT_ATTR_*` bits to set and to clear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// To set.
    pub set: u64,
    /// To clear.
    pub clear: u64,
}

impl Attributes {
    /// Nothing changes.
    pub const fn is_empty(self) -> bool {
        self.set == 0 && self.clear == 0
    }

    /// This change, and another after it.
    #[must_use]
    pub fn and(mut self, change: Self) -> Self {
        self.apply(change);
        self
    }

    fn apply(&mut self, change: Self) {
        self.set = (self.set & !change.clear) | change.set;
        self.clear = (self.clear & !change.set) | change.clear;
    }
}

/// How mount events travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Propagation {
    /// `MS_SHARED`, `MS_SLAVE`, `MS_PRIVATE` or `MS_UNBINDABLE`.
    pub kind: u64,
    /// For the mounts beneath as well.
    pub recursive: bool,
}

impl Propagation {
    /// Reads a word of `rootfsPropagation` or of mount options.
    pub fn parse(word: &str) -> Option<Self> {
        let (kind, recursive) = match word {
            "shared" => (libc::MS_SHARED, false),
            "rshared" => (libc::MS_SHARED, true),
            "slave" => (libc::MS_SLAVE, false),
            "rslave" => (libc::MS_SLAVE, true),
            "private" => (libc::MS_PRIVATE, false),
            "rprivate" => (libc::MS_PRIVATE, true),
            "unbindable" => (libc::MS_UNBINDABLE, false),
            "runbindable" => (libc::MS_UNBINDABLE, true),
            _ => return None,
        };
        Some(Self { kind, recursive })
    }
}

/// File systems without a device, which fsopen(2) makes detached.
const KERNEL_FILE_SYSTEMS: [&str; 8] =
    ["proc", "sysfs", "tmpfs", "ramfs", "devpts", "mqueue", "cgroup2", "hugetlbfs"];

#[derive(Default)]
struct Collected {
    bind: Option<bool>,
    idmap: Option<bool>,
    copy_up: bool,
    flags: u64,
    data: Vec<String>,
}

/// Where an entry stands in config.json, and what its paths start from.
pub(crate) struct Place<'a> {
    pub index: usize,
    pub bundle: &'a Path,
    /// `linux.mountLabel`.
    pub label: Option<&'a str>,
}

impl Mount {
    pub(crate) fn parse(entry: &oci::Mount, place: &Place<'_>) -> Result<Self, ExecPlanError> {
        let mut mount = Self {
            destination: clean(entry.destination()),
            what: Mounted::Cgroup,
            attributes: Attributes::default(),
            recursive_attributes: Attributes::default(),
            propagation: Vec::new(),
        };
        if mount.destination == Path::new("/") {
            return Err(ExecPlanError::Conflict {
                key: format!("mounts[{}].destination", place.index),
                reason: "is the root itself",
            });
        }
        let options = entry.options().as_deref().unwrap_or_default();
        let mut collected = Collected::default();
        for option in options {
            mount.collect(mount_option::parse(option), &mut collected);
        }
        mount.what = mounted(entry, collected, place, &mut mount.attributes)?;
        if let Some(label) = place.label {
            mount.what.set_label(label);
        }
        Ok(mount)
    }

    fn collect(&mut self, option: MountOption<'_>, collected: &mut Collected) {
        match option {
            MountOption::Nothing => {}
            MountOption::Attribute { change, flag, part: TreePart::Top } => {
                self.attributes.apply(change);
                collected.flags |= flag;
            }
            MountOption::Attribute { change, part: TreePart::All, .. } => {
                self.recursive_attributes.apply(change);
            }
            MountOption::Superblock { set, clear } => {
                collected.flags = (collected.flags & !clear) | set;
            }
            MountOption::Bind { recursive } => collected.bind = Some(recursive),
            MountOption::Idmap { recursive } => collected.idmap = Some(recursive),
            MountOption::Propagation(propagation) => self.propagation.push(propagation),
            MountOption::CopyUp => collected.copy_up = true,
            MountOption::Data(word) => collected.data.push(word.to_owned()),
        }
    }
}

fn mounted(
    entry: &oci::Mount,
    collected: Collected,
    place: &Place<'_>,
    attributes: &mut Attributes,
) -> Result<Mounted, ExecPlanError> {
    let kind = entry.typ().as_deref().unwrap_or_default();
    let key = |name: &str| format!("mounts[{}].{name}", place.index);
    let maps = IdMaps::parse(
        &format!("mounts[{}]", place.index),
        entry.uid_mappings().as_ref(),
        entry.gid_mappings().as_ref(),
    )?;
    let is_bind = collected.bind.is_some() || kind == "bind";
    if (maps.is_some() || collected.idmap.is_some()) && !is_bind {
        return Err(ExecPlanError::Conflict {
            key: key("options"),
            reason: "maps ids, which only a bind can",
        });
    }
    if collected.copy_up && kind != "tmpfs" {
        return Err(ExecPlanError::Conflict {
            key: key("options"),
            reason: "has `tmpcopyup`, which only a tmpfs can",
        });
    }
    if collected.flags & libc::MS_REMOUNT != 0 {
        let flags = collected.flags | if is_bind { libc::MS_BIND } else { 0 };
        *attributes = Attributes::default();
        return Ok(Mounted::Remount { flags, data: collected.data.join(",") });
    }
    if is_bind {
        let source = entry.source().as_deref().unwrap_or(Path::new(""));
        if source.as_os_str().is_empty() {
            return Err(ExecPlanError::Conflict { key: key("source"), reason: "is empty" });
        }
        let idmap = (maps.is_some() || collected.idmap.is_some())
            .then(|| Idmap { maps, recursive: collected.idmap == Some(true) });
        let recursive = collected.bind == Some(true);
        return Ok(Mounted::Bind { source: place.bundle.join(source), recursive, idmap });
    }
    let source = entry.source().clone().unwrap_or_else(|| PathBuf::from(kind));
    match kind {
        "" => {
            Err(ExecPlanError::Conflict { key: key("type"), reason: "is empty and it is no bind" })
        }
        "cgroup" => Ok(Mounted::Cgroup),
        kind if KERNEL_FILE_SYSTEMS.contains(&kind) => Ok(Mounted::Kernel {
            kind: kind.to_owned(),
            source: source.to_string_lossy().into_owned(),
            data: collected.data,
            copy_up: collected.copy_up,
        }),
        kind => Ok(Mounted::Other {
            kind: kind.to_owned(),
            source,
            flags: collected.flags,
            data: collected.data.join(","),
        }),
    }
}

/// Makes a path absolute and free of `.` and `..`; `..` stops at the root, as inside a container.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => {
                clean.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    clean
}
