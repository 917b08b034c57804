//! The file a manifest was read from: its digest, where its keys stand, what is worth a warning.

use std::collections::BTreeMap;
use std::fmt;

use crate::code::Code;
use crate::location::Location;
use crate::text::visible;

/// What is known of the file behind a manifest.
///
/// Two are always equal: the file is not part of what the manifest says.
#[derive(Debug, Clone, Default)]
pub struct Source {
    digest: String,
    warnings: Vec<Warning>,
    positions: BTreeMap<String, (u32, u32)>,
}

impl Source {
    /// What was seen while a file was read.
    pub(crate) const fn new(
        digest: String,
        warnings: Vec<Warning>,
        positions: BTreeMap<String, (u32, u32)>,
    ) -> Self {
        Self { digest, warnings, positions }
    }

    /// SHA-256 of the file, in lower-case hex; empty where there was no file.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is worth saying of the file, though it is accepted.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Where a key stands, by its dotted path; without line and column where it is not written.
    pub fn locate(&self, path: &str) -> Location {
        let (line, column) = self.positions.get(path).copied().unwrap_or_default();
        Location { path: path.to_owned(), line, column }
    }
}

impl PartialEq for Source {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Something worth saying of a file that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A key nobody knows, which was ignored (`W-SEC-019`).
    UnknownKey {
        /// The key as written.
        key: String,
        /// The dotted path of the block that holds it; empty at the top level.
        block: String,
        /// Where the key stands.
        at: Location,
        /// The known key it may be meant for.
        suggestion: Option<&'static str>,
    },
    /// More keys that nobody knows than are listed (`W-SEC-019`).
    MoreUnknownKeys {
        /// How many more.
        count: usize,
    },
    /// A version beside a `source`, which makes it `local` (no code).
    VersionIgnored {
        /// Where the version stands.
        at: Location,
        /// The version as written.
        version: String,
    },
}

impl Warning {
    /// Its code, where it has one.
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::UnknownKey { .. } | Self::MoreUnknownKeys { .. } => Some(Code::WSec019),
            Self::VersionIgnored { .. } => None,
        }
    }

    /// Where it is, where it is at one place.
    pub const fn at(&self) -> Option<&Location> {
        match self {
            Self::UnknownKey { at, .. } | Self::VersionIgnored { at, .. } => Some(at),
            Self::MoreUnknownKeys { .. } => None,
        }
    }

    /// What it says, for who prints the place apart.
    pub fn text(&self) -> String {
        self.message("")
    }

    /// What it says, with `place` after the key.
    fn message(&self, place: &str) -> String {
        match self {
            Self::UnknownKey { key, block, suggestion, .. } => {
                let block = match block.as_str() {
                    "" => "at the top level".to_owned(),
                    block => format!("in `{}`", visible(block)),
                };
                let meant = suggestion.map_or_else(
                    || "it may belong to a newer version".to_owned(),
                    |known| format!("a spelling mistake, meant may be `{known}`"),
                );
                format!(
                    "the key `{}` {block}{place} is not known and was ignored: {meant}",
                    visible(key)
                )
            }
            Self::MoreUnknownKeys { count } => {
                format!("{count} more keys are not known and were ignored")
            }
            Self::VersionIgnored { version, .. } => format!(
                "the version `{}` is ignored beside `source`, which makes it `local`",
                visible(version)
            ),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey { at, .. } => {
                write!(f, "{}", self.message(&format!(" (line {}, column {})", at.line, at.column)))
            }
            Self::MoreUnknownKeys { .. } => f.write_str(&self.message("")),
            Self::VersionIgnored { at, .. } => write!(f, "{at}: {}", self.message("")),
        }
    }
}
