//! What a probe's child tells its parent: one line an attempt, through a pipe.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use mur_policy::Attempt;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::pipe2;

use crate::sys::rehearsal::in_child;

/// How long a child may take; each takes a few milliseconds at most.
const LIMIT: Duration = Duration::from_secs(5);

/// The child's end: says what came of each attempt, by its name.
#[derive(Debug)]
pub(crate) struct Reporter(File);

impl Reporter {
    /// Says what came of one attempt; `true` when it worked.
    pub(crate) fn say(&mut self, name: &str, outcome: Result<(), Refusal>) -> bool {
        let worked = outcome.is_ok();
        let line = match outcome {
            Ok(()) => format!("{name}\tworks\n"),
            Err(Refusal { step, errno }) => format!("{name}\t{}\t{step}\n", errno as i32),
        };
        // A parent that no longer reads has given up; there is nobody else to tell.
        let _ = self.0.write_all(line.as_bytes());
        worked
    }
}

/// The step of an attempt that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// In the words that [`mur_policy::Step::of`] knows.
    pub(crate) step: &'static str,
    /// What the kernel answered.
    pub(crate) errno: Errno,
}

/// Names the step of a call that failed.
pub(crate) trait AtStep {
    /// What the call gives when it works.
    type Value;
    /// Names it.
    fn at(self, step: &'static str) -> Result<Self::Value, Refusal>;
}

impl<T> AtStep for nix::Result<T> {
    type Value = T;
    fn at(self, step: &'static str) -> Result<T, Refusal> {
        self.map_err(|errno| Refusal { step, errno })
    }
}

impl<T> AtStep for std::io::Result<T> {
    type Value = T;
    fn at(self, step: &'static str) -> Result<T, Refusal> {
        self.map_err(|error| Refusal {
            step,
            errno: Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)),
        })
    }
}

/// Everything a child said.
#[derive(Debug)]
pub(crate) struct Answers {
    text: String,
    silence: &'static str,
}

impl Answers {
    /// What came of one attempt; one that was never spoken of was not made.
    pub(crate) fn attempt(&self, name: &str) -> Attempt {
        let line = self.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        match line.map(|line| line.split_once('\t').unwrap_or((line, ""))) {
            Some(("works", _)) => Attempt::Works,
            Some((errno, step)) => Attempt::Refused {
                step: step.to_owned(),
                errno: errno.parse().unwrap_or(libc::EIO),
            },
            None => Attempt::NotTried { reason: self.silence.to_owned() },
        }
    }
}

/// Runs attempts in a child and listens to the end of it.
pub(crate) fn try_in_child(work: impl FnOnce(&mut Reporter)) -> Answers {
    match hear_child(|pipe| work(&mut Reporter(pipe))) {
        Ok(text) => Answers { text, silence: "an earlier step was refused" },
        Err(silence) => Answers { text: String::new(), silence },
    }
}

/// Runs `work` in a child and gives back what it wrote.
///
/// # Errors
/// There could be no child, or it did not come back in time; in words.
pub(crate) fn hear_child(work: impl FnOnce(File)) -> Result<String, &'static str> {
    let Ok((read, write)) = pipe2(OFlag::O_CLOEXEC) else {
        return Err("no pipe could be made for the probe");
    };
    // The closure takes the writing end along: here it is gone when the fork returns.
    let child = in_child(move || work(File::from(write)));
    let Ok(child) = child else { return Err("no process could be made for the probe") };
    let text = listen(File::from(read));
    if text.is_none() {
        // It may have ended by itself in between.
        let _ = kill(child, Signal::SIGKILL);
    }
    let _ = waitpid(child, None);
    text.ok_or("the probe did not come back in time")
}

fn listen(mut pipe: File) -> Option<String> {
    let start = Instant::now();
    let mut text = Vec::new();
    let mut chunk = [0; 512];
    loop {
        let left = LIMIT.checked_sub(start.elapsed())?;
        let mut ready = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, PollTimeout::try_from(left).ok()?).ok()? == 0 {
            return None;
        }
        match pipe.read(&mut chunk).ok()? {
            0 => return String::from_utf8(text).ok(),
            read => text.extend_from_slice(&chunk[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_says_is_heard_and_what_it_does_not_say_was_not_tried() {
        let answers = try_in_child(|reporter| {
            reporter.say("first", Ok(()));
            reporter.say("second", Err(Refusal { step: "unshare(NEWUSER)", errno: Errno::EPERM }));
        });
        assert_eq!(answers.attempt("first"), Attempt::Works);
        assert_eq!(
            answers.attempt("second"),
            Attempt::Refused { step: "unshare(NEWUSER)".into(), errno: libc::EPERM }
        );
        assert!(matches!(answers.attempt("third"), Attempt::NotTried { .. }));
    }

    #[test]
    fn a_child_that_dies_leaves_its_attempts_untried() {
        let answers = try_in_child(|_| {
            let _ = nix::sys::signal::raise(Signal::SIGKILL);
        });
        assert!(matches!(answers.attempt("any"), Attempt::NotTried { .. }));
    }
}
