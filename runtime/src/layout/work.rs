//! Reads the work folder: its owner, its scope, and the subtrees that stay read-only.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{EntryKind, RootEntry, WorkFolder};
use mur_policy::{Caller, FilePolicy};
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

use crate::layout::LayoutError;

/// How many entries of the work folder are looked at for native modules; the search only words a warning.
const MOST_ENTRIES: usize = 4_000;
/// How many native modules are named.
const MOST_MODULES: usize = 8;

/// Reads the work folder as `files` grants it.
///
/// # Errors
/// It is not there, is no folder, or an entry of the policy leads out of it.
pub(crate) fn read_work_folder(
    given: &Path,
    files: &FilePolicy,
) -> Result<WorkFolder, LayoutError> {
    let refused = |source| LayoutError::WorkFolder { path: given.into(), source };
    let path = fs::canonicalize(given).map_err(refused)?;
    let meta = fs::metadata(&path).map_err(refused)?;
    if !meta.is_dir() {
        return Err(refused(io::ErrorKind::NotADirectory.into()));
    }
    let folder = File::open(&path).map_err(refused)?;
    let scope = read_scope(&folder, &path, files)?;
    let (read_only, read_only_missing) = read_only(&folder, files)?;
    let modules = if files.workdir_exec { Vec::new() } else { native_modules(&path, &read_only) };
    Ok(WorkFolder {
        source: path.clone(),
        uid: meta.uid(),
        gid: meta.gid(),
        scope,
        read_only,
        read_only_missing,
        native_modules: modules,
        path,
    })
}

/// The work folder that a session will make: empty, and the caller's own.
///
/// # Errors
/// The policy binds commands to a part of it, which cannot be there.
pub(crate) fn new_work_folder(
    path: &Path,
    files: &FilePolicy,
    caller: &Caller,
) -> Result<WorkFolder, LayoutError> {
    if let Some(scope) = files.scope_path.as_ref().filter(|scope| !scope.as_os_str().is_empty()) {
        let source = io::ErrorKind::NotFound.into();
        return Err(LayoutError::Scope { path: scope.clone(), source });
    }
    Ok(WorkFolder {
        path: path.into(),
        source: path.into(),
        uid: caller.uid,
        gid: caller.gid,
        scope: None,
        read_only: Vec::new(),
        read_only_missing: files.read_only_paths.clone(),
        native_modules: Vec::new(),
    })
}

/// The scope, links beneath the work folder followed; `None` is the whole of it.
fn read_scope(
    folder: &File,
    path: &Path,
    files: &FilePolicy,
) -> Result<Option<PathBuf>, LayoutError> {
    let Some(scope) = &files.scope_path else { return Ok(None) };
    if scope.as_os_str().is_empty() {
        return Ok(None);
    }
    let refused = |source| LayoutError::Scope { path: scope.clone(), source };
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
    let found = beneath(folder, scope, flags, ResolveFlag::empty()).map_err(refused)?;
    let name = fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd())).map_err(refused)?;
    let scope = name.strip_prefix(path).map_err(|_| refused(io::ErrorKind::NotFound.into()))?;
    Ok((!scope.as_os_str().is_empty()).then(|| scope.into()))
}

/// The entries that exist, and those that do not. None may lead through a link: the link's own name could be taken.
fn read_only(
    folder: &File,
    files: &FilePolicy,
) -> Result<(Vec<RootEntry>, Vec<PathBuf>), LayoutError> {
    let mut found: Vec<RootEntry> = Vec::new();
    let mut missing = Vec::new();
    let mut paths = files.read_only_paths.clone();
    paths.sort();
    for path in paths {
        if found.iter().any(|entry| path.starts_with(&entry.name)) {
            continue;
        }
        let refused = |source| LayoutError::ReadOnly { path: path.clone(), source };
        match beneath(folder, &path, OFlag::O_PATH, ResolveFlag::RESOLVE_NO_SYMLINKS) {
            Ok(file) => {
                let kind = file.metadata().map_err(refused)?;
                let kind = if kind.is_dir() { EntryKind::Folder } else { EntryKind::File };
                found.push(RootEntry { name: path, kind });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(path),
            Err(error) => return Err(refused(error)),
        }
    }
    Ok((found, missing))
}

/// Opens a path beneath `folder`, which nothing on the way may leave.
fn beneath(folder: &File, path: &Path, flags: OFlag, also: ResolveFlag) -> io::Result<File> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let how = OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS | also);
    Ok(File::from(openat2(folder, path, how)?))
}

/// Native modules in what may be written, the nearest first; they would not load.
fn native_modules(path: &Path, read_only: &[RootEntry]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = std::collections::VecDeque::from([path.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            seen += 1;
            if seen > MOST_ENTRIES || found.len() == MOST_MODULES {
                found.sort();
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let own = entry.path();
            let below = own.strip_prefix(path).unwrap_or(&own);
            if read_only.iter().any(|entry| below.starts_with(&entry.name)) {
                continue;
            }
            if kind.is_dir() {
                folders.push_back(own);
            } else if kind.is_file() && is_native_module(&own) {
                found.push(below.into());
            }
        }
    }
    found.sort();
    found
}

fn is_native_module(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "so" || extension == "node")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn files(scope: &str, read_only: &[&str]) -> FilePolicy {
        FilePolicy {
            scope_path: (!scope.is_empty()).then(|| scope.into()),
            read_only_paths: read_only.iter().map(PathBuf::from).collect(),
            ..FilePolicy::default()
        }
    }

    fn work() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        fs::write(dir.path().join("a/file"), "").unwrap();
        fs::write(dir.path().join("a/b/native.so"), "").unwrap();
        symlink("a/b", dir.path().join("inner")).unwrap();
        symlink("/usr", dir.path().join("outer")).unwrap();
        dir
    }

    #[test]
    fn a_scope_is_followed_beneath_the_work_folder_and_never_out_of_it() {
        let dir = work();
        let read = |scope| read_work_folder(dir.path(), &files(scope, &[]));
        assert_eq!(read("a").unwrap().scope, Some("a".into()));
        assert_eq!(read("inner").unwrap().scope, Some("a/b".into()));
        assert_eq!(read(".").unwrap().scope, None);
        for scope in ["outer", "gone", "a/file", "../x"] {
            assert!(matches!(read(scope), Err(LayoutError::Scope { .. })), "{scope}");
        }
    }

    #[test]
    fn read_only_entries_are_found_or_named_missing_and_refuse_links() {
        let dir = work();
        let work =
            read_work_folder(dir.path(), &files("", &["a/b", "a/b/c", "a/file", "gone"])).unwrap();
        let names: Vec<_> = work.read_only.iter().map(|entry| (&entry.name, &entry.kind)).collect();
        assert_eq!(
            names,
            [
                (&PathBuf::from("a/b"), &EntryKind::Folder),
                (&PathBuf::from("a/file"), &EntryKind::File)
            ]
        );
        assert_eq!(work.read_only_missing, [PathBuf::from("gone")]);
        for entry in ["inner", "outer/x", "inner/c"] {
            let read = read_work_folder(dir.path(), &files("", &[entry]));
            assert!(matches!(read, Err(LayoutError::ReadOnly { .. })), "{entry}");
        }
    }

    #[test]
    fn native_modules_are_named_where_they_may_be_written_only() {
        let dir = work();
        let modules =
            |read_only| read_work_folder(dir.path(), &files("", read_only)).unwrap().native_modules;
        assert_eq!(modules(&[]), [PathBuf::from("a/b/native.so")]);
        assert!(modules(&["a"]).is_empty());
    }
}
