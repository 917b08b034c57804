//! `trace.jsonl`: what a session did, one record a line (`spec/trace.md` §5 and §6).

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::{SystemTime, UNIX_EPOCH};

use mur_manifest::{Code, Coded};
use mur_policy::{ContainmentClass, ScopeReport};
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use serde::Serialize;

use super::dir::HeldDir;
use super::id::{SessionId, mint_event_id};

/// The file's name in the records folder.
pub const TRACE_FILE: &str = "trace.jsonl";

/// The trace could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} the trace of this session")]
pub struct TraceError {
    operation: &'static str,
    #[source]
    source: std::io::Error,
}

impl Coded for TraceError {
    fn code(&self) -> Code {
        Code::ERun007
    }
}

/// How a session, or its one command, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It did what it was started for.
    Ok,
    /// It did not.
    Failed,
    /// Somebody ended it.
    Canceled,
}

impl ExitStatus {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// `session_start`: what the session may do, before it does anything.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of spec/trace.md §6.1, by their wire names")]
pub struct SessionStart<'a> {
    pub schema: u32,
    pub capsule_name: &'a str,
    pub capsule_version: &'a str,
    pub model: &'a str,
    pub max_turns: Option<u32>,
    pub model_limits: Option<()>,
    pub max_session_tokens: Option<u64>,
    pub machine_tokens_per_day: Option<u64>,
    pub deadline: Option<()>,
    pub capabilities: Vec<&'static str>,
    pub tools_declared: &'a [String],
    pub containment_declared: ContainmentClass,
    pub containment_achieved: ContainmentClass,
    pub workdir_exec: bool,
    pub userns_grant: Option<&'a str>,
    pub effective_grants: &'a ScopeReport,
    pub system_prompt_source: &'static str,
    pub system_prompt_sha256: Option<&'a str>,
    pub credential_source: &'static str,
    pub gateways: [(); 0],
    pub tool_refresh: Option<()>,
    pub runtime_artifacts: [(); 0],
    pub host_facts: [(); 0],
    pub resumed_from: Option<&'a str>,
    pub context_id: Option<&'a str>,
}

/// `shell`: one command that ran. The byte counts are null: its streams are the caller's own.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of spec/trace.md §6.3, by their wire names")]
pub struct Shell<'a> {
    pub turn: u32,
    pub task_id: Option<&'a str>,
    pub binary: &'a str,
    pub command: String,
    pub exit_code: i32,
    pub stdout_bytes: Option<u64>,
    pub stderr_bytes: Option<u64>,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_limit: Option<&'static str>,
}

/// `session_end`: totals.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of spec/trace.md §6.1, by their wire names")]
pub struct SessionEnd {
    pub total_turns: u32,
    pub total_input_tokens: u64,
    pub total_output_tokens: u64,
    pub total_tool_calls: u32,
    pub total_shell_calls: u32,
    pub duration_ms: u64,
    pub exit_status: ExitStatus,
}

/// One record.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum TraceRecord<'a> {
    /// Once, before anything runs.
    SessionStart(Box<SessionStart<'a>>),
    /// Once a command.
    Shell(Shell<'a>),
    /// Once, at the end.
    SessionEnd(SessionEnd),
}

impl TraceRecord<'_> {
    const fn event_type(&self) -> &'static str {
        match self {
            Self::SessionStart(_) => "session_start",
            Self::Shell(_) => "shell",
            Self::SessionEnd(_) => "session_end",
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    event_type: &'static str,
    event_id: &'a str,
    parent_id: Option<&'a str>,
    session_id: &'a SessionId,
    timestamp: u64,
    #[serde(flatten)]
    record: &'a TraceRecord<'a>,
}

/// Writes records, each as one complete line in one call.
#[derive(Debug)]
pub struct Trace {
    file: File,
    session: SessionId,
    root: Option<String>,
}

impl Trace {
    /// Makes the file in the records folder.
    pub fn create(records: &HeldDir, session: &SessionId) -> Result<Self, TraceError> {
        let flags = OFlag::O_WRONLY
            | OFlag::O_APPEND
            | OFlag::O_CREAT
            | OFlag::O_EXCL
            | OFlag::O_NOFOLLOW
            | OFlag::O_CLOEXEC;
        let fd = openat(records.as_fd(), TRACE_FILE, flags, Mode::S_IRUSR | Mode::S_IWUSR)
            .map_err(|errno| TraceError { operation: "create", source: errno.into() })?;
        Ok(Self { file: File::from(fd), session: session.clone(), root: None })
    }

    /// Appends one record beneath the session's own; the first one is that.
    pub fn write(&mut self, record: &TraceRecord<'_>) -> Result<(), TraceError> {
        let event_id = mint_event_id();
        let line = Line {
            event_type: record.event_type(),
            event_id: &event_id,
            parent_id: self.root.as_deref(),
            session_id: &self.session,
            timestamp: now_ms(),
            record,
        };
        let mut text = serde_json::to_vec(&line)
            .map_err(|error| TraceError { operation: "render", source: error.into() })?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(|source| TraceError { operation: "write", source })?;
        self.root.get_or_insert(event_id);
        Ok(())
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn end() -> TraceRecord<'static> {
        TraceRecord::SessionEnd(SessionEnd {
            total_turns: 0,
            total_input_tokens: 0,
            total_output_tokens: 0,
            total_tool_calls: 0,
            total_shell_calls: 1,
            duration_ms: 3,
            exit_status: ExitStatus::Ok,
        })
    }

    #[test]
    fn a_trace_that_is_there_already_is_not_written_over() {
        let scratch = tempfile::tempdir().unwrap();
        let records = HeldDir::open(scratch.path()).unwrap();
        let session = SessionId::mint();
        Trace::create(&records, &session).unwrap();
        let refused = Trace::create(&records, &session).unwrap_err();
        assert_eq!(refused.code(), Code::ERun007);
    }

    #[test]
    fn each_line_starts_with_the_five_keys_and_hangs_below_the_first() {
        let scratch = tempfile::tempdir().unwrap();
        let records = HeldDir::open(scratch.path()).unwrap();
        let mut trace = Trace::create(&records, &SessionId::mint()).unwrap();
        trace.write(&end()).unwrap();
        trace.write(&end()).unwrap();
        let text = std::fs::read_to_string(scratch.path().join(TRACE_FILE)).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in text.lines() {
            let order = ["event_type", "event_id", "parent_id", "session_id", "timestamp"];
            let places = order.map(|key| line.find(&format!("\"{key}\":")).unwrap());
            assert!(places.is_sorted(), "{line}");
        }
        assert!(lines[0]["parent_id"].is_null());
        assert_eq!(lines[1]["parent_id"], lines[0]["event_id"]);
    }

    #[test]
    fn a_second_trace_of_the_same_session_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let records = HeldDir::open(scratch.path()).unwrap();
        let session = SessionId::mint();
        drop(Trace::create(&records, &session).unwrap());
        assert!(Trace::create(&records, &session).is_err());
    }
}
