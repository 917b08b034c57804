//! Where a value stands in its file: key path, line and column.

use std::fmt;

use crate::text::visible;

/// A place in a manifest.
///
/// Displays as `capabilities.network.allow[2] (line 14, column 9)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// Dotted key path, list elements with their index; empty for the document itself.
    pub path: String,
    /// Line, counted from 1; 0 where the value was not read from a file.
    pub line: u32,
    /// Column in characters, counted from 1; 0 where the value was not read from a file.
    pub column: u32,
}

impl Location {
    /// A place known by its key path alone, for values that no file holds.
    pub fn of_path(path: impl Into<String>) -> Self {
        Self { path: path.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*visible(&self.path), self.line) {
            ("", 0) => f.write_str("the document"),
            ("", line) => write!(f, "line {line}, column {}", self.column),
            (path, 0) => f.write_str(path),
            (path, line) => write!(f, "{path} (line {line}, column {})", self.column),
        }
    }
}

/// A value with the place it was read from, for what is judged after parsing.
///
/// Two are equal when their values are: where a value stands is not part of what it says.
#[derive(Debug, Clone, Default)]
pub struct Spanned<T> {
    /// The value as written (trimmed where the key's rule says so).
    pub value: T,
    /// Where it was written.
    pub at: Location,
}

impl<T> Spanned<T> {
    /// A value that no file holds; `path` is the key it would stand under.
    pub fn unplaced(value: T, path: impl Into<String>) -> Self {
        Self { value, at: Location::of_path(path) }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
