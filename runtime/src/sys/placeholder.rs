//! A process that does nothing until it is dropped, to keep a systemd scope alive.

use nix::sys::signal::Signal;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

/// A child that sleeps until this value is dropped, or its parent dies.
#[derive(Debug)]
pub(crate) struct Placeholder(Pid);

impl Placeholder {
    /// Forks it.
    pub(crate) fn create() -> nix::Result<Self> {
        // SAFETY: the child calls only async-signal-safe functions below, and never returns.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Self(child)),
            ForkResult::Child => sleep_for_ever(),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.0
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(self.0, Signal::SIGKILL);
        let _ = waitpid(self.0, None);
    }
}

fn sleep_for_ever() -> ! {
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    // The caller's streams must not stay open for as long as this process lives.
    // SAFETY: close_range only closes descriptors of this forked process, which uses none.
    unsafe { libc::close_range(0, libc::c_uint::MAX, 0) };
    loop {
        // SAFETY: pause has no arguments and waits for a signal.
        unsafe { libc::pause() };
    }
}
