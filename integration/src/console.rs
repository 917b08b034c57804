//! Terminals: the socket that a runtime sends a container's terminal through, and one to call a runtime from.

use std::fs::File;
use std::io::{ErrorKind, IoSliceMut, Read};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

use crate::Scratch;

/// A socket to name in `--console-socket`.
#[derive(Debug)]
pub struct ConsoleSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ConsoleSocket {
    /// Listens below `scratch`.
    #[must_use]
    pub fn new(scratch: &Scratch, name: &str) -> Self {
        let path = scratch.path().join(name);
        let listener = UnixListener::bind(&path).unwrap();
        Self { listener, path }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path as a flag's value.
    pub fn as_str(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Takes the terminal that a runtime sent; panics when none comes.
    #[track_caller]
    pub fn receive(&self) -> Terminal {
        wait_readable(self.listener.as_fd());
        let (stream, _) = self.listener.accept().unwrap();
        let mut name = [0; 4096];
        let mut parts = [IoSliceMut::new(&mut name)];
        let mut space = nix::cmsg_space!([std::os::fd::RawFd; 1]);
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let message =
            recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut space), flags).unwrap();
        let descriptor = message.cmsgs().unwrap().find_map(|part| {
            if let ControlMessageOwned::ScmRights(sent) = part {
                sent.first().copied()
            } else {
                None
            }
        });
        Terminal { master: File::from(owned(descriptor.expect("no descriptor was sent"))) }
    }
}

/// The outer end of a terminal.
#[derive(Debug)]
pub struct Terminal {
    /// Read for what the container wrote, write for its input.
    pub master: File,
}

impl Terminal {
    /// Everything until the inner end is closed by its last holder.
    pub fn read_to_end(&mut self) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            wait_readable(self.master.as_fd());
            match self.master.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // EIO: nobody holds the inner end any more.
                Err(_) => break,
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Reads until `wanted` has been seen.
    #[track_caller]
    pub fn read_until(&mut self, wanted: &str) -> String {
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.contains(wanted) {
            wait_readable(self.master.as_fd());
            let count = self.master.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "closed before `{wanted}`: {text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        text
    }
}

/// A terminal with a command in it, whose controlling terminal it is.
#[derive(Debug)]
pub struct InTerminal {
    /// What the command shows, and where to type.
    pub terminal: Terminal,
    /// The inner end, to look at its settings.
    pub slave: OwnedFd,
    /// The command's session leader.
    pub child: std::process::Child,
}

impl InTerminal {
    /// Starts a command in a new session, on a new terminal of this size.
    #[must_use]
    pub fn start(command: &Command, rows: u16, columns: u16) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let ends = openpty(Some(&size), None).unwrap();
        let inner = || Stdio::from(ends.slave.try_clone().unwrap());
        let mut session = Command::new("setsid");
        session.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => session.env(key, value),
                None => session.env_remove(key),
            };
        }
        let child = session.stdin(inner()).stdout(inner()).stderr(inner()).spawn().unwrap();
        let terminal = Terminal { master: File::from(ends.master) };
        Self { terminal, slave: ends.slave, child }
    }

    /// Waits for the command; its exit code, or 128 plus the signal.
    #[track_caller]
    pub fn wait(&mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
            }
            assert!(Instant::now() < deadline, "the command in the terminal does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[track_caller]
fn wait_readable(fd: std::os::fd::BorrowedFd<'_>) {
    let mut waiting = [PollFd::new(fd, PollFlags::POLLIN)];
    let count = poll(&mut waiting, PollTimeout::from(30_000_u16)).unwrap();
    assert!(count > 0, "nothing to read after 30 s");
}

#[expect(unsafe_code, reason = "a received descriptor comes as a number")]
fn owned(raw: std::os::fd::RawFd) -> OwnedFd {
    // SAFETY: the kernel made `raw` in this process when the message was received; nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(raw) }
}
