//! Asks a program of the host a question: a plain child, no environment, no input, five seconds.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(5);
/// As much of an answer as is read.
const MOST_BYTES: usize = 1 << 20;

/// What `program` prints when it is run with `arguments`; `None` when it fails, stalls or prints too much.
pub(crate) fn ask<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Option<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let answer = read_in_time(child.stdout.take());
    if answer.is_none() {
        // It may be gone already; then there is nothing to end.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    answer.filter(|_| status.success())
}

fn read_in_time(output: Option<std::process::ChildStdout>) -> Option<Vec<u8>> {
    let mut output = output?;
    let start = Instant::now();
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let left = LIMIT.checked_sub(start.elapsed())?;
        let timeout = PollTimeout::try_from(left).ok()?;
        let mut ready = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, timeout).ok()? == 0 {
            return None;
        }
        match output.read(&mut chunk).ok()? {
            0 => return Some(answer),
            _ if answer.len() > MOST_BYTES => return None,
            read => answer.extend_from_slice(&chunk[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_a_failure_is_none() {
        let shell = Path::new("/bin/sh");
        assert_eq!(ask(shell, &["-c", "printf %s \"$HOME|$PWD\""]), Some(b"|/".to_vec()));
        assert_eq!(ask(shell, &["-c", "echo no; exit 3"]), None);
        assert_eq!(ask(Path::new("/nonexistent"), &["x"]), None);
    }
}
