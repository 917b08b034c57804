//! Faults of a file: what is wrong, where, and what would be accepted.

use std::fmt;

use crate::code::{Code, Coded};
use crate::location::Location;
use crate::source::Warning;
use crate::text::visible;

/// Faults that are kept of one file; the rest is counted.
const KEPT: usize = 1000;

/// One fault of a manifest, a lock file or a configuration.
///
/// Displays as
/// ``capabilities.shell.allow[2] (line 14, column 9): `bin/sh` has the character `/`; write …``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its code.
    pub code: Code,
    /// Where it is.
    pub at: Location,
    /// What was found; contents of the file are shown with escapes.
    pub message: String,
    /// What would be accepted, as the end of a sentence that begins with "write".
    pub accepted: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        match &self.accepted {
            Some(form) => write!(f, "; write {form}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

impl Coded for Fault {
    fn code(&self) -> Code {
        self.code
    }

    fn fix(&self) -> Option<String> {
        self.accepted.as_ref().map(|form| format!("write {form}"))
    }
}

/// Every fault of a file, in file order; never empty.
///
/// Displays one fault a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestErrors {
    faults: Vec<Fault>,
    omitted: usize,
    warnings: Vec<Warning>,
}

impl ManifestErrors {
    /// What is worth saying of the file besides: an unknown key may be the cause of a fault.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The faults, in file order; at most a thousand.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Faults beyond those that are kept.
    pub const fn omitted(&self) -> usize {
        self.omitted
    }
}

impl fmt::Display for ManifestErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        match self.omitted {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for ManifestErrors {}

impl Coded for ManifestErrors {
    /// The code of the first fault.
    fn code(&self) -> Code {
        self.faults.first().map_or(Code::EMan003, |fault| fault.code)
    }

    fn fix(&self) -> Option<String> {
        self.faults.first().and_then(Coded::fix)
    }
}

impl IntoIterator for ManifestErrors {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.faults.into_iter()
    }
}

/// Faults as they are found, in no order.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    kept: Vec<Fault>,
    omitted: usize,
}

impl Faults {
    /// Keeps a fault, or counts it where there are too many already.
    pub(crate) fn push(&mut self, fault: Fault) {
        if self.kept.len() < KEPT {
            let message = visible(&fault.message).into_owned();
            self.kept.push(Fault { message, ..fault });
        } else {
            self.omitted += 1;
        }
    }

    /// Counts a fault that would not be kept, before anybody puts it into words.
    pub(crate) fn count_if_full(&mut self) -> bool {
        let full = self.kept.len() >= KEPT;
        self.omitted += usize::from(full);
        full
    }

    /// Whether no fault was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The faults in file order, each with the code that it has in this kind of file.
    pub(crate) fn into_errors(
        mut self,
        warnings: Vec<Warning>,
        code: impl Fn(&Fault) -> Code,
    ) -> ManifestErrors {
        for fault in &mut self.kept {
            fault.code = code(fault);
        }
        self.kept.sort_by_key(|fault| (fault.at.line, fault.at.column));
        ManifestErrors { faults: self.kept, omitted: self.omitted, warnings }
    }
}
