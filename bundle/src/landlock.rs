//! The paths of a capsule's Landlock ruleset, as they are inside: `spec/containment.md` §6.4.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mur_policy::Tier;
use mur_policy::landlock::{LandlockBase, LandlockRuleset, PathBeneath, RightSet, Rules};

use crate::EntryKind;
use crate::root::{Ground, SYNTHETIC, TREES, found, temp_path, visible_work};

/// The ruleset of a capsule. Where one path has two rules the kernel adds their rights up.
pub(crate) fn ruleset(ground: Ground<'_>, base: &LandlockBase) -> LandlockRuleset {
    let mut paths = Paths::default();
    session(ground, &mut paths);
    manifest(ground, &mut paths);
    programs(ground, &mut paths);
    derived(ground, &mut paths);
    if ground.decision.applied == Tier::Sealed {
        composed(ground, &mut paths);
    } else {
        resolution(ground, &mut paths);
    }
    kernel(ground, &mut paths);
    base.ruleset(Rules { path_beneath: paths.into_rules(base), network_port: Vec::new() })
}

/// What happens when a rule's path cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// The capsule does not start.
    Required,
    /// The rule is dropped, which only narrows.
    Optional,
}

/// Paths by what they get; each list sorted, each path once.
#[derive(Debug, Default)]
struct Paths(BTreeMap<(Need, RightSet), Vec<PathBuf>>);

impl Paths {
    fn require(&mut self, set: RightSet, path: &Path) {
        self.0.entry((Need::Required, set)).or_default().push(path.into());
    }

    fn offer(&mut self, set: RightSet, path: &Path) {
        self.0.entry((Need::Optional, set)).or_default().push(path.into());
    }

    fn into_rules(self, base: &LandlockBase) -> Vec<PathBeneath> {
        let rules = self.0.into_iter().map(|((need, set), mut paths)| {
            paths.sort();
            paths.dedup();
            PathBeneath {
                allowed_access: base.rights(set),
                paths,
                optional: need == Need::Optional,
            }
        });
        rules.collect()
    }
}

fn read(folder: bool) -> RightSet {
    if folder { RightSet::ReadList } else { RightSet::Read }
}

fn session(ground: Ground<'_>, paths: &mut Paths) {
    let folders = &ground.layout.folders;
    paths.require(RightSet::Work, &visible_work(ground.layout));
    paths.require(RightSet::Writable, &temp_path(ground));
    paths.require(RightSet::Writable, &folders.home.path);
    paths.require(RightSet::ReadList, &folders.runtime.path);
    paths.require(RightSet::ReadList, &folders.records.path);
}

fn manifest(ground: Ground<'_>, paths: &mut Paths) {
    for host_path in &ground.policy.host_paths {
        if let Some(path) = found(ground.layout, &host_path.path).and_then(|it| it.found.as_ref()) {
            let set = if host_path.writable { RightSet::Writable } else { RightSet::ReadList };
            paths.require(set, path);
        }
    }
    let Some(shell) = &ground.policy.shell else { return };
    for staged in &shell.staged_runtime {
        let path = found(ground.layout, &staged.source_path).and_then(|it| it.found.as_ref());
        if let Some(path) = path {
            paths.require(RightSet::ReadExecuteList, path);
        }
    }
    for runtime in &shell.interpreter_runtime {
        let path = found(ground.layout, &runtime.path).and_then(|it| it.found.as_ref());
        if let Some(path) = path {
            let list = runtime.list_dir;
            let set = if list { RightSet::ReadExecuteList } else { RightSet::ReadExecute };
            paths.offer(set, path);
        }
    }
}

/// Executing takes the right on programs, helpers and loaders; a library is only read, and what is mounted
/// executable decides whether it maps.
fn programs(ground: Ground<'_>, paths: &mut Paths) {
    for program in &ground.layout.programs {
        for file in program.executables.iter().chain(&program.helpers) {
            paths.offer(RightSet::ReadExecute, file);
        }
        for file in &program.libraries {
            paths.offer(RightSet::Read, file);
        }
    }
    for file in &ground.layout.libc_files {
        paths.offer(RightSet::Read, file);
    }
}

fn derived(ground: Ground<'_>, paths: &mut Paths) {
    for folder in &ground.layout.library_folders {
        paths.offer(RightSet::ReadList, &folder.path);
    }
    for import in &ground.layout.interpreter_imports {
        paths.offer(read(import.folder), &import.path);
    }
    for trusted in &ground.layout.trust_store {
        paths.offer(read(trusted.folder), &trusted.path);
    }
}

fn composed(ground: Ground<'_>, paths: &mut Paths) {
    for entry in &ground.layout.root {
        let shown = TREES.iter().any(|name| entry.name == Path::new(name));
        if shown && entry.kind == EntryKind::Folder {
            paths.offer(RightSet::ReadList, &Path::new("/").join(&entry.name));
        }
    }
    for entry in &ground.layout.etc {
        if !SYNTHETIC.contains(&entry.name.as_str()) {
            paths.offer(read(entry.folder), &Path::new("/etc").join(&entry.name));
        }
    }
    for name in SYNTHETIC {
        paths.require(RightSet::Read, &Path::new("/etc").join(name));
    }
}

fn resolution(ground: Ground<'_>, paths: &mut Paths) {
    for entry in &ground.layout.etc {
        if ["hosts", "nsswitch.conf", "resolv.conf"].contains(&entry.name.as_str()) {
            paths.offer(RightSet::Read, &entry.source);
        }
    }
}

fn kernel(ground: Ground<'_>, paths: &mut Paths) {
    if ground.decision.private_proc {
        paths.offer(RightSet::ReadList, Path::new("/proc"));
    }
    for (set, path) in [
        (RightSet::Terminal, "/dev/null"),
        (RightSet::Terminal, "/dev/tty"),
        (RightSet::Terminal, "/dev/pts"),
        (RightSet::DeviceReadWrite, "/dev/full"),
        (RightSet::DeviceRead, "/dev/zero"),
        (RightSet::DeviceRead, "/dev/random"),
        (RightSet::DeviceRead, "/dev/urandom"),
        (RightSet::Writable, "/dev/shm"),
    ] {
        paths.offer(set, Path::new(path));
    }
    if ground.policy.process.as_ref().is_some_and(|process| process.terminal) {
        paths.offer(RightSet::Terminal, Path::new("/dev/console"));
    }
}
