//! Makes and removes group folders, and enables v2 controllers on the way down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;

use super::error::{ScopeError, in_words};
use crate::kernel_file::{read_text, write_text};

/// Longest wait for the last process of a group to leave it, as 1 + 2 + 4 … ms.
const REMOVE_ATTEMPTS: u32 = 11;

/// What making a folder left behind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Made {
    /// True when the folder itself was made.
    pub(super) leaf: bool,
    /// Parents that were made, outermost first.
    pub(super) parents: Vec<PathBuf>,
}

/// Makes `path` and the parents that are missing below `mount`.
///
/// `on_made` is called for each folder that was made, outermost first. A parent that another
/// container removes in between is made again.
pub(super) fn create(
    mount: &Path,
    path: &Path,
    on_made: &mut dyn FnMut(&Path) -> Result<(), ScopeError>,
) -> Result<Made, ScopeError> {
    let mut made = Made::default();
    let failed = |source| ScopeError::Create { path: path.to_path_buf(), source };
    for _ in 0..8 {
        match fs::create_dir(path) {
            Ok(()) => {
                made.leaf = true;
                on_made(path)?;
                return Ok(made);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(made),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let parent = path.parent().filter(|parent| parent.starts_with(mount) && *parent != mount);
        let Some(parent) = parent else { return Err(failed(Errno::ENOENT.into())) };
        let above = create(mount, parent, on_made)?;
        made.parents.extend(above.parents);
        if above.leaf {
            made.parents.push(parent.to_path_buf());
        }
    }
    Err(failed(Errno::ENOENT.into()))
}

/// Enables v2 controllers in every folder from `mount` to the parent of `path`.
///
/// `needed` must be enabled; the rest of `available` is enabled where that works, so that the
/// group's usage can be read. The answer says which of them were not, and why.
pub(super) fn enable(
    mount: &Path,
    path: &Path,
    available: &[String],
    needed: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, ScopeError> {
    let mut disabled = BTreeMap::new();
    let parent = path.parent().unwrap_or(mount);
    let mut folders: Vec<&Path> =
        parent.ancestors().take_while(|folder| folder.starts_with(mount)).collect();
    folders.reverse();
    for folder in folders {
        let file = folder.join("cgroup.subtree_control");
        let enabled = read_text(&file).unwrap_or_default();
        let enabled: Vec<&str> = enabled.split_whitespace().collect();
        let wanted = available.iter().map(String::as_str).filter(|c| !enabled.contains(c));
        let wanted: Vec<&str> = wanted.collect();
        if wanted.is_empty() {
            continue;
        }
        let all = format!("+{}", wanted.join(" +"));
        if write_text(&file, &all).is_ok() {
            continue;
        }
        for controller in wanted {
            let Err(source) = write_text(&file, &format!("+{controller}")) else { continue };
            let name = controller.to_owned();
            let error = ScopeError::Enable { controller: name.clone(), path: file.clone(), source };
            if needed.contains(controller) {
                return Err(error);
            }
            let words = in_words(&error);
            tracing::debug!(error = words, "controller not enabled");
            disabled.entry(name).or_insert(words);
        }
    }
    Ok(disabled)
}

/// Gives a folder of v1 `cpuset` that was just made the processors and memory nodes of its parent: it starts with
/// none, and no process can join it then.
pub(super) fn inherit_cpuset(folder: &Path) -> Result<(), ScopeError> {
    for file in ["cpuset.cpus", "cpuset.mems"] {
        let own = folder.join(file);
        let parent = folder.parent().unwrap_or(folder).join(file);
        let value =
            read_text(&parent).map_err(|source| ScopeError::Read { path: parent, source })?;
        write_text(&own, value.trim())
            .map_err(|source| ScopeError::Inherit { path: own, source })?;
    }
    Ok(())
}

/// Removes `path` and the groups inside it, deepest first, waiting for processes that are leaving.
///
/// A folder that is not there is fine.
pub(super) fn remove(path: &Path) -> Result<(), ScopeError> {
    let mut wait = Duration::from_millis(1);
    for attempt in 1.. {
        let error = match fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => error,
        };
        if error.raw_os_error() != Some(Errno::EBUSY as i32) || attempt == REMOVE_ATTEMPTS {
            return Err(ScopeError::Remove { path: path.to_path_buf(), source: error });
        }
        for child in children(path) {
            remove(&child)?;
        }
        sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(100));
    }
    Ok(())
}

/// Removes a group without processes and groups inside; false: it has some, or cannot be removed.
pub(super) fn is_removed_at_once(path: &Path) -> bool {
    fs::remove_dir(path).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
}

/// The groups directly inside `path`.
pub(super) fn children(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let folders = entries.flatten().filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}
