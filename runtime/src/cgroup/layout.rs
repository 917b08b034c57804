//! Reads which control group hierarchies the host has, and where this process is in each.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use super::Controller;
use crate::kernel_file::read_text;

/// The hierarchies this process sees, as mounted at the time of reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The version 1 hierarchies, in mount order.
    pub v1: Vec<V1Hierarchy>,
    /// The version 2 hierarchy, when one is mounted.
    pub v2: Option<V2Hierarchy>,
}

/// One mounted version 1 hierarchy: a set of controllers, or a name, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V1Hierarchy {
    /// Controllers as the kernel names them (`cpu`, `memory`), or `name=systemd`.
    pub subsystems: Vec<String>,
    /// Where the hierarchy is mounted.
    pub mount: PathBuf,
    /// The folder of this process below `mount`, absolute in the hierarchy (`/` is `mount`).
    pub own: PathBuf,
}

/// The mounted version 2 hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V2Hierarchy {
    /// Controllers that its mounted root offers.
    pub controllers: Vec<String>,
    /// Where the hierarchy is mounted.
    pub mount: PathBuf,
    /// The folder of this process below `mount`, absolute in the hierarchy (`/` is `mount`).
    pub own: PathBuf,
}

/// Which of the two interfaces serves a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Files of cgroup v1.
    V1,
    /// Files of cgroup v2.
    V2,
}

/// The hierarchies could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A file of `/proc` or the list of controllers cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
}

impl Layout {
    /// Reads `/proc/self/mountinfo`, `/proc/self/cgroup` and the controllers of v2.
    pub fn read() -> Result<Self, LayoutError> {
        let mounts = read(Path::new("/proc/self/mountinfo"))?;
        let own = read(Path::new("/proc/self/cgroup"))?;
        let mut layout = Self::parse(&mounts, &own);
        if let Some(v2) = &mut layout.v2 {
            let list = read(&v2.mount.join("cgroup.controllers"))?;
            v2.controllers = list.split_whitespace().map(str::to_owned).collect();
        }
        Ok(layout)
    }

    /// Combines a `mountinfo` and a `cgroup` text; the controllers of v2 stay empty.
    ///
    /// A hierarchy that is mounted twice is taken once, at its first mount.
    pub fn parse(mountinfo: &str, own: &str) -> Self {
        let mut layout = Self::default();
        for mount in mountinfo.lines().filter_map(Mount::parse) {
            match mount.kind {
                Version::V2 if layout.v2.is_none() => {
                    layout.v2 = Some(V2Hierarchy {
                        controllers: Vec::new(),
                        own: mount.folder_of(own, str::is_empty),
                        mount: mount.target,
                    });
                }
                Version::V1 => {
                    let subsystems = mount.subsystems();
                    let known = layout.v1.iter().any(|h| h.subsystems == subsystems);
                    if subsystems.is_empty() || known {
                        continue;
                    }
                    let own = mount.folder_of(own, |controllers| {
                        controllers.split(',').any(|name| name == subsystems[0])
                    });
                    layout.v1.push(V1Hierarchy { subsystems, mount: mount.target, own });
                }
                Version::V2 => {}
            }
        }
        layout
    }

    /// Says which interface serves `controller` here; `None` when neither does.
    pub fn version_of(&self, controller: Controller) -> Option<Version> {
        if self.v1_of(controller).is_some() {
            return Some(Version::V1);
        }
        let v2 = self.v2.as_ref()?;
        let present = match controller.v2_name() {
            // Without a controller of their own, but files or programs of every v2 group.
            None => matches!(controller, Controller::Devices | Controller::Freezer),
            Some(name) => v2.controllers.iter().any(|c| c == name),
        };
        present.then_some(Version::V2)
    }

    /// The v1 hierarchy that serves `controller`.
    pub fn v1_of(&self, controller: Controller) -> Option<&V1Hierarchy> {
        self.v1.iter().find(|h| h.subsystems.iter().any(|s| s == controller.v1_name()))
    }

    /// True when version 2 serves every controller.
    pub fn is_unified(&self) -> bool {
        self.v2.is_some() && self.v1.iter().all(|h| h.subsystems[0].starts_with("name="))
    }

    /// The mount of each hierarchy.
    pub fn mounts(&self) -> impl Iterator<Item = &Path> {
        let v2 = self.v2.iter().map(|h| h.mount.as_path());
        self.v1.iter().map(|h| h.mount.as_path()).chain(v2)
    }

    /// True when the host has no hierarchy at all.
    pub fn is_empty(&self) -> bool {
        self.v2.is_none() && self.v1.is_empty()
    }
}

/// Joins `path` below `base`, with `.` and `..` resolved as text, so that it never leaves `base`.
pub(crate) fn beneath(base: &Path, path: &Path) -> PathBuf {
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    let mut joined = base.to_path_buf();
    joined.extend(parts);
    joined
}

/// One control group line of `mountinfo`.
struct Mount {
    kind: Version,
    root: PathBuf,
    target: PathBuf,
    options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let kind = match after.next()? {
            "cgroup" => Version::V1,
            "cgroup2" => Version::V2,
            _ => return None,
        };
        let mut before = before.split(' ').skip(3);
        let root = unescape(before.next()?);
        let target = unescape(before.next()?);
        let options = after.nth(1).unwrap_or_default().to_owned();
        Some(Self { kind, root, target, options })
    }

    /// Controllers and name among the options of the file system.
    fn subsystems(&self) -> Vec<String> {
        let plain = ["rw", "ro", "xattr", "noprefix", "clone_children", "favordynmods", "none"];
        let names = self.options.split(',').filter(|option| {
            let is_value = option.contains('=') && !option.starts_with("name=");
            !option.is_empty() && !is_value && !plain.contains(option)
        });
        names.map(str::to_owned).collect()
    }

    /// The folder of this process below the mount, from the line of `own` that `matches`.
    fn folder_of(&self, own: &str, matches: impl Fn(&str) -> bool) -> PathBuf {
        let line = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            matches(controllers).then_some(path)
        });
        let path = Path::new(line.unwrap_or("/"));
        // A mount of a part of the hierarchy shows that part as its root.
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        beneath(Path::new("/"), inside)
    }
}

/// Undoes the octal escapes of blank, tab, newline and backslash.
fn unescape(field: &str) -> PathBuf {
    let bytes = field.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).and_then(|digits| {
            let text = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(text, 8).ok()
        });
        match (bytes[at], octal) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                at += 4;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

fn read(path: &Path) -> Result<String, LayoutError> {
    read_text(path).map_err(|source| LayoutError::Read { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
23 1 0:21 / / rw - ext4 /dev/vda rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
36 31 0:33 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
42 31 0:33 / /mnt/again rw - cgroup cgroup rw,memory
";
    const V1_OWN: &str = "\
9:name=systemd:/
4:memory:/job/7
2:cpuacct,cpu:/
0::/
";

    #[test]
    fn a_hybrid_host_has_each_hierarchy_once_with_our_place_in_it() {
        let layout = Layout::parse(V1, V1_OWN);
        let seen: Vec<_> = layout
            .v1
            .iter()
            .map(|h| (h.subsystems.join("+"), h.own.display().to_string()))
            .collect();
        let expected = [("cpu+cpuacct", "/"), ("memory", "/job/7"), ("name=systemd", "/")];
        assert_eq!(seen, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(layout.v2.as_ref().unwrap().mount, Path::new("/sys/fs/cgroup/unified"));
        assert!(!layout.is_unified());
        assert_eq!(layout.version_of(Controller::Memory), Some(Version::V1));
        assert_eq!(layout.version_of(Controller::Freezer), Some(Version::V2));
        assert_eq!(layout.version_of(Controller::Io), None);
    }

    #[test]
    fn a_mount_of_a_part_shows_our_place_below_that_part() {
        let mounts = "40 31 0:37 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        for (own, seen) in [
            ("0::/docker/ab/x\n", "/x"),
            ("0::/docker/ab\n", "/"),
            ("0::/../other\n", "/other"),
            ("", "/"),
        ] {
            let layout = Layout::parse(mounts, own);
            assert_eq!(layout.v2.unwrap().own, Path::new(seen), "{own:?}");
        }
    }

    #[test]
    fn a_mount_point_with_a_blank_is_read_as_it_is() {
        let layout = Layout::parse("1 1 0:1 / /a\\040b rw - cgroup2 none rw\n", "0::/\n");
        assert_eq!(layout.v2.unwrap().mount, Path::new("/a b"));
    }

    #[test]
    fn a_path_never_leaves_its_base() {
        for (path, joined) in [
            ("/x/y", "/b/x/y"),
            ("x/../../../y", "/b/y"),
            ("..", "/b"),
            ("", "/b"),
            ("./x//y/", "/b/x/y"),
        ] {
            assert_eq!(beneath(Path::new("/b"), Path::new(path)), Path::new(joined), "{path}");
        }
    }
}
