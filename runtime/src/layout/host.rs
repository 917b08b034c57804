//! Reads what every capsule sees of the host: the entries of `/` and `/etc`, limits, variables, the disk.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{BlockDevice, EntryKind, EtcEntry, RootEntry};
use mur_policy::{BASE_ENV, CapabilityPolicy, granted_env_names};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use crate::layout::{LayoutError, LayoutRequest, Purpose};

/// The files of `/etc` that a composed root may show, synthetic ones included.
const ETC_FILES: [&str; 10] = [
    "ld.so.cache",
    "ld.so.conf",
    "ca-certificates.conf",
    "resolv.conf",
    "hosts",
    "nsswitch.conf",
    "localtime",
    "timezone",
    "passwd",
    "group",
];

/// The folders of `/etc` that a composed root may show.
const ETC_FOLDERS: [&str; 6] =
    ["ld.so.conf.d", "alternatives", "ssl", "pki", "ca-certificates", "terminfo"];

/// The entries of `/`, sorted; sockets and other odd things are left out.
///
/// # Errors
/// `/` cannot be listed.
pub(crate) fn root_entries() -> Result<Vec<RootEntry>, LayoutError> {
    let refused = |source| LayoutError::Read { path: "/".into(), source };
    let mut entries = Vec::new();
    for entry in fs::read_dir("/").map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let kind = entry.file_type().map_err(refused)?;
        let kind = if kind.is_symlink() {
            EntryKind::Link(fs::read_link(entry.path()).map_err(refused)?)
        } else if kind.is_dir() {
            EntryKind::Folder
        } else if kind.is_file() {
            EntryKind::File
        } else {
            continue;
        };
        entries.push(RootEntry { name: entry.file_name().into(), kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The entries of `/etc` that are there and of the kind they should be, sorted.
pub(crate) fn etc_entries() -> Vec<EtcEntry> {
    let files = ETC_FILES.iter().map(|name| (*name, false));
    let folders = ETC_FOLDERS.iter().map(|name| (*name, true));
    let mut entries: Vec<EtcEntry> = files
        .chain(folders)
        .filter_map(|(name, folder)| {
            // A link of `/etc` is shown as what it leads to, so the way there is not needed inside.
            let source = fs::canonicalize(Path::new("/etc").join(name)).ok()?;
            let meta = source.metadata().ok()?;
            let fits = if folder { meta.is_dir() } else { meta.is_file() };
            fits.then(|| EtcEntry { name: name.to_owned(), source, folder })
        })
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// The inherited hard limits that are not infinite.
pub(crate) fn hard_limits() -> BTreeMap<String, u64> {
    let limits = [
        ("RLIMIT_NOFILE", Resource::RLIMIT_NOFILE),
        ("RLIMIT_FSIZE", Resource::RLIMIT_FSIZE),
        ("RLIMIT_CPU", Resource::RLIMIT_CPU),
        ("RLIMIT_AS", Resource::RLIMIT_AS),
        ("RLIMIT_CORE", Resource::RLIMIT_CORE),
    ];
    limits
        .into_iter()
        .filter_map(|(name, resource)| {
            let (_, hard) = getrlimit(resource).ok()?;
            (hard != RLIM_INFINITY).then(|| (name.to_owned(), hard))
        })
        .collect()
}

/// The caller's variables that a command may get, in the order of their names' lists. `PATH` is the search path of the
/// request, with `fronts` before it.
pub(crate) fn environment(
    policy: &CapabilityPolicy,
    request: &LayoutRequest,
    fronts: &[PathBuf],
) -> Vec<(String, String)> {
    let granted = match request.purpose {
        Purpose::Session => granted_env_names(policy),
        Purpose::Bundle => Vec::new(),
    };
    let value = |name: &str| {
        if name == "PATH" {
            return search_path(&request.search_path, fronts);
        }
        let given = request.environment.iter().rev().find(|(own, _)| own == name);
        given.map(|(_, value)| value.clone())
    };
    let base = BASE_ENV.iter().map(|&name| name.to_owned());
    base.chain(granted).filter_map(|name| value(&name).map(|value| (name, value))).collect()
}

fn search_path(given: &OsStr, fronts: &[PathBuf]) -> Option<String> {
    let fronts = fronts.iter().filter_map(|front| front.to_str());
    let path = fronts.chain([given.to_str()?]).collect::<Vec<_>>().join(":");
    (!path.is_empty()).then_some(path)
}

/// The whole disk under a folder; `None` where no block device is known.
pub(crate) fn disk_of(folder: &Path) -> Option<BlockDevice> {
    let device = folder.metadata().ok()?.dev();
    let mut major = u32::try_from(nix::sys::stat::major(device)).ok()?;
    let mut minor = u32::try_from(nix::sys::stat::minor(device)).ok()?;
    if major == 0 {
        let source = mount_source(folder)?;
        let device = source.metadata().ok()?.rdev();
        major = u32::try_from(nix::sys::stat::major(device)).ok()?;
        minor = u32::try_from(nix::sys::stat::minor(device)).ok()?;
    }
    let entry = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    if entry.join("partition").exists() {
        let numbers = fs::read_to_string(entry.join("../dev")).ok()?;
        let (whole_major, whole_minor) = numbers.trim().split_once(':')?;
        (major, minor) = (whole_major.parse().ok()?, whole_minor.parse().ok()?);
    }
    (major != 0).then_some(BlockDevice { major, minor })
}

/// The device node of the mount that holds a folder (`proc_pid_mountinfo(5)`).
fn mount_source(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts = text.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = Path::new(before.split(' ').nth(4)?);
        let source = Path::new(after.split(' ').nth(1)?);
        folder.starts_with(point).then(|| (point.components().count(), source.to_path_buf()))
    });
    // The last of equally deep ones is the mount on top.
    let (_, source) = mounts.max_by_key(|(depth, _)| *depth)?;
    (source != OsStr::new("none") && source.is_absolute()).then_some(source)
}
