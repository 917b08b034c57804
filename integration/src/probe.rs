//! What the probe program says of its attempts.

use std::path::PathBuf;

use crate::runtime::beside_the_test;

/// The static program that tries one thing after another and prints how each ended.
pub fn probe_program() -> PathBuf {
    let program = beside_the_test("mur-probe");
    assert!(program.is_file(), "no `{}`: cargo builds it with the tests", program.display());
    program
}

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What was tried, as it was given.
    pub what: String,
    /// `ok`, the errno's name, or `signal N`.
    pub result: String,
    /// What a success gave, such as bytes read.
    pub detail: String,
}

impl Attempt {
    /// Reads the probe's output: `WHAT<tab>RESULT<tab>DETAIL`, one line an attempt.
    pub fn read_all(output: &str) -> Vec<Self> {
        output
            .lines()
            .filter_map(|line| {
                let mut parts = line.split('\t').map(str::to_owned);
                Some(Self {
                    what: parts.next()?,
                    result: parts.next()?,
                    detail: parts.next().unwrap_or_default(),
                })
            })
            .collect()
    }
}
