//! What parent and child say to each other: one packet a message, nothing in the good case but `Ready`.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};
use nix::unistd::{Pid, read, write};

use super::fault::Word;

/// The most descriptors the kernel takes in one message (`SCM_MAX_FD`), less a few.
pub(super) const MOST_DESCRIPTORS: usize = 250;

/// From the child.
#[derive(Debug)]
pub(super) enum FromChild {
    /// The relay made the process with this number; its handle comes along.
    Born(Pid, OwnedFd),
    /// Mounts are made: run prestart and createRuntime hooks.
    Hooks,
    /// Send clones of the mount sources from this number on.
    Sources(usize),
    /// Pass this notify descriptor on.
    Listener(OwnedFd),
    /// Everything before the gate is done.
    Ready,
    /// It failed.
    Fault(Word),
    /// The program runs, or the child is gone.
    Closed,
}

/// From the parent.
#[derive(Debug)]
pub(super) enum FromParent {
    /// Go on. The pid is the child's own, in the runtime's pid namespace.
    Go(Pid, Vec<OwnedFd>),
    /// The parent is gone.
    Closed,
}

/// One end.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
}

impl Channel {
    pub(super) fn pair() -> nix::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        Ok((Self { socket: one }, Self { socket: other }))
    }

    /// Parent: the next message.
    pub(super) fn hear_child(&self) -> nix::Result<FromChild> {
        let mut bytes = vec![0u8; 16 * 1024];
        let (length, mut descriptors) = self.receive(&mut bytes)?;
        let Some((&tag, body)) = bytes[..length].split_first() else {
            return Ok(FromChild::Closed);
        };
        let number = || i32::from_ne_bytes(body.try_into().unwrap_or_default());
        match tag {
            b'B' => Ok(FromChild::Born(
                Pid::from_raw(number()),
                descriptors.pop().ok_or(Errno::EPROTO)?,
            )),
            b'H' => Ok(FromChild::Hooks),
            b'S' => Ok(FromChild::Sources(usize::try_from(number()).map_err(|_| Errno::EPROTO)?)),
            b'N' => descriptors.pop().map(FromChild::Listener).ok_or(Errno::EPROTO),
            b'R' => Ok(FromChild::Ready),
            b'F' => serde_json::from_slice(body).map(FromChild::Fault).map_err(|_| Errno::EPROTO),
            _ => Err(Errno::EPROTO),
        }
    }

    /// Parent: lets the child go on, with descriptors.
    pub(super) fn go(&self, pid: Pid, descriptors: &[BorrowedFd<'_>]) -> nix::Result<()> {
        self.send(b'G', &pid.as_raw().to_ne_bytes(), descriptors)
    }

    /// Child: the next message.
    pub(super) fn hear_parent(&self) -> nix::Result<FromParent> {
        let mut bytes = [0u8; 8];
        let (length, descriptors) = self.receive(&mut bytes)?;
        match bytes[..length] {
            [] => Ok(FromParent::Closed),
            [b'G', a, b, c, d] => {
                Ok(FromParent::Go(Pid::from_raw(i32::from_ne_bytes([a, b, c, d])), descriptors))
            }
            _ => Err(Errno::EPROTO),
        }
    }

    /// Child: waits for a message by read(2), which every syscall filter lets through.
    pub(super) fn wait_plainly(&self) -> nix::Result<bool> {
        let mut bytes = [0u8; 8];
        loop {
            match read(&self.socket, &mut bytes) {
                Err(Errno::EINTR) => {}
                other => return other.map(|length| length > 0),
            }
        }
    }

    /// Child: a message without descriptors, by write(2), which every syscall filter lets through.
    pub(super) fn say(&self, tag: u8, body: &[u8]) -> nix::Result<()> {
        let mut packet = Vec::with_capacity(body.len() + 1);
        packet.push(tag);
        packet.extend_from_slice(body);
        write(&self.socket, &packet).map(drop)
    }

    /// Either: a message with descriptors.
    pub(super) fn send(
        &self,
        tag: u8,
        body: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> nix::Result<()> {
        let raw: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let control: &[_] = if raw.is_empty() { &[] } else { &rights };
        let parts = [IoSlice::new(std::slice::from_ref(&tag)), IoSlice::new(body)];
        sendmsg::<()>(self.socket.as_raw_fd(), &parts, control, MsgFlags::MSG_NOSIGNAL, None)
            .map(drop)
    }

    fn receive(&self, bytes: &mut [u8]) -> nix::Result<(usize, Vec<OwnedFd>)> {
        let mut space = nix::cmsg_space!([RawFd; MOST_DESCRIPTORS]);
        let mut parts = [IoSliceMut::new(bytes)];
        let message = loop {
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            match recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
                Err(Errno::EINTR) => {}
                Err(Errno::ECONNRESET) => return Ok((0, Vec::new())),
                other => break other?,
            }
        };
        let mut descriptors = Vec::new();
        for control in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(raw) = control {
                descriptors.extend(raw.into_iter().map(crate::sys::process::received));
            }
        }
        Ok((message.bytes, descriptors))
    }
}

/// So that the parent's end can be closed in the child, and kept by an [`super::super::InitProcess`].
impl From<Channel> for OwnedFd {
    fn from(channel: Channel) -> Self {
        channel.socket
    }
}
