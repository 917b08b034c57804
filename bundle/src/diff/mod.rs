//! Compares two configurations by effect: what a process may do after that it could not do before, and the reverse.

mod files;
mod kernel;
mod landlock;
mod limits;
mod process;
mod seccomp;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use oci_spec::runtime::Spec;
use serde::{Deserialize, Serialize};

pub(crate) use landlock::ruleset;

/// Which way a change goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// More is possible.
    Wider,
    /// Less is possible.
    Narrower,
    /// Something else, neither more nor less; or both at once.
    Other,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wider => "wider",
            Self::Narrower => "narrower",
            Self::Other => "other",
        })
    }
}

/// One difference that can be felt from inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which way it goes.
    pub direction: Direction,
    /// What differs: a path, a syscall, a limit, as words.
    pub what: String,
    /// How it was.
    pub before: String,
    /// How it is.
    pub after: String,
}

/// Every difference by effect, what is wider first; empty when a process cannot tell the two apart.
///
/// The order of mounts, the wording of rules and annotations that only name things make no difference.
pub fn diff(before: &Spec, after: &Spec) -> Vec<Change> {
    let mut changes = Changes::default();
    files::compare(before, after, &mut changes);
    landlock::compare(before, after, &mut changes);
    seccomp::compare(before, after, &mut changes);
    kernel::compare(before, after, &mut changes);
    limits::compare(before, after, &mut changes);
    process::compare(before, after, &mut changes);
    let mut changes = changes.0;
    // Stable: within a direction the order of the parts above stays.
    changes.sort_by_key(|change| change.direction);
    changes
}

/// The differences found so far.
#[derive(Debug, Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(
        &mut self,
        direction: Direction,
        what: impl Into<String>,
        before: impl Into<String>,
        after: impl Into<String>,
    ) {
        let (before, after) = (before.into(), after.into());
        self.0.push(Change { direction, what: what.into(), before, after });
    }

    /// Adds a difference of two sets of things that are possible.
    fn sets<T: Ord + fmt::Display>(
        &mut self,
        what: impl Into<String>,
        before: &BTreeSet<T>,
        after: &BTreeSet<T>,
    ) {
        if let Some(direction) = direction(before, after) {
            self.add(direction, what, listed(before), listed(after));
        }
    }

    /// Adds a difference that is neither more nor less.
    fn other<T: PartialEq>(
        &mut self,
        what: impl Into<String>,
        before: &T,
        after: &T,
        text: impl Fn(&T) -> String,
    ) {
        if before != after {
            self.add(Direction::Other, what, text(before), text(after));
        }
    }
}

/// The direction from one set of possibilities to another; `None` when they are the same.
fn direction<T: Ord>(before: &BTreeSet<T>, after: &BTreeSet<T>) -> Option<Direction> {
    match (before.is_subset(after), after.is_subset(before)) {
        (true, true) => None,
        (true, false) => Some(Direction::Wider),
        (false, true) => Some(Direction::Narrower),
        (false, false) => Some(Direction::Other),
    }
}

fn listed<T: fmt::Display>(set: &BTreeSet<T>) -> String {
    if set.is_empty() {
        return "nothing".to_owned();
    }
    set.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
