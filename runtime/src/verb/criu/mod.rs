//! Takes a container's processes to disk and back, by the program criu.

mod checkpoint;
mod option;
mod restore;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::id::ContainerId;
use crate::state::Status;
use crate::store::StoreError;

pub use checkpoint::checkpoint;
pub use option::{AfterDump, CriuOptions};
pub use restore::{RestoreError, RestoreRequest, restore};

/// Annotation of a config whose program is in a Landlock domain.
const LANDLOCK: &str = "org.murmur.landlock";
/// File among the images with what descriptors 0, 1 and 2 were.
const DESCRIPTORS: &str = "descriptors.json";
/// Most of criu's own words that an error repeats.
const LINES: usize = 3;

/// A container could not be checkpointed, or criu could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CriuError {
    /// Its state cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// It has no running processes.
    #[error("cannot checkpoint container `{id}`: container not running, it is {status}")]
    NotRunning {
        /// Its name.
        id: ContainerId,
        /// What it is.
        status: Status,
    },
    /// criu is not there.
    #[error("checkpoints need the program `criu`, which cannot be started")]
    NoCriu {
        /// What the kernel answered.
        source: io::Error,
    },
    /// Something would be lost on the way.
    #[error("container `{id}` cannot be {action}: {reason}")]
    Lossy {
        /// Its name.
        id: ContainerId,
        /// `checkpointed` or `restored`.
        action: &'static str,
        /// What, as a clause.
        reason: &'static str,
    },
    /// A file or folder of the images cannot be used.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// As `make`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// criu refused.
    #[error("criu cannot {action} container `{id}`: {words} (its log is `{}`)", log.display())]
    Refused {
        /// Its name.
        id: ContainerId,
        /// `checkpoint` or `restore`.
        action: &'static str,
        /// The errors in its log.
        words: String,
        /// Its log.
        log: PathBuf,
    },
}

/// Runs criu with `arguments`; its log is `log` in `work`.
fn run(
    id: &ContainerId,
    action: &'static str,
    arguments: &[OsString],
    work: &Path,
    log: &str,
) -> Result<(), CriuError> {
    // The descriptors 0 to 2 are the caller's: restored processes may get them.
    let status = Command::new("criu")
        .args(arguments)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .map_err(|source| CriuError::NoCriu { source })?;
    if status.success() {
        return Ok(());
    }
    let log = work.join(log);
    let text = fs::read_to_string(&log).unwrap_or_default();
    let words = errors_of(&text).unwrap_or_else(|| format!("it ended with {status}"));
    Err(CriuError::Refused { id: id.clone(), action, words, log })
}

/// The last errors of a log, without their time and place.
fn errors_of(log: &str) -> Option<String> {
    let errors = log.lines().filter_map(|line| {
        let (_, rest) = line.split_once("Error (")?;
        let (_, words) = rest.split_once("): ")?;
        Some(words.trim())
    });
    let errors: Vec<&str> = errors.collect();
    let last = &errors[errors.len().saturating_sub(LINES)..];
    (!last.is_empty()).then(|| last.join("; "))
}

fn make_folder(path: &Path) -> Result<(), CriuError> {
    fs::create_dir_all(path).map_err(|source| CriuError::File {
        action: "make",
        path: path.to_path_buf(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_errors_of_a_log_are_repeated() {
        let log = "(00.1) Warn  (criu/x.c:1): odd\n(00.2) Error (criu/a.c:17): first\n\
                   (00.3) Error (criu/b.c:2): no such mount\n(00.4) done\n";
        assert_eq!(errors_of(log).as_deref(), Some("first; no such mount"));
        assert_eq!(errors_of("fine\n"), None);
    }
}
