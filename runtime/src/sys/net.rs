//! Network interfaces of the current namespace.

use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// Brings the loopback interface of the current network namespace up.
pub(crate) fn loopback_up() -> nix::Result<()> {
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "IFF_UP and IFF_RUNNING are small"
            )]
            ifru_flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short,
        },
    };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    // SAFETY: `request` is an ifreq, as SIOCSIFFLAGS takes, and outlives the call.
    let done = unsafe {
        libc::ioctl(control.as_raw_fd(), libc::SIOCSIFFLAGS, std::ptr::from_mut(&mut request))
    };
    Errno::result(done).map(drop)
}
