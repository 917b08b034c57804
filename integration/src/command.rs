//! Runs a command to its end, within a time, whatever its children keep open.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How long a command may take unless a test says otherwise. Generous: emulated machines are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a command ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code, or 128 plus the signal's number.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Start to exit.
    pub took: Duration,
    command: String,
}

impl Finished {
    /// Asserts success, and gives standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self}");
        self.stdout
    }

    /// Asserts that it was refused in order: not zero, not by a signal or a panic, and not silently.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    pub fn refused(self) -> Self {
        assert!(self.code != 0 && self.code < 256, "not refused: {self}");
        assert!(!self.stderr.contains("panicked at"), "{self}");
        assert!(!self.stderr.trim().is_empty(), "refused without a word: {self}");
        self
    }

    /// Asserts that it failed with this exit code.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    pub fn exited(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Standard output and error, one after the other.
    pub fn both(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "`{}` ended with {} after {:?}\nstdout: {}\nstderr: {}",
            self.command, self.code, self.took, self.stdout, self.stderr
        )
    }
}

/// Running a [`Command`] to its end.
pub trait Run {
    /// Runs with standard input closed; panics when it takes longer than a minute.
    #[track_caller]
    fn finish(&mut self) -> Finished;

    /// Runs with `input` as standard input.
    #[track_caller]
    fn finish_with(&mut self, input: &[u8]) -> Finished;

    /// Runs; kills and panics after `patience`.
    #[track_caller]
    fn finish_within(&mut self, patience: Duration) -> Finished;
}

impl Run for Command {
    #[track_caller]
    fn finish(&mut self) -> Finished {
        self.stdin(Stdio::null());
        finish(self, PATIENCE)
    }

    #[track_caller]
    fn finish_with(&mut self, input: &[u8]) -> Finished {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input).unwrap();
        file.rewind().unwrap();
        self.stdin(file);
        finish(self, PATIENCE)
    }

    #[track_caller]
    fn finish_within(&mut self, patience: Duration) -> Finished {
        self.stdin(Stdio::null());
        finish(self, patience)
    }
}

#[track_caller]
fn finish(command: &mut Command, patience: Duration) -> Finished {
    // Files, not pipes: a container that runs on keeps its ends open, and end-of-file would not come.
    let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap()).process_group(0);
    let shown = format!("{command:?}");
    let began = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let status = wait(&mut child, began + patience);
    let took = began.elapsed();
    let code = status.map_or(-1, |status| {
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    });
    let finished =
        Finished { code, stdout: content(out), stderr: content(err), took, command: shown };
    assert!(status.is_some(), "still running after {patience:?}: {finished}");
    finished
}

fn wait(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if Instant::now() > deadline {
            let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
            let _ = killpg(group, Signal::SIGKILL);
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn content(mut file: File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
