//! Renders errors, once: on standard error, and as a line of the log that engines read.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use anyhow::Context as _;
use mur_manifest::Code;
use mur_policy::Notice;
use mur_runtime::state::timestamp;
use mur_runtime::verb::code_of;
use mur_shim::session::error::coded;

use crate::args::{Globals, LogFormat};

/// How `mur` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Success,
    /// It could not; the error was printed.
    Failure,
    /// It could not start a process in a container; the error was printed. Engines know the
    /// number from runc, and a process's own numbers rarely are that large.
    NoProcess,
    /// The command line is not one.
    Usage,
    /// As the command in the container ended.
    Command(u8),
}

impl Exit {
    /// The number for the caller.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::NoProcess => 255,
            Self::Usage => 2,
            Self::Command(code) => code,
        }
    }
}

/// The log of the caller, shared with the subscriber of `tracing`.
#[derive(Debug, Clone)]
pub(crate) struct LogFile {
    file: Arc<Mutex<File>>,
    format: LogFormat,
}

/// Where errors go.
#[derive(Debug)]
pub(crate) struct Reporter {
    log: Option<LogFile>,
}

impl Reporter {
    /// Opens the log, if one is wanted.
    pub(crate) fn open(globals: &Globals) -> anyhow::Result<Self> {
        let Some(path) = &globals.log else { return Ok(Self::plain()) };
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .with_context(|| format!("cannot open the log `{}`", path.display()))?;
        let file = Arc::new(Mutex::new(file));
        Ok(Self { log: Some(LogFile { file, format: globals.log_format }) })
    }

    /// Standard error alone.
    pub(crate) fn plain() -> Self {
        Self { log: None }
    }

    /// The log, for warnings.
    pub(crate) fn log(&self) -> Option<LogFile> {
        self.log.clone()
    }

    /// Prints `error` with its causes and its fix.
    pub(crate) fn failure(&self, error: &anyhow::Error) {
        let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let text = render(error, verdict(error).as_ref(), colour);
        let _ = io::stderr().lock().write_all(text.as_bytes());
        if let Some(log) = &self.log {
            log.line("error", &format!("{error:#}"));
        }
    }
}

impl LogFile {
    /// Appends one line.
    pub(crate) fn line(&self, level: &str, message: &str) {
        let line = log_line(self.format, level, message, &timestamp(SystemTime::now()));
        if let Ok(mut file) = self.file.lock() {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Whether a command line lacks what to do, which is a mistake in it and no failure.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    verdict(error).is_some_and(|verdict| verdict.code == Code::ECap208)
}

/// A line of the log.
pub(crate) fn log_line(format: LogFormat, level: &str, message: &str, time: &str) -> String {
    match format {
        LogFormat::Json => {
            let line = serde_json::json!({"level": level, "msg": message, "time": time});
            format!("{line}\n")
        }
        LogFormat::Text => {
            let message = serde_json::Value::from(message);
            format!("time=\"{time}\" level={level} msg={message}\n")
        }
    }
}

/// Prints what is wrong with the command line, or the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Success }
}

/// Prints warnings on standard error: keys nobody knows, then what is weaker than it looks.
pub(crate) fn warn(unknown_keys: &[String], notices: &[Notice]) {
    let unknown = unknown_keys.iter().map(|text| format!("[murmur-artifact] {text}\n"));
    let known = notices.iter().map(|notice| format!("[capsule-runtime] {notice}\n"));
    let text: String = unknown.chain(known).collect();
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A code, and what to do in this very case.
struct Verdict {
    code: Code,
    fix: String,
}

/// Finds the outermost error of the chain that has a code.
///
/// Errors of crates with [`mur_manifest::Coded`] types are to be asked here.
fn verdict(error: &anyhow::Error) -> Option<Verdict> {
    let of_table = |code: Code| Verdict { code, fix: code.info().fix.to_owned() };
    error.chain().find_map(|cause| match coded(cause) {
        Some(own) => {
            let code = own.code();
            Some(Verdict { code, fix: own.fix().unwrap_or_else(|| code.info().fix.to_owned()) })
        }
        None => code_of(cause).map(of_table),
    })
}

/// Puts an error and its causes into lines.
fn render(error: &anyhow::Error, verdict: Option<&Verdict>, colour: bool) -> String {
    let (red, bold, plain) =
        if colour { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
    let code = verdict.map(|verdict| format!("[{}]", verdict.code)).unwrap_or_default();
    let mut text = format!("{red}error{code}{plain}{bold}:{plain} {error}\n");
    for cause in error.chain().skip(1) {
        // Some causes are several faults, one a line.
        for line in cause.to_string().lines() {
            text = format!("{text}  because: {line}\n");
        }
    }
    if let Some(verdict) = verdict {
        text = format!("{text}  fix: {}\n", verdict.fix);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_with_each_cause_on_a_line() {
        let error = anyhow::anyhow!("permission denied").context("cannot write").context("no go");
        assert_eq!(
            render(&error, None, false),
            "error: no go\n  because: cannot write\n  because: permission denied\n"
        );
    }

    #[test]
    fn a_log_line_is_one_object_with_what_engines_read() {
        let line = log_line(LogFormat::Json, "error", "a \"b\"\nc", "2026");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"level": "error", "msg": "a \"b\"\nc", "time": "2026"})
        );
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(
            log_line(LogFormat::Text, "error", "a b", "2026"),
            "time=\"2026\" level=error msg=\"a b\"\n"
        );
    }
}
