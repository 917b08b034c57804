//! Why a layout could not be read.

use std::io;
use std::path::PathBuf;

/// Why a layout could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The work folder is not there, or is no folder.
    #[error("cannot use work folder `{}`", path.display())]
    WorkFolder {
        /// As it was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `filesystem.scope` is not there, or leads out of the work folder.
    #[error("`filesystem.scope` cannot be entered: `{}`", path.display())]
    Scope {
        /// Relative to the work folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A `read_only` entry leads out of the work folder.
    #[error("`filesystem.read_only` entry leads out of the work folder: `{}`", path.display())]
    ReadOnly {
        /// Relative to the work folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The host's `/` or `/etc` cannot be listed.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
