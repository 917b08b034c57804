//! Reads the first line of a script: which program the kernel would start for it, and which that starts.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// As much of a first line as the kernel reads (`BINPRM_BUF_SIZE`).
const LINE: u64 = 256;

/// Who interprets a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shebang {
    /// The interpreter of the `#!` line, as it stands there.
    pub(crate) interpreter: PathBuf,
    /// The program that `env` looks up for it.
    pub(crate) through_env: Option<OsString>,
}

impl Shebang {
    /// Reads the `#!` line of a file; `None` when it has none.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        File::open(path)?.take(LINE).read_to_end(&mut start)?;
        Ok(Self::parse(&start))
    }

    fn parse(start: &[u8]) -> Option<Self> {
        let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
        let line = line.trim_ascii();
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (interpreter, argument) = (&line[..end], line[end..].trim_ascii());
        if interpreter.is_empty() {
            return None;
        }
        let interpreter = PathBuf::from(OsString::from_vec(interpreter.to_vec()));
        let is_env = interpreter.file_name().is_some_and(|name| name == "env");
        let through_env = if is_env { program_of_env(argument) } else { None };
        Some(Self { interpreter, through_env })
    }
}

/// The program that `env` starts. The kernel passes the rest of the line as one argument, which `-S` splits.
fn program_of_env(argument: &[u8]) -> Option<OsString> {
    let argument = argument
        .strip_prefix(b"-S")
        .or_else(|| argument.strip_prefix(b"-vS"))
        .or_else(|| argument.strip_prefix(b"--split-string="))
        .unwrap_or(argument);
    let mut words = argument.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match word {
            b"-u" | b"-C" => {
                words.next();
            }
            _ if word.starts_with(b"-") || word.contains(&b'=') => {}
            _ => return Some(OsString::from_vec(word.to_vec())),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_first_line_names_its_interpreter() {
        for (line, interpreter, through_env) in [
            ("#!/bin/sh\necho", "/bin/sh", None),
            ("#! /usr/bin/perl -w\n", "/usr/bin/perl", None),
            ("#!/usr/bin/env python3\n", "/usr/bin/env", Some("python3")),
            ("#!/usr/bin/env -S python3 -u\n", "/usr/bin/env", Some("python3")),
            ("#!/usr/bin/env -Snode --flag\n", "/usr/bin/env", Some("node")),
            ("#!/usr/bin/env -S A=1 -u B -i deno run\n", "/usr/bin/env", Some("deno")),
            ("#!/usr/bin/env\n", "/usr/bin/env", None),
            ("#!/bin/sh", "/bin/sh", None),
            ("#!/bin/sh\r\n", "/bin/sh", None),
        ] {
            let shebang = Shebang::parse(line.as_bytes()).unwrap();
            assert_eq!(shebang.interpreter, Path::new(interpreter), "{line:?}");
            assert_eq!(shebang.through_env, through_env.map(Into::into), "{line:?}");
        }
    }

    #[test]
    fn what_has_no_first_line_of_that_kind_has_no_interpreter() {
        for text in ["", "#", "#!", "#!\n/bin/sh", "echo", "\u{7f}ELF"] {
            assert_eq!(Shebang::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
