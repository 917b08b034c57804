//! Install patterns: which artifacts may be pulled while a capsule runs.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::name::{InvalidName, PART_MAX, check_part, scoped_forms};
use super::{ArtifactName, Grammar, text_serde};

/// Why a text is no install pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidInstallPattern {
    /// Nothing is written.
    #[error("the entry is empty")]
    Empty,
    /// A `*` that does not stand once, at the very end.
    #[error("`{0}` has a `*` that is not its last character")]
    Star(String),
    /// Something other than `*` in all scopes.
    #[error("`{0}` reaches over scopes, which only `*` does")]
    Scopes(String),
    /// A name without a scope.
    #[error("`{name}` has no scope; it may be meant as {}", scoped_forms(name))]
    NoScope {
        /// The name as written.
        name: String,
    },
    /// One of its names is none.
    #[error("`{entry}` is not a name of an artifact")]
    Name {
        /// The entry as written.
        entry: String,
        /// What is wrong with it.
        source: InvalidName,
    },
}

/// Artifacts that may be installed: `*`, `<scope>/*`, `<scope>/<prefix>*` or one full name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstallPattern(Shape);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Shape {
    All,
    Prefix { scope: String, prefix: String },
    Exact(ArtifactName),
}

impl InstallPattern {
    /// Whether it allows this artifact.
    pub fn matches(&self, artifact: &ArtifactName) -> bool {
        match &self.0 {
            Shape::All => true,
            Shape::Prefix { scope, prefix } => {
                artifact.scope() == scope && artifact.bare().starts_with(prefix)
            }
            Shape::Exact(name) => name == artifact,
        }
    }

    /// Whether every artifact that `child` allows is allowed by this pattern.
    pub fn covers(&self, child: &Self) -> bool {
        match (&self.0, &child.0) {
            (Shape::All, _) => true,
            (Shape::Prefix { scope, prefix }, Shape::Prefix { scope: of, prefix: longer }) => {
                scope == of && longer.starts_with(prefix)
            }
            (Shape::Prefix { .. }, Shape::Exact(name)) => self.matches(name),
            (Shape::Exact(name), Shape::Exact(other)) => name == other,
            (Shape::Prefix { .. } | Shape::Exact(_), Shape::All)
            | (Shape::Exact(_), Shape::Prefix { .. }) => false,
        }
    }

    /// Whether one of these patterns covers this one: as [`Self::covers`] asked of each, by look-up.
    pub fn is_covered_by(&self, ceilings: &HashSet<Self>) -> bool {
        self.ceilings().any(|ceiling| ceilings.contains(&ceiling))
    }

    /// Every pattern that covers this one, itself among them, each once.
    fn ceilings(&self) -> impl Iterator<Item = Self> {
        let (scope, prefix) = match &self.0 {
            Shape::All => ("", None),
            Shape::Prefix { scope, prefix } => (scope.as_str(), Some(prefix.as_str())),
            Shape::Exact(name) => (name.scope(), Some(name.bare())),
        };
        // Names and prefixes are ASCII, so each byte ends one.
        let prefixes = prefix.into_iter().flat_map(move |prefix| {
            (0..=prefix.len()).map(move |end| Shape::Prefix {
                scope: scope.to_owned(),
                prefix: prefix[..end].to_owned(),
            })
        });
        let exact = matches!(self.0, Shape::Exact(_)).then(|| self.0.clone());
        std::iter::once(Shape::All).chain(prefixes).chain(exact).map(Self)
    }
}

impl Grammar for InstallPattern {
    const FORM: &'static str =
        "`*`, `<scope>/*`, `<scope>/<prefix>*` or a full name, as `acme/style-*`";
    const PATTERN: &'static str = r"^\s*(\*|[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?/([a-z0-9][a-z0-9-]{0,99})?\*|[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?/[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?)\s*$";
}

/// Checks the open part of `<scope>/<prefix>*`, which unlike a name may end in `-`.
fn check_prefix(entry: &str, prefix: &str) -> Result<(), InvalidInstallPattern> {
    let source = match check_part(entry, prefix.trim_end_matches('-')) {
        Ok(()) if prefix.len() <= PART_MAX => return Ok(()),
        Ok(()) => InvalidName::TooLong { length: prefix.len(), limit: PART_MAX },
        Err(InvalidName::Empty) if prefix.is_empty() => return Ok(()),
        Err(InvalidName::Empty) => InvalidName::Edge { name: entry.to_owned() },
        Err(other) => other,
    };
    Err(InvalidInstallPattern::Name { entry: entry.to_owned(), source })
}

/// Reads an entry that has no star.
fn exact(entry: &str) -> Result<InstallPattern, InvalidInstallPattern> {
    let name: Result<ArtifactName, InvalidName> = entry.parse();
    match name {
        Ok(name) => Ok(InstallPattern(Shape::Exact(name))),
        Err(InvalidName::NoScope { name }) => Err(InvalidInstallPattern::NoScope { name }),
        Err(source) => Err(InvalidInstallPattern::Name { entry: entry.to_owned(), source }),
    }
}

impl FromStr for InstallPattern {
    type Err = InvalidInstallPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entry = text.trim();
        if entry.is_empty() {
            return Err(InvalidInstallPattern::Empty);
        }
        if entry == "*" {
            return Ok(Self(Shape::All));
        }
        if entry.starts_with("*/") {
            return Err(InvalidInstallPattern::Scopes(entry.to_owned()));
        }
        let Some(open) = entry.strip_suffix('*') else {
            if entry.contains('*') {
                return Err(InvalidInstallPattern::Star(entry.to_owned()));
            }
            return exact(entry);
        };
        if open.contains('*') {
            return Err(InvalidInstallPattern::Star(entry.to_owned()));
        }
        let Some((scope, prefix)) = open.split_once('/') else {
            return Err(InvalidInstallPattern::Scopes(entry.to_owned()));
        };
        check_part(entry, scope)
            .map_err(|source| InvalidInstallPattern::Name { entry: entry.to_owned(), source })?;
        check_prefix(entry, prefix)?;
        Ok(Self(Shape::Prefix { scope: scope.to_owned(), prefix: prefix.to_owned() }))
    }
}

impl fmt::Display for InstallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Shape::All => f.write_str("*"),
            Shape::Prefix { scope, prefix } => write!(f, "{scope}/{prefix}*"),
            Shape::Exact(name) => name.fmt(f),
        }
    }
}

text_serde!(InstallPattern);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> InstallPattern {
        text.parse().unwrap()
    }

    #[test]
    fn covering_follows_the_table() {
        for (parent, child, covered) in [
            ("*", "*", true),
            ("*", "ana/*", true),
            ("*", "ana/jq", true),
            ("ana/*", "*", false),
            ("ana/*", "ana/*", true),
            ("ana/*", "ana/jq", true),
            ("ana/*", "bob/jq", false),
            ("ana/j*", "ana/jq*", true),
            ("ana/jq*", "ana/j*", false),
            ("ana/j*", "ana/jq", true),
            ("ana/j*", "bob/jq", false),
            ("ana/jq", "*", false),
            ("ana/jq", "ana/jq*", false),
            ("ana/jq", "ana/jq", true),
            ("ana/jq", "ana/jqq", false),
            ("ana/style*", "ana/style-*", true),
            ("ana/style-*", "ana/style*", false),
        ] {
            assert_eq!(pattern(parent).covers(&pattern(child)), covered, "{parent} {child}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "", " ", "*/x", "*/*", "a/*b", "a/**", "**", "a*", "ana*/x", "A/x", "a/X", "a/b/c",
            "a/b/*", "/x", "a/", "jq", "a b/*", "a/-*", "a/--*", "-a/*", "a/x y",
        ] {
            assert!(text.parse::<InstallPattern>().is_err(), "{text:?}");
        }
        assert_eq!(
            "murmur-jq".parse::<InstallPattern>().unwrap_err().to_string(),
            "`murmur-jq` has no scope; it may be meant as `murmur/jq`, `<owner>/murmur-jq` or `local/murmur-jq`"
        );
        assert!(format!("a/{}*", "n".repeat(100)).parse::<InstallPattern>().is_ok());
        assert!(format!("a/{}*", "n".repeat(101)).parse::<InstallPattern>().is_err());
    }

    proptest! {
        #[test]
        fn the_ceilings_of_a_pattern_are_those_that_cover_it(
            parent in "(\\*|[ab]/[ab]{0,2}\\*|[ab]/[ab]{1,3})",
            child in "(\\*|[ab]/[ab]{0,2}\\*|[ab]/[ab]{1,3})",
        ) {
            let (parent, child) = (pattern(&parent), pattern(&child));
            let found = child.ceilings().filter(|ceiling| *ceiling == parent).count();
            prop_assert_eq!(found, usize::from(parent.covers(&child)));
        }

        #[test]
        fn what_a_covered_pattern_matches_its_parent_matches_too(
            parent in "(\\*|[ab]/[ab]{0,2}\\*|[ab]/[ab]{1,3})",
            child in "(\\*|[ab]/[ab]{0,2}\\*|[ab]/[ab]{1,3})",
            name in "[ab]/[ab]{1,3}",
        ) {
            let (parent, child) = (pattern(&parent), pattern(&child));
            let name: ArtifactName = name.parse().unwrap();
            if parent.covers(&child) && child.matches(&name) {
                prop_assert!(parent.matches(&name));
            }
            prop_assert!(parent.covers(&parent));
        }
    }
}
