//! Decides which texts may name a container.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest accepted name, in bytes: a name is also a folder name beneath the state root, and
/// engines use 64 characters.
const LONGEST: usize = 1024;

/// The name of a container: letters, digits and `_ + - .`, at most 1024 bytes.
///
/// It is safe as one path component: never empty, `.`, `..`, or with a slash, and never
/// mistaken for a flag because it does not begin with `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContainerId(String);

/// A text that cannot name a container, with the rule it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidContainerId {
    /// The text has no characters.
    #[error("invalid container id format: it is empty")]
    Empty,
    /// The text is longer than a name may be.
    #[error("invalid container id format: {length} bytes are more than the {LONGEST} allowed")]
    TooLong {
        /// Length of the text in bytes.
        length: usize,
    },
    /// The text is `.` or `..`, or begins with `-`.
    #[error("invalid container id format: `{text}` would be read as a folder or a flag")]
    Reserved {
        /// The text as given.
        text: String,
    },
    /// The text has a character outside the pattern.
    #[error(
        "invalid container id format: `{}` has `{}`; letters, digits and `_ + - .` are allowed",
        text.escape_debug(), character.escape_debug()
    )]
    Character {
        /// The text as given.
        text: String,
        /// The first character that is not allowed.
        character: char,
    },
}

impl ContainerId {
    /// Borrows the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ContainerId {
    type Err = InvalidContainerId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_+-.".contains(c);
        if text.is_empty() {
            return Err(InvalidContainerId::Empty);
        }
        if text.len() > LONGEST {
            return Err(InvalidContainerId::TooLong { length: text.len() });
        }
        if let Some(character) = text.chars().find(|&c| !allowed(c)) {
            return Err(InvalidContainerId::Character { text: text.to_owned(), character });
        }
        if text == "." || text == ".." || text.starts_with('-') {
            return Err(InvalidContainerId::Reserved { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for ContainerId {
    type Error = InvalidContainerId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ContainerId> for String {
    fn from(id: ContainerId) -> Self {
        id.0
    }
}

impl AsRef<Path> for ContainerId {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for ContainerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_engines_use_are_accepted() {
        for text in ["a", "c1", "0f3e", "k8s_pod.1+x-y", "...", "a.", ".hidden", &"x".repeat(1024)]
        {
            assert_eq!(text.parse::<ContainerId>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn a_name_that_could_leave_its_folder_or_be_a_flag_is_refused() {
        let long = "x".repeat(1025);
        for (text, start) in [
            ("", "invalid container id format: it is empty"),
            (".", "invalid container id format: `.` would"),
            ("..", "invalid container id format: `..` would"),
            ("-f", "invalid container id format: `-f` would"),
            ("a/b", "invalid container id format: `a/b` has `/`"),
            ("a\nb", "invalid container id format: `a\\nb` has `\\n`"),
            ("a b", "invalid container id format: `a b` has ` `"),
            ("\u{e9}", "invalid container id format: `\u{e9}` has"),
            (&long, "invalid container id format: 1025 bytes"),
        ] {
            let message = text.parse::<ContainerId>().unwrap_err().to_string();
            assert!(message.starts_with(start), "{text:?}: {message}");
        }
    }

    #[test]
    fn a_stored_name_is_checked_when_it_is_read() {
        assert!(serde_json::from_str::<ContainerId>("\"../x\"").is_err());
        assert_eq!(serde_json::from_str::<ContainerId>("\"x\"").unwrap().as_str(), "x");
    }
}
