//! The little of rtnetlink(7) that moving an interface takes.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg, sendmsg, socket,
};

const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const SET_LINK: u16 = 19;
const NEW_ADDRESS: u16 = 20;
const GET_ADDRESS: u16 = 22;
const ERROR: u16 = 2;
const DONE: u16 = 3;

const REQUEST: u16 = 0x1;
const ACKNOWLEDGE: u16 = 0x4;
const DUMP: u16 = 0x300;
const CREATE_ONLY: u16 = 0x600;

const LINK_NAME: u16 = 3;
const LINK_NAMESPACE: u16 = 28;
const ADDRESS_LABEL: u16 = 3;
const ADDRESS_CACHE: u16 = 6;
const ADDRESS_FLAGS: u16 = 8;
const PERMANENT: u32 = 0x80;

/// A connection to one network namespace: that in which it was made.
#[derive(Debug)]
pub(super) struct Netlink(OwnedFd);

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub index: u32,
    pub name: String,
}

/// An address, as the kernel told it: header and attributes, without what belongs to its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    header: [u8; 4],
    attributes: Vec<u8>,
}

impl Netlink {
    pub(super) fn open() -> nix::Result<Self> {
        socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )
        .map(Self)
    }

    /// All interfaces.
    pub(super) fn links(&self) -> nix::Result<Vec<Link>> {
        let bodies = self.dump(GET_LINK, NEW_LINK, &[0; 16])?;
        let link = |body: Vec<u8>| {
            let index = u32::from_ne_bytes(body.get(4..8)?.try_into().ok()?);
            let name = attributes(body.get(16..)?).find(|(kind, _)| *kind == LINK_NAME)?.1;
            let name = name.strip_suffix(b"\0").unwrap_or(name);
            Some(Link { index, name: String::from_utf8_lossy(name).into_owned() })
        };
        Ok(bodies.into_iter().filter_map(link).collect())
    }

    /// The permanent addresses of an interface that are meant for the outside.
    pub(super) fn addresses(&self, link: u32) -> nix::Result<Vec<Address>> {
        let bodies = self.dump(GET_ADDRESS, NEW_ADDRESS, &[0; 8])?;
        Ok(bodies.iter().filter_map(|body| address(body, link)).collect())
    }

    /// Moves an interface to another namespace under a name, which may end in `%d`.
    pub(super) fn move_link(&self, link: u32, namespace: &OwnedFd, name: &str) -> nix::Result<()> {
        let mut body = link_header(link, 0);
        attribute(&mut body, LINK_NAMESPACE, &namespace.as_raw_fd().to_ne_bytes());
        attribute(&mut body, LINK_NAME, &[name.as_bytes(), b"\0"].concat());
        self.change(SET_LINK, 0, &body)
    }

    /// Brings an interface up.
    pub(super) fn bring_up(&self, link: u32) -> nix::Result<()> {
        const UP: u32 = 1;
        self.change(SET_LINK, 0, &link_header(link, UP))
    }

    /// Gives an interface an address.
    pub(super) fn add_address(&self, link: u32, address: &Address) -> nix::Result<()> {
        let mut body = address.header.to_vec();
        body.extend(link.to_ne_bytes());
        body.extend(&address.attributes);
        self.change(NEW_ADDRESS, CREATE_ONLY, &body)
    }

    fn change(&self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        self.send(kind, REQUEST | ACKNOWLEDGE | flags, body)?;
        for (answer, body) in self.receive()? {
            if answer == ERROR {
                return status(&body);
            }
        }
        Err(Errno::EPROTO)
    }

    fn dump(&self, kind: u16, wanted: u16, body: &[u8]) -> nix::Result<Vec<Vec<u8>>> {
        self.send(kind, REQUEST | DUMP, body)?;
        let mut all = Vec::new();
        loop {
            for (answer, body) in self.receive()? {
                match answer {
                    DONE => return Ok(all),
                    ERROR => status(&body)?,
                    kind if kind == wanted => all.push(body),
                    _ => {}
                }
            }
        }
    }

    fn send(&self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        let length = u32::try_from(16 + body.len()).map_err(|_| Errno::EMSGSIZE)?;
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        let parts = [IoSlice::new(&message)];
        sendmsg::<()>(self.0.as_raw_fd(), &parts, &[], MsgFlags::empty(), None).map(drop)
    }

    /// One datagram: several messages, each its kind and body.
    fn receive(&self) -> nix::Result<Vec<(u16, Vec<u8>)>> {
        let mut bytes = vec![0u8; 64 * 1024];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let length = recvmsg::<()>(self.0.as_raw_fd(), &mut parts, None, MsgFlags::empty())?.bytes;
        let mut rest = bytes.get(..length).ok_or(Errno::EMSGSIZE)?;
        let mut all = Vec::new();
        while rest.len() >= 16 {
            let size = u32::from_ne_bytes(rest[..4].try_into().map_err(|_| Errno::EPROTO)?);
            let size = usize::try_from(size).map_err(|_| Errno::EPROTO)?;
            let kind = u16::from_ne_bytes(rest[4..6].try_into().map_err(|_| Errno::EPROTO)?);
            all.push((kind, rest.get(16..size).ok_or(Errno::EPROTO)?.to_vec()));
            rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(all)
    }
}

fn status(body: &[u8]) -> nix::Result<()> {
    let code = body.get(..4).and_then(|code| code.try_into().ok()).ok_or(Errno::EPROTO)?;
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        code => Err(Errno::from_raw(-code)),
    }
}

/// `struct ifinfomsg`.
fn link_header(link: u32, flags: u32) -> Vec<u8> {
    let mut header = vec![0; 4];
    header.extend(link.to_ne_bytes());
    header.extend(flags.to_ne_bytes());
    header.extend(flags.to_ne_bytes());
    header
}

fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// `struct ifaddrmsg` and attributes.
fn address(body: &[u8], link: u32) -> Option<Address> {
    const UNIVERSE: u8 = 0;
    let header: [u8; 4] = body.get(..4)?.try_into().ok()?;
    let index = u32::from_ne_bytes(body.get(4..8)?.try_into().ok()?);
    let mut flags = u32::from(header[2]);
    let mut kept = Vec::new();
    for (kind, value) in attributes(body.get(8..)?) {
        if kind == ADDRESS_FLAGS {
            flags = u32::from_ne_bytes(value.try_into().ok()?);
        }
        if kind != ADDRESS_LABEL && kind != ADDRESS_CACHE {
            attribute(&mut kept, kind, value);
        }
    }
    let wanted = index == link && header[3] == UNIVERSE && flags & PERMANENT != 0;
    wanted.then_some(Address { header, attributes: kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permanent_addresses_for_the_outside_are_taken_along() {
        let body = |scope: u8, flags: u32, index: u32| {
            let mut body = vec![2, 24, 0, scope];
            body.extend(index.to_ne_bytes());
            attribute(&mut body, 2, &[10, 0, 0, 1]);
            attribute(&mut body, ADDRESS_LABEL, b"eth0\0");
            attribute(&mut body, ADDRESS_FLAGS, &flags.to_ne_bytes());
            body
        };
        let taken = address(&body(0, PERMANENT, 7), 7).unwrap();
        let kinds: Vec<u16> = attributes(&taken.attributes).map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [2, ADDRESS_FLAGS], "the label names the old interface");
        assert_eq!(address(&body(0, 0, 7), 7), None, "not permanent");
        assert_eq!(address(&body(253, PERMANENT, 7), 7), None, "for this link only");
        assert_eq!(address(&body(0, PERMANENT, 8), 7), None, "another interface");
        assert_eq!(address(&[2, 24], 7), None, "cut short");
    }
}
