//! Writes answers to standard output; nothing else does.

use std::io::{self, Write};

use anyhow::Context as _;
use serde::Serialize;

/// Standard output.
#[derive(Debug)]
pub(crate) struct Printer(io::Stdout);

impl Printer {
    /// Uses the process's standard output.
    pub(crate) fn new() -> Self {
        Self(io::stdout())
    }

    /// Prints `text` as it is.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        let mut out = self.0.lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match written {
            // Whoever read us has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.context("cannot write to standard output"),
        }
    }

    /// Prints `value` as indented JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
        self.text(&(text + "\n"))
    }

    /// Prints `value` as JSON on one line.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value).context("cannot write JSON")?;
        self.text(&(text + "\n"))
    }

    /// Prints rows under a heading, each column as wide as its widest cell.
    pub(crate) fn table(&mut self, heading: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
        let mut widths: Vec<usize> = heading.iter().map(|cell| cell.chars().count()).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let heading: Vec<String> = heading.iter().map(ToString::to_string).collect();
        let mut text = String::new();
        for row in std::iter::once(&heading).chain(rows) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line = format!("{line}{cell:width$}   ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        self.text(&text)
    }
}
