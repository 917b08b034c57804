//! Which folders of the host the capsule's ids may not enter.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{EntryKind, HostLayout};

/// The folders of `/` that the capsule's user may not list and search, and the outermost ones it may not search on the
/// way to what is bound at its own path; sorted, none beneath another.
pub(crate) fn closed_folders(layout: &HostLayout) -> Vec<PathBuf> {
    let ids = (layout.identity.uid.host, layout.identity.gid.host);
    let mut open: BTreeSet<PathBuf> = BTreeSet::new();
    let mut closed: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in &layout.root {
        let path = Path::new("/").join(&entry.name);
        if entry.kind == EntryKind::Folder && !may(&path, ids, 0o5) {
            closed.insert(path);
        }
    }
    for path in bound_paths(layout) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above {
            if open.contains(folder) {
                continue;
            }
            if closed.contains(folder) || !may(folder, ids, 0o1) {
                closed.insert(folder.into());
                break;
            }
            open.insert(folder.into());
        }
    }
    closed.into_iter().collect()
}

/// Everything that is bound at its own path.
fn bound_paths(layout: &HostLayout) -> impl Iterator<Item = &Path> {
    let folders = &layout.folders;
    let own = [
        layout.workdir.path.as_path(),
        &folders.runtime.path,
        &folders.records.path,
        &folders.home.path,
        &folders.tmp.path,
    ];
    let programs = layout.programs.iter().flat_map(|program| {
        program.executables.iter().chain(&program.helpers).chain(&program.libraries)
    });
    let derived = programs
        .chain(&layout.libc_files)
        .chain(layout.library_folders.iter().map(|folder| &folder.path))
        .chain(layout.interpreter_imports.iter().map(|import| &import.path))
        .chain(layout.trust_store.iter().map(|read| &read.path))
        .chain(layout.grants.iter().filter_map(|grant| grant.found.as_ref()));
    own.into_iter().chain(derived.map(PathBuf::as_path))
}

/// Whether a user with this id and group, and no capability, has these of the rights `rwx` on a folder. What cannot be
/// looked at is not there yet, or is closed to the caller as well.
fn may(folder: &Path, (uid, gid): (u32, u32), rights: u32) -> bool {
    let Ok(meta) = fs::metadata(folder) else { return true };
    let shift = if meta.uid() == uid {
        6
    } else if meta.gid() == gid {
        3
    } else {
        0
    };
    (meta.mode() >> shift) & rights == rights
}
