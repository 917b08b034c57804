//! A started process that belongs to its caller until it is kept.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::unistd::Pid;

/// A process the engine started; killed and reaped on drop unless [`InitProcess::keep`] was called.
#[derive(Debug)]
pub struct InitProcess {
    pid: Pid,
    pidfd: OwnedFd,
    kept: bool,
}

impl InitProcess {
    pub(crate) fn new(pid: Pid, pidfd: OwnedFd) -> Self {
        Self { pid, pidfd, kept: false }
    }

    /// Its number in the caller's pid namespace; what `state` shows.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// A handle that stays right after the number is reused.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Lets it run on when this value is dropped.
    pub fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for InitProcess {
    fn drop(&mut self) {
        if !self.kept {
            crate::sys::process::kill_and_reap(self.pidfd.as_fd());
        }
    }
}
