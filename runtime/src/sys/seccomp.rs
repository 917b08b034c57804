//! Loads a syscall filter.

use std::os::fd::OwnedFd;

use nix::errno::Errno;

/// Loads a classic BPF program, one instruction a word: code, jt, jf from the high bits, k below.
///
/// With `SECCOMP_FILTER_FLAG_NEW_LISTENER` among `flags` the notify descriptor comes back.
pub(crate) fn load_filter(program: &[u64], flags: u32) -> nix::Result<Option<OwnedFd>> {
    const SET_MODE_FILTER: libc::c_uint = 1;
    const NEW_LISTENER: u32 = 1 << 3;
    let instructions: Vec<libc::sock_filter> = program.iter().map(|&word| unpack(word)).collect();
    let length = u16::try_from(instructions.len()).map_err(|_| Errno::EINVAL)?;
    let header = libc::sock_fprog { len: length, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `len` instructions from `filter`, which outlives the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const header) };
    if flags & NEW_LISTENER != 0 {
        return super::owned(answer).map(Some);
    }
    Errno::result(answer).map(|_| None)
}

#[expect(clippy::cast_possible_truncation, reason = "each field is taken from its own bits")]
const fn unpack(word: u64) -> libc::sock_filter {
    libc::sock_filter {
        code: (word >> 48) as u16,
        jt: (word >> 40) as u8,
        jf: (word >> 32) as u8,
        k: word as u32,
    }
}
