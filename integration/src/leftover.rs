//! What a run left on the machine: control groups, mounts, processes, state.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Scratch, hierarchies};

/// How long the kernel may take to finish what a runtime already ended.
const GRACE: Duration = Duration::from_secs(3);

/// Asserts that nothing on the machine carries the tag of `scratch`, but for files in its own folder.
#[track_caller]
pub fn nothing_of(scratch: &Scratch) {
    let left = until_empty(|| {
        let mut left = cgroups_named(scratch.tag());
        left.extend(
            mounts_below(scratch.path()).iter().map(|mount| format!("mount {}", mount.display())),
        );
        left.extend(processes_of(scratch));
        left
    });
    assert!(left.is_empty(), "left behind: {left:#?}");
}

/// Asserts that a runtime's state folder holds nothing.
#[track_caller]
pub fn no_state_in(folder: &Path) {
    let left = until_empty(|| names_in(folder).into_iter().collect());
    assert!(left.is_empty(), "left in {}: {left:?}", folder.display());
}

/// Everything that a run could leave, of the whole machine. Compare two of them only while no other test
/// runs ([`Scratch::alone`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot(BTreeSet<String>);

impl Snapshot {
    /// Reads the machine: the control groups named after us, the mounts of this namespace, the pinned namespaces (they are
    /// mounts), what is named after us in `/run` and `/tmp`, and whatever is in `folders`, recursively.
    #[must_use]
    pub fn take(folders: &[&Path]) -> Self {
        // Other software of the machine makes and removes groups at any time; ours say whose they are.
        let mut found = BTreeSet::from_iter(cgroups_named("mur"));
        found.extend(all_mounts().iter().map(|mount| format!("mount {}", mount.display())));
        for place in ["/run", "/run/mur", "/tmp", "/dev/shm", "/var/lib/murmur"].map(Path::new) {
            // Others on the machine make files there as well; ours say whose they are.
            let names = names_in(place)
                .into_iter()
                .filter(|name| name.contains("mur") || name.contains("ses_"));
            found.extend(names.map(|name| format!("{}/{name}", place.display())));
        }
        for folder in folders {
            walk(folder, &mut found);
        }
        Self(found)
    }

    /// Asserts that the machine is as it was, allowing the kernel a moment.
    #[track_caller]
    pub fn still_holds(&self, folders: &[&Path]) {
        let changed = until_empty(|| {
            let now = Self::take(folders);
            let gone = self.0.difference(&now.0).map(|what| format!("gone: {what}"));
            gone.chain(now.0.difference(&self.0).map(|what| format!("new: {what}"))).collect()
        });
        assert!(changed.is_empty(), "the machine changed: {changed:#?}");
    }
}

fn until_empty(look: impl Fn() -> Vec<String>) -> Vec<String> {
    let deadline = Instant::now() + GRACE;
    loop {
        let left = look();
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every control group whose name holds `part`.
fn cgroups_named(part: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for hierarchy in hierarchies() {
        folders_below(&hierarchy.mount, &mut |folder| {
            if folder.file_name().is_some_and(|name| name.to_string_lossy().contains(part)) {
                found.insert(format!("cgroup {}", folder.display()));
            }
        });
    }
    found.into_iter().collect()
}

fn folders_below(folder: &Path, see: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            see(&entry.path());
            folders_below(&entry.path(), see);
        }
    }
}

fn walk(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.insert(entry.path().display().to_string());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), found);
        }
    }
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn all_mounts() -> Vec<PathBuf> {
    fs::read_to_string("/proc/self/mountinfo")
        .unwrap()
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|escaped| PathBuf::from(escaped.replace("\\040", " ").replace("\\011", "\t")))
        .collect()
}

/// Mounts of this namespace on or below a folder, outermost first.
pub fn mounts_below(folder: &Path) -> Vec<PathBuf> {
    all_mounts().into_iter().filter(|mount| mount.starts_with(folder)).collect()
}

/// Processes that belong to the test: started with a path or id of its, or living in its folder as a root.
fn processes_of(scratch: &Scratch) -> Vec<String> {
    let own = std::process::id().to_string();
    names_in(Path::new("/proc"))
        .into_iter()
        .filter(|pid| pid.bytes().all(|digit| digit.is_ascii_digit()) && *pid != own)
        .filter_map(|pid| {
            let read = |file: &str| {
                let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
                String::from_utf8_lossy(&bytes).replace('\0', " ")
            };
            let words = read("cmdline");
            let state = read("stat");
            let is_dead = state.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z"));
            let folder = scratch.path().to_string_lossy().into_owned();
            let is_ours = words.contains(scratch.tag())
                || words.contains(&folder)
                || read("cgroup").contains(scratch.tag())
                || read("mountinfo").contains(&folder);
            (is_ours && !is_dead).then(|| format!("process {pid} `{}`", words.trim()))
        })
        .collect()
}
