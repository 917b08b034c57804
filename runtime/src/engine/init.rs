//! A started process that belongs to its caller until it is kept.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::unistd::Pid;

/// A process the engine started; killed and reaped on drop unless [`InitProcess::keep`] was called.
#[derive(Debug)]
pub struct InitProcess {
    pid: Pid,
    pidfd: OwnedFd,
    kept: bool,
    gate: Option<OwnedFd>,
}

impl InitProcess {
    pub(crate) fn new(pid: Pid, pidfd: OwnedFd) -> Self {
        Self { pid, pidfd, kept: false, gate: None }
    }

    /// It waits for a word on `channel` before it waits at its gate, and ends when nobody is left to
    /// give it.
    pub(crate) fn hold_gate(&mut self, channel: OwnedFd) {
        self.gate = Some(channel);
    }

    /// Its number in the caller's pid namespace; what `state` shows.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// A handle that stays right after the number is reused.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Lets it run on when this value is dropped. Call it once the state is written: a process that
    /// waits at its gate ends by itself when the runtime is killed before.
    pub fn keep(&mut self) {
        self.kept = true;
        if let Some(channel) = self.gate.take() {
            // A process that is gone is found by whoever looks for it next.
            let _ = nix::unistd::write(&channel, b"K");
        }
    }
}

impl Drop for InitProcess {
    fn drop(&mut self) {
        if !self.kept {
            crate::sys::process::kill_and_reap(self.pidfd.as_fd());
        }
    }
}
