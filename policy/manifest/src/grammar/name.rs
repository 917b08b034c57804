//! Names: of artifacts, programs, credentials and alternates.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// Longest part of an artifact's name, in characters.
pub(super) const PART_MAX: usize = 100;

/// Why a text is no name of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidName {
    /// Nothing is written.
    #[error("the name is empty")]
    Empty,
    /// A character it may not have.
    #[error("`{name}` has the character `{}`", found.escape_debug())]
    Character {
        /// The name as written.
        name: String,
        /// The first character it may not have.
        found: char,
    },
    /// It begins or ends as it may not.
    #[error("`{name}` may not begin or end that way")]
    Edge {
        /// The name as written.
        name: String,
    },
    /// It has too many characters.
    #[error("the name has {length} characters, at most {limit} are allowed")]
    TooLong {
        /// Its length in characters.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A full name without its scope.
    #[error("`{name}` has no scope; it may be meant as {}", scoped_forms(name))]
    NoScope {
        /// The name as written.
        name: String,
    },
    /// A bare name with a scope, or more than one scope.
    #[error(
        "`{name}` has more scopes than are accepted here; the bare name is `{}`",
        bare_of(name)
    )]
    Scope {
        /// The name as written.
        name: String,
    },
    /// A name that has a meaning of its own.
    #[error("`{name}` is reserved")]
    Reserved {
        /// The name as written.
        name: String,
    },
}

/// What follows the last slash.
fn bare_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Full names that a bare one may stand for.
pub(super) fn scoped_forms(name: &str) -> String {
    let first_party = name.strip_prefix("murmur-").unwrap_or(name);
    format!("`murmur/{first_party}`, `<owner>/{name}` or `local/{name}`")
}

/// Checks one part of an artifact's name.
pub(super) fn check_part(name: &str, part: &str) -> Result<(), InvalidName> {
    let owned = || name.to_owned();
    if part.is_empty() {
        return Err(InvalidName::Empty);
    }
    let wrong = |c: &char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-');
    if let Some(found) = part.chars().find(wrong) {
        return Err(InvalidName::Character { name: owned(), found });
    }
    if part.starts_with('-') || part.ends_with('-') {
        return Err(InvalidName::Edge { name: owned() });
    }
    if part.len() > PART_MAX {
        return Err(InvalidName::TooLong { length: part.len(), limit: PART_MAX });
    }
    Ok(())
}

/// The name of an artifact without its scope; also the name the model calls a tool by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BareName(String);

impl BareName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for BareName {
    const FORM: &'static str =
        "a name of `a-z`, `0-9` and inner `-`, at most 100 characters, as `patch-tool`";
    const PATTERN: &'static str = r"^\s*[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?\s*$";
}

impl FromStr for BareName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim();
        if name.contains('/') {
            return Err(InvalidName::Scope { name: name.to_owned() });
        }
        check_part(name, name)?;
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for BareName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(BareName);

/// The full name of an artifact, `<scope>/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName {
    scope: String,
    name: String,
}

impl ArtifactName {
    /// Who published it; `local` for one installed from a file, `murmur` for first-party ones.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The name without the scope.
    pub fn bare(&self) -> &str {
        &self.name
    }
}

impl Grammar for ArtifactName {
    const FORM: &'static str =
        "a full name `<scope>/<name>`, each of `a-z`, `0-9` and inner `-`, as `acme/patch-tool`";
    const PATTERN: &'static str =
        r"^\s*[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?/[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?\s*$";
}

impl FromStr for ArtifactName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let full = text.trim();
        let Some((scope, name)) = full.split_once('/') else {
            check_part(full, full)?;
            return Err(InvalidName::NoScope { name: full.to_owned() });
        };
        if name.contains('/') {
            return Err(InvalidName::Scope { name: full.to_owned() });
        }
        check_part(full, scope)?;
        check_part(full, name)?;
        Ok(Self { scope: scope.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.name)
    }
}

text_serde!(ArtifactName);

/// The name of an `artifacts[]` entry: full, or bare for one with a `source`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeclaredName {
    /// `<scope>/<name>`.
    Full(ArtifactName),
    /// `<name>`.
    Bare(BareName),
}

impl DeclaredName {
    /// The name without a scope.
    pub fn bare(&self) -> &str {
        match self {
            Self::Full(name) => name.bare(),
            Self::Bare(name) => name.as_str(),
        }
    }
}

impl Grammar for DeclaredName {
    const FORM: &'static str =
        "a full name `<scope>/<name>`, or beside `source` a bare one, as `acme/patch-tool`";
    const PATTERN: &'static str =
        r"^\s*([a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?/)?[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?\s*$";
}

impl FromStr for DeclaredName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('/') { text.parse().map(Self::Full) } else { text.parse().map(Self::Bare) }
    }
}

impl fmt::Display for DeclaredName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(name) => name.fmt(f),
            Self::Bare(name) => name.fmt(f),
        }
    }
}

text_serde!(DeclaredName);

/// The bare name of a program, looked up on the runtime's `PATH`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryName(String);

impl BinaryName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for BinaryName {
    const FORM: &'static str = "the name of a program, without `/` and blanks, as `python3`";
    const PATTERN: &'static str =
        r"^([^\s/.\u0000]|\.[^\s/.\u0000]|\.\.[^\s/\u0000])[^\s/\u0000]*$";
}

impl FromStr for BinaryName {
    type Err = InvalidName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name.is_empty() {
            return Err(InvalidName::Empty);
        }
        if let Some(found) = name.chars().find(|c| *c == '/' || c.is_whitespace() || c.is_control())
        {
            return Err(InvalidName::Character { name: name.to_owned(), found });
        }
        if name == "." || name == ".." {
            return Err(InvalidName::Reserved { name: name.to_owned() });
        }
        if name.len() > 255 {
            return Err(InvalidName::TooLong { length: name.len(), limit: 255 });
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for BinaryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(BinaryName);

/// A name that begins with a letter and goes on with letters, digits and `more`.
fn lettered(text: &str, more: &str, limit: usize, reserved: &str) -> Result<String, InvalidName> {
    let name = text.trim();
    let owned = || name.to_owned();
    if name.is_empty() {
        return Err(InvalidName::Empty);
    }
    let wrong = |c: &char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(*c));
    if let Some(found) = name.chars().find(wrong) {
        return Err(InvalidName::Character { name: owned(), found });
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(InvalidName::Edge { name: owned() });
    }
    if name.len() > limit {
        return Err(InvalidName::TooLong { length: name.len(), limit });
    }
    if name == reserved {
        return Err(InvalidName::Reserved { name: owned() });
    }
    Ok(owned())
}

/// The name of a door credential; never `operator`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredentialName(String);

impl CredentialName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for CredentialName {
    const FORM: &'static str =
        "a letter and up to 31 more of `a-z`, `0-9`, `_` and `-`, not `operator`";
    const PATTERN: &'static str = r"^\s*[a-z][a-z0-9_-]{0,31}\s*$";
}

impl FromStr for CredentialName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        lettered(text, "_-", 32, "operator").map(Self)
    }
}

impl fmt::Display for CredentialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(CredentialName);

/// The name of an alternate model; never `primary`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlternateName(String);

impl AlternateName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for AlternateName {
    const FORM: &'static str = "a letter and up to 62 more of `a-z`, `0-9` and `-`, not `primary`";
    const PATTERN: &'static str = r"^\s*[a-z][a-z0-9-]{0,62}\s*$";
}

impl FromStr for AlternateName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        lettered(text, "-", 63, "primary").map(Self)
    }
}

impl fmt::Display for AlternateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(AlternateName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifact_names_are_a_scope_and_a_name() {
        for text in ["acme/patch-tool", "a/b", "0/9", " local/x "] {
            let name: ArtifactName = text.parse().unwrap();
            assert_eq!(name.to_string(), text.trim());
        }
        for (text, message) in [
            ("", "the name is empty"),
            ("/x", "the name is empty"),
            ("acme/", "the name is empty"),
            ("Acme/x", "`Acme/x` has the character `A`"),
            ("acme/x_y", "`acme/x_y` has the character `_`"),
            ("acme/-x", "`acme/-x` may not begin or end that way"),
            ("acme/x-", "`acme/x-` may not begin or end that way"),
            ("a/b/c", "`a/b/c` has more scopes than are accepted here; the bare name is `c`"),
            (
                "murmur-grep",
                "`murmur-grep` has no scope; it may be meant as `murmur/grep`, `<owner>/murmur-grep` or `local/murmur-grep`",
            ),
        ] {
            assert_eq!(text.parse::<ArtifactName>().unwrap_err().to_string(), message);
        }
        assert!(format!("a/{}", "n".repeat(100)).parse::<ArtifactName>().is_ok());
        assert!(format!("a/{}", "n".repeat(101)).parse::<ArtifactName>().is_err());
    }

    #[test]
    fn a_bare_name_with_a_scope_is_told_its_bare_form() {
        let refusal = "acme/tool".parse::<BareName>().unwrap_err();
        assert!(refusal.to_string().ends_with("the bare name is `tool`"), "{refusal}");
    }

    #[test]
    fn programs_are_named_by_one_word() {
        for text in ["bash", "python3.12", "g++", "[", "...", "a-b_c"] {
            assert_eq!(text.parse::<BinaryName>().unwrap().as_str(), text);
        }
        for text in
            ["", ".", "..", "bin/sh", "/bin/sh", "a b", " sh", "sh ", "a\tb", "a\0b", "a\nb"]
        {
            assert!(text.parse::<BinaryName>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn reserved_names_of_credentials_and_alternates_are_refused() {
        assert!("ci_bot".parse::<CredentialName>().is_ok());
        assert!("a".repeat(32).parse::<CredentialName>().is_ok());
        for text in ["operator", "", "1a", "_a", "A", "a b", &"a".repeat(33)] {
            assert!(text.parse::<CredentialName>().is_err(), "{text:?}");
        }
        assert!("fast-1".parse::<AlternateName>().is_ok());
        for text in ["primary", "", "1a", "-a", "a_b", &"a".repeat(64)] {
            assert!(text.parse::<AlternateName>().is_err(), "{text:?}");
        }
    }
}
