//! Names of environment variables, and patterns of them.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// A text that cannot name an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` cannot name an environment variable")]
pub struct InvalidEnvName(pub String);

/// Whether a text may be (a part of) a variable's name.
fn plain(text: &str) -> bool {
    !text.contains(|c: char| c == '=' || c == '*' || c.is_whitespace() || c.is_control())
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvName(String);

impl EnvName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for EnvName {
    const FORM: &'static str = "the name of a variable, without `=`, `*` and blanks, as `LANG`";
    const PATTERN: &'static str = r"^\s*[^\s=*\u0000]+\s*$";
}

impl FromStr for EnvName {
    type Err = InvalidEnvName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim();
        if name.is_empty() || !plain(name) {
            return Err(InvalidEnvName(text.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for EnvName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(EnvName);

/// A text that is no pattern of variable names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidEnvPattern {
    /// It is empty.
    #[error("the pattern is empty")]
    Empty,
    /// A `*` stands inside.
    #[error("`{0}` has a `*` that is neither first nor last")]
    Inner(String),
    /// Something in it cannot be in a variable's name.
    #[error("`{0}` cannot match the name of an environment variable")]
    NotAName(String),
}

/// Names of environment variables: one name, or with `*` as first or last character many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvPattern {
    open_start: bool,
    middle: String,
    open_end: bool,
}

impl EnvPattern {
    /// Whether it has a star on both sides; a name is searched for each such pattern.
    pub const fn is_inner(&self) -> bool {
        self.open_start && self.open_end
    }

    /// Whether the pattern names this variable. Case counts.
    pub fn matches(&self, name: &str) -> bool {
        let middle = self.middle.as_str();
        match (self.open_start, self.open_end) {
            (false, false) => name == middle,
            (false, true) => name.starts_with(middle),
            (true, false) => name.ends_with(middle),
            (true, true) => name.contains(middle),
        }
    }
}

impl Grammar for EnvPattern {
    const FORM: &'static str =
        "a variable's name, or a part of it with `*` first or last, as `CI_*`";
    const PATTERN: &'static str = r"^\s*\*?[^\s=*\u0000]*\*?\s*$";
}

impl FromStr for EnvPattern {
    type Err = InvalidEnvPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let pattern = text.trim();
        if pattern.is_empty() {
            return Err(InvalidEnvPattern::Empty);
        }
        let (open_start, rest) = match pattern.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (open_end, middle) = match rest.strip_suffix('*') {
            Some(middle) => (true, middle),
            None => (false, rest),
        };
        if middle.contains('*') {
            return Err(InvalidEnvPattern::Inner(pattern.to_owned()));
        }
        if !plain(middle) {
            return Err(InvalidEnvPattern::NotAName(pattern.to_owned()));
        }
        Ok(Self { open_start, middle: middle.to_owned(), open_end })
    }
}

impl fmt::Display for EnvPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = |open: bool| if open { "*" } else { "" };
        write!(f, "{}{}{}", star(self.open_start), self.middle, star(self.open_end))
    }
}

text_serde!(EnvPattern);

/// Many patterns, to ask of a name whether one of them matches it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvPatternSet {
    /// Whole names.
    exact: HashSet<String>,
    /// What names begin with, sorted; none begins with another.
    starts: Vec<String>,
    /// What names end with, read backwards; as `starts`.
    ends: Vec<String>,
    /// What stands anywhere in names.
    inner: Vec<String>,
}

impl EnvPatternSet {
    /// A pattern that matches `name`; of those with one star the widest.
    pub fn find(&self, name: &str) -> Option<EnvPattern> {
        let pattern = |open_start, middle: &str, open_end| EnvPattern {
            open_start,
            middle: middle.to_owned(),
            open_end,
        };
        let backwards = |text: &str| text.chars().rev().collect::<String>();
        if self.exact.contains(name) {
            Some(pattern(false, name, false))
        } else if let Some(start) = beginning(&self.starts, name) {
            Some(pattern(false, start, true))
        } else if let Some(end) = beginning(&self.ends, &backwards(name)) {
            Some(pattern(true, &backwards(end), false))
        } else {
            let inner = self.inner.iter().find(|inner| name.contains(inner.as_str()));
            inner.map(|inner| pattern(true, inner, true))
        }
    }
}

impl FromIterator<EnvPattern> for EnvPatternSet {
    fn from_iter<I: IntoIterator<Item = EnvPattern>>(patterns: I) -> Self {
        let mut set = Self::default();
        for EnvPattern { open_start, middle, open_end } in patterns {
            match (open_start, open_end) {
                (false, false) => drop(set.exact.insert(middle)),
                (false, true) => set.starts.push(middle),
                (true, false) => set.ends.push(middle.chars().rev().collect()),
                (true, true) => set.inner.push(middle),
            }
        }
        for list in [&mut set.starts, &mut set.ends] {
            list.sort_unstable();
            list.dedup_by(|longer, start| longer.starts_with(start.as_str()));
        }
        set.inner.sort_unstable();
        set.inner.dedup();
        set
    }
}

/// Which of `starts` a name begins with. Since none begins with another, only the last that is not behind the name in
/// the order can.
fn beginning<'s>(starts: &'s [String], name: &str) -> Option<&'s str> {
    let behind = starts.partition_point(|start| start.as_str() <= name);
    let start = starts[..behind].last()?;
    name.starts_with(start.as_str()).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_matches_what_its_stars_leave_open() {
        for (pattern, name, matched) in [
            ("GH_TOKEN", "GH_TOKEN", true),
            ("GH_TOKEN", "GH_TOKEN2", false),
            ("AWS_*", "AWS_SECRET", true),
            ("AWS_*", "AWS_", true),
            ("AWS_*", "aws_secret", false),
            ("*_API_KEY", "ACME_API_KEY", true),
            ("*_API_KEY", "ACME_API_KEYS", false),
            ("*TOKEN*", "A_TOKEN_B", true),
            ("*", "ANY", true),
        ] {
            let parsed: EnvPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(name), matched, "{pattern} {name}");
            assert_eq!(parsed.to_string(), pattern);
        }
    }

    #[test]
    fn what_cannot_name_a_variable_is_refused() {
        for text in ["", "A=B", "A B", "A*B*C", "**A*x", "A\0"] {
            assert!(text.parse::<EnvPattern>().is_err(), "{text:?}");
        }
        for text in ["", " ", "A=B", "A B", "A*", "A\0", "A\nB"] {
            assert!(text.parse::<EnvName>().is_err(), "{text:?}");
        }
        assert_eq!(" npm_config_a-b ".parse::<EnvName>().unwrap().as_str(), "npm_config_a-b");
    }

    proptest! {
        #[test]
        fn a_set_matches_what_one_of_its_patterns_matches(
            patterns in proptest::collection::vec("\\*?[AB_é]{0,3}\\*?", 0..6),
            name in "[AB_é]{1,5}",
        ) {
            let patterns: Vec<EnvPattern> =
                patterns.iter().filter_map(|text| text.parse().ok()).collect();
            let set: EnvPatternSet = patterns.iter().cloned().collect();
            let found = set.find(&name);
            prop_assert_eq!(found.is_some(), patterns.iter().any(|own| own.matches(&name)));
            if let Some(found) = found {
                prop_assert!(found.matches(&name) && patterns.contains(&found), "{}", found);
            }
        }
    }
}
