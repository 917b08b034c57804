//! Why a bundle cannot be planned.

use std::path::PathBuf;

/// A config.json that no process can be started from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecPlanError {
    /// A key that must be there is not.
    #[error("`{key}` is missing")]
    Missing {
        /// The key path.
        key: &'static str,
    },
    /// A value is not one of those the key takes.
    #[error("`{key}`: `{value}` {reason}")]
    Invalid {
        /// The key path, as `mounts[3].options`.
        key: String,
        /// What was found.
        value: String,
        /// What is wrong with it, as `is not a mount option`.
        reason: &'static str,
    },
    /// Two keys exclude each other.
    #[error("`{key}` {reason}")]
    Conflict {
        /// The key path.
        key: String,
        /// Why it cannot be, as `needs a new mount namespace`.
        reason: &'static str,
    },
    /// An annotation of ours cannot be read.
    #[error("annotation `{name}` cannot be read")]
    Annotation {
        /// Its name.
        name: &'static str,
        /// Where it went wrong.
        source: serde_json::Error,
    },
    /// A path must be absolute.
    #[error("`{key}`: `{}` is not absolute", path.display())]
    Relative {
        /// The key path.
        key: String,
        /// What was found.
        path: PathBuf,
    },
}
