//! Stays with a process until it ends: passes on signals, input, output and the window's size.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{read, write};

use super::console::Master;
use crate::engine::InitProcess;
use crate::sys::signal::send_to_pidfd;
use crate::sys::terminal::{set_window_size, window_size};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// By itself, with this number.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

impl ExitStatus {
    /// What a shell calls it: the number, or 128 and the signal's.
    pub fn code(self) -> u8 {
        let code = match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128 + signal,
        };
        u8::try_from(code & 0xff).unwrap_or(u8::MAX)
    }
}

/// Staying with a process failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForegroundError {
    /// The caller has no terminal that the container's could be shown on.
    #[error("`process.terminal` is true and none of stdin, stdout and stderr is a terminal")]
    NoTerminal,
    /// The kernel refuses something on the way.
    #[error("cannot {action}")]
    Kernel {
        /// As `wait for the process`.
        action: &'static str,
        /// What it answered.
        source: io::Error,
    },
}

fn failed(action: &'static str) -> impl Fn(Errno) -> ForegroundError {
    move |errno| ForegroundError::Kernel { action, source: errno.into() }
}

/// Holds the caller's signals back from the moment before the process starts, so that none is
/// lost; gives them, and the terminal's settings, back on drop.
#[derive(Debug)]
pub struct Supervisor {
    signals: SignalFd,
    before: SigSet,
    terminal: Option<(OwnedFd, Termios)>,
}

impl Supervisor {
    /// Begins to hold signals back. The process that is started next must unblock its own.
    pub fn new() -> Result<Self, ForegroundError> {
        let mut mask = SigSet::all();
        // Not for the process: ours to die of, to be stopped by, or to be told by its pidfd.
        for signal in [
            Signal::SIGCHLD,
            Signal::SIGPIPE,
            Signal::SIGURG,
            Signal::SIGTTIN,
            Signal::SIGTTOU,
            Signal::SIGSEGV,
            Signal::SIGBUS,
            Signal::SIGILL,
            Signal::SIGFPE,
            Signal::SIGTRAP,
            Signal::SIGSYS,
            Signal::SIGABRT,
        ] {
            mask.remove(signal);
        }
        let before = SigSet::thread_get_mask().map_err(failed("read the signal mask"))?;
        mask.thread_block().map_err(failed("block signals"))?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&mask, flags).map_err(failed("watch for signals"))?;
        Ok(Self { signals, before, terminal: None })
    }

    /// The signals to unblock in the process.
    pub fn mask_before(&self) -> SigSet {
        self.before
    }

    /// Finds the caller's terminal; refuses when there is none.
    pub fn require_terminal() -> Result<(), ForegroundError> {
        find_terminal().map(drop)
    }

    /// Stays with `init` until it ends. With `master` the caller's terminal is raw meanwhile.
    pub fn wait(
        self,
        init: &InitProcess,
        master: Option<Master>,
    ) -> Result<ExitStatus, ForegroundError> {
        self.wait_ticking(init, master, None, |_| {})
    }

    /// Stays with `init` until it ends, and calls `tick` each time `period` has passed.
    pub fn wait_ticking(
        mut self,
        init: &InitProcess,
        master: Option<Master>,
        period: Option<Duration>,
        mut tick: impl FnMut(&InitProcess),
    ) -> Result<ExitStatus, ForegroundError> {
        let mut relay = match master {
            None => None,
            Some(master) => Some(self.take_terminal(master)?),
        };
        let mut next = period.map(|period| Instant::now() + period);
        loop {
            let left = next.map(|next| next.saturating_duration_since(Instant::now()));
            let ended = self.turn(init, relay.as_mut(), left)?;
            if let (Some(due), Some(period)) = (next, period)
                && Instant::now() >= due
            {
                next = Some(Instant::now() + period);
                tick(init);
            }
            if ended {
                if let Some(relay) = &mut relay {
                    relay.drain();
                }
                return reap(init.pidfd());
            }
        }
    }

    /// Makes the caller's terminal raw and gives the container's its size.
    fn take_terminal(&mut self, master: Master) -> Result<Relay, ForegroundError> {
        let own = find_terminal()?;
        let settings = tcgetattr(&own).map_err(failed("read the terminal's settings"))?;
        let mut raw = settings.clone();
        cfmakeraw(&mut raw);
        tcsetattr(&own, SetArg::TCSANOW, &raw).map_err(failed("make the terminal raw"))?;
        if let Ok(size) = window_size(own.as_fd()) {
            let _ = set_window_size(master.as_fd(), size);
        }
        self.terminal = Some((own, settings));
        let flags =
            fcntl(&master, FcntlArg::F_GETFL).map_err(failed("read the terminal's flags"))?;
        let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
        fcntl(&master, FcntlArg::F_SETFL(flags)).map_err(failed("set the terminal's flags"))?;
        Ok(Relay { master, input: Input::Open, pending: VecDeque::new(), output: true })
    }

    /// Waits for one thing to happen and deals with it; true when the process has ended.
    fn turn(
        &self,
        init: &InitProcess,
        relay: Option<&mut Relay>,
        most: Option<Duration>,
    ) -> Result<bool, ForegroundError> {
        let most = most.map_or(PollTimeout::NONE, |most| {
            PollTimeout::try_from(most.as_millis() + 1).unwrap_or(PollTimeout::MAX)
        });
        let stdin = io::stdin();
        let read = PollFlags::POLLIN;
        let mut fds =
            vec![PollFd::new(init.pidfd(), read), PollFd::new(self.signals.as_fd(), read)];
        if let Some(relay) = &relay {
            fds.push(PollFd::new(relay.master.as_fd(), relay.interest()));
            if relay.wants_input() {
                fds.push(PollFd::new(stdin.as_fd(), read));
            }
        }
        match poll(&mut fds, most) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(failed("wait for the process")(errno)),
        }
        let ready: Vec<PollFlags> =
            fds.iter().map(|fd| fd.revents().unwrap_or(PollFlags::empty())).collect();
        drop(fds);
        if let Some(relay) = relay {
            relay.turn(ready[2], ready.get(3).copied().unwrap_or(PollFlags::empty()));
            self.pass_signals(init, Some(relay.master.as_fd()));
        } else {
            self.pass_signals(init, None);
        }
        Ok(!ready[0].is_empty())
    }

    fn pass_signals(&self, init: &InitProcess, master: Option<BorrowedFd<'_>>) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            let number = info.ssi_signo.cast_signed();
            match (number, master, &self.terminal) {
                (libc::SIGWINCH, Some(master), Some((own, _))) => {
                    if let Ok(size) = window_size(own.as_fd()) {
                        let _ = set_window_size(master, size);
                    }
                }
                _ => {
                    let _ = send_to_pidfd(init.pidfd(), number);
                }
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some((own, settings)) = &self.terminal {
            let _ = tcsetattr(own, SetArg::TCSANOW, settings);
        }
        let _ = self.before.thread_set_mask();
    }
}

/// The caller's terminal, from its standard streams.
fn find_terminal() -> Result<OwnedFd, ForegroundError> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let terminal = streams.into_iter().find(|fd| tcgetattr(fd).is_ok());
    let terminal = terminal.ok_or(ForegroundError::NoTerminal)?;
    terminal
        .try_clone_to_owned()
        .map_err(|source| ForegroundError::Kernel { action: "keep the terminal", source })
}

enum Input {
    Open,
    Ended,
}

/// Bytes between the caller's streams and the container's terminal.
struct Relay {
    master: Master,
    input: Input,
    /// Input that the container has not taken yet.
    pending: VecDeque<u8>,
    /// False once the caller's output is gone.
    output: bool,
}

impl Relay {
    fn interest(&self) -> PollFlags {
        if self.pending.is_empty() {
            PollFlags::POLLIN
        } else {
            PollFlags::POLLIN | PollFlags::POLLOUT
        }
    }

    fn wants_input(&self) -> bool {
        matches!(self.input, Input::Open) && self.pending.is_empty()
    }

    fn turn(&mut self, master: PollFlags, stdin: PollFlags) {
        if !stdin.is_empty() {
            let mut buffer = [0; 8192];
            match read(io::stdin(), &mut buffer) {
                Ok(0) => self.input = Input::Ended,
                Ok(count) => self.pending.extend(&buffer[..count]),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => self.input = Input::Ended,
            }
        }
        self.push();
        if master.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR) {
            self.pull();
        }
        if master.contains(PollFlags::POLLHUP) && !master.contains(PollFlags::POLLIN) {
            // Nobody has the terminal open just now; do not spin until somebody does.
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    fn push(&mut self) {
        while !self.pending.is_empty() {
            let (front, _) = self.pending.as_slices();
            match write(&self.master, front) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => self.pending.clear(),
            }
        }
    }

    /// Passes one piece of output on; false when there was none.
    fn pull(&mut self) -> bool {
        let mut buffer = [0; 8192];
        match read(&self.master, &mut buffer) {
            Ok(count) if count > 0 => {
                self.show(&buffer[..count]);
                true
            }
            Err(Errno::EINTR) => true,
            Ok(_) | Err(_) => false,
        }
    }

    /// What the process wrote before it ended.
    fn drain(&mut self) {
        while self.pull() {}
    }

    fn show(&mut self, mut bytes: &[u8]) {
        while self.output && !bytes.is_empty() {
            match write(io::stdout(), bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    let stdout = io::stdout();
                    let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
                    let _ = poll(&mut fds, PollTimeout::NONE);
                }
                Err(_) => self.output = false,
            }
        }
    }
}

/// Reaps a child and tells how it ended.
pub(super) fn reap(pidfd: BorrowedFd<'_>) -> Result<ExitStatus, ForegroundError> {
    loop {
        match waitid(Id::PIDFd(pidfd), WaitPidFlag::WEXITED) {
            Ok(WaitStatus::Exited(_, code)) => return Ok(ExitStatus::Exited(code)),
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                return Ok(ExitStatus::Signaled(signal as i32));
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(failed("wait for the process")(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_shells_number() {
        for (status, code) in [
            (ExitStatus::Exited(0), 0),
            (ExitStatus::Exited(3), 3),
            (ExitStatus::Signaled(15), 143),
            (ExitStatus::Signaled(9), 137),
        ] {
            assert_eq!(status.code(), code);
        }
    }
}
