//! Brings the master of a container's terminal to whoever reads it.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::cmsg_space;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, socketpair,
};

/// The socket that the engine sends the master to.
#[derive(Debug)]
pub enum Console {
    /// The caller's (`--console-socket`).
    Socket(UnixStream),
    /// Ours: the master comes back to us.
    Pair {
        /// The engine's end.
        engine: OwnedFd,
        /// Our end.
        own: OwnedFd,
    },
}

/// The master of a terminal.
pub type Master = OwnedFd;

/// A terminal cannot be brought to its reader.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The caller's socket cannot be reached.
    #[error("cannot connect to the console socket `{}`", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A pair of sockets cannot be made, or the master did not come through it.
    #[error("cannot receive the container's terminal")]
    Receive {
        /// What the kernel answered.
        source: io::Error,
    },
    /// The config wants a terminal and nobody would read it.
    #[error("`process.terminal` is true: a detached container needs `--console-socket`")]
    NoReader,
    /// A socket is given and the config wants no terminal.
    #[error("`--console-socket` is given and `process.terminal` is false")]
    NoTerminal,
}

impl Console {
    /// Connects to the caller's socket.
    pub fn connect(path: &Path) -> Result<Self, ConsoleError> {
        UnixStream::connect(path)
            .map(Self::Socket)
            .map_err(|source| ConsoleError::Connect { path: path.to_path_buf(), source })
    }

    /// Makes a pair whose other end receives the master.
    pub fn pair() -> Result<Self, ConsoleError> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let pair = socketpair(AddressFamily::Unix, SockType::Stream, None, flags);
        let (engine, own) = pair.map_err(|errno| ConsoleError::Receive { source: errno.into() })?;
        Ok(Self::Pair { engine, own })
    }

    /// Chooses from the command line: `terminal` is the config's wish, `socket` the caller's path.
    pub fn choose(
        terminal: bool,
        socket: Option<&Path>,
        detached: bool,
    ) -> Result<Option<Self>, ConsoleError> {
        match (terminal, socket, detached) {
            (true, Some(path), _) => Self::connect(path).map(Some),
            (true, None, false) => Self::pair().map(Some),
            (true, None, true) => Err(ConsoleError::NoReader),
            (false, Some(_), _) => Err(ConsoleError::NoTerminal),
            (false, None, _) => Ok(None),
        }
    }

    /// The end that the engine writes to.
    pub fn engine_end(&self) -> BorrowedFd<'_> {
        match self {
            Self::Socket(stream) => stream.as_fd(),
            Self::Pair { engine, .. } => engine.as_fd(),
        }
    }

    /// Takes the master that the engine sent; `None` when it went to the caller's socket.
    pub fn into_master(self) -> Result<Option<Master>, ConsoleError> {
        match self {
            Self::Socket(_) => Ok(None),
            Self::Pair { engine, own } => {
                drop(engine);
                receive(own.as_fd()).map(Some)
            }
        }
    }
}

fn receive(socket: BorrowedFd<'_>) -> Result<Master, ConsoleError> {
    let mut name = [0_u8; 4096];
    let mut parts = [IoSliceMut::new(&mut name)];
    let mut space = cmsg_space!([RawFd; 1]);
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags)
        .map_err(|errno| ConsoleError::Receive { source: errno.into() })?;
    let mut received = None;
    for control in message.cmsgs().into_iter().flatten() {
        if let ControlMessageOwned::ScmRights(fds) = control {
            received = fds.first().copied();
        }
    }
    let raw = received.ok_or_else(|| ConsoleError::Receive {
        source: io::Error::new(io::ErrorKind::UnexpectedEof, "no descriptor came"),
    })?;
    Ok(crate::sys::descriptor::own_received(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_a_terminal_follows_from_config_and_flags() {
        for (terminal, socket, detached, message) in [
            (false, None, true, None),
            (true, None, false, None),
            (
                true,
                None,
                true,
                Some("`process.terminal` is true: a detached container needs `--console-socket`"),
            ),
            (
                false,
                Some("/nope"),
                true,
                Some("`--console-socket` is given and `process.terminal` is false"),
            ),
            (true, Some("/nope"), true, Some("cannot connect to the console socket `/nope`")),
        ] {
            let chosen = Console::choose(terminal, socket.map(Path::new), detached);
            assert_eq!(chosen.err().map(|e| e.to_string()).as_deref(), message);
        }
    }
}
