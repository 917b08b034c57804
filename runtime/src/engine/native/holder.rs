//! Pid 1 of a container whose program is not: it reaps, forwards signals, and ends as the program does.
//!
//! Without it a program that kills itself is not killed (pid 1 ignores what it does not handle), and
//! orphans stay as zombies for ever.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::prctl::set_name;
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::unistd::{Pid, setsid};

use super::fault::Fault;
use crate::sys::clone;
use crate::sys::process::{self, ArgumentArea, Reap};
use crate::sys::{signal, tty};

/// Whether the program gets the terminal that is its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Terminal,
    None,
}

/// Forks. The child returns, leads a session of its own, and goes on to the program; this process holds
/// the container until then, and never returns.
pub(super) fn hold(control: Control, area: Option<ArgumentArea>) -> Result<(), Fault> {
    // Blocked before there is anybody to forward to: what comes early is not lost.
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
    let Some(program) = process::fork()? else {
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        setsid()?;
        if control == Control::Terminal {
            tty::make_controlling(std::io::stdin().as_fd())?;
        }
        return Ok(());
    };
    // The program's streams and pipes are the program's: who waits for their end shall see it.
    process::close_everything();
    if let Some(area) = area {
        area.overwrite(b"mur-init");
    }
    let _ = set_name(c"mur-init");
    clone::exit_now(serve(program))
}

fn serve(program: Pid) -> i32 {
    loop {
        match signal::wait_any() {
            Ok(libc::SIGCHLD) => {
                if let Some(code) = reap(program, Reap::Ended) {
                    return code;
                }
            }
            Ok(number) => {
                // It may have ended a moment ago.
                let _ = signal::send_to_pid(program, number);
            }
            Err(Errno::EINTR) => {}
            // A syscall filter without that call: signals are not forwarded then, the rest is done.
            Err(_) => return reap(program, Reap::Next).unwrap_or(255),
        }
    }
}

/// Reaps children; the exit code once the program is among them.
fn reap(program: Pid, which: Reap) -> Option<i32> {
    loop {
        match process::reap(which) {
            Ok(Some((pid, code))) if pid == program => return Some(code),
            Ok(Some(_)) | Err(Errno::EINTR) => {}
            Ok(None) => return None,
            // Nobody is left, the program neither.
            Err(_) => return Some(255),
        }
    }
}
