//! User ids, capabilities, limits: what a process is.

use nix::errno::Errno;

/// One capset(2): three 64-bit sets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CapabilitySets {
    /// In force.
    pub effective: u64,
    /// May be put in force.
    pub permitted: u64,
    /// Kept over execve by files that say so.
    pub inheritable: u64,
}

#[repr(C)]
struct CapHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct CapData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const CAP_VERSION: u32 = 0x2008_0522;

#[expect(clippy::cast_possible_truncation, reason = "each half is taken on purpose")]
const fn halves(set: u64) -> [u32; 2] {
    [set as u32, (set >> 32) as u32]
}

/// Sets the three capability sets of this thread.
pub(crate) fn capset(sets: CapabilitySets) -> nix::Result<()> {
    let mut header = CapHeader { version: CAP_VERSION, pid: 0 };
    let (e, p, i) = (halves(sets.effective), halves(sets.permitted), halves(sets.inheritable));
    let data = [
        CapData { effective: e[0], permitted: p[0], inheritable: i[0] },
        CapData { effective: e[1], permitted: p[1], inheritable: i[1] },
    ];
    // SAFETY: header and data have the layout version 3 asks for, and outlive the call.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
    Errno::result(done).map(drop)
}

/// Reads the three capability sets of this thread.
pub(crate) fn capget() -> nix::Result<CapabilitySets> {
    let mut header = CapHeader { version: CAP_VERSION, pid: 0 };
    let mut data = [CapData::default(); 2];
    // SAFETY: header and data have the layout version 3 asks for, and outlive the call.
    let done = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    Errno::result(done)?;
    let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Ok(CapabilitySets {
        effective: join(data[0].effective, data[1].effective),
        permitted: join(data[0].permitted, data[1].permitted),
        inheritable: join(data[0].inheritable, data[1].inheritable),
    })
}

fn prctl(option: libc::c_int, two: u64, three: u64) -> nix::Result<()> {
    // SAFETY: every option used here takes integers only.
    let done = unsafe { libc::prctl(option, two, three, 0u64, 0u64) };
    Errno::result(done).map(drop)
}

/// Takes one capability out of the bounding set; `EINVAL`: this kernel does not know it.
pub(crate) fn drop_bounding(capability: u8) -> nix::Result<()> {
    prctl(libc::PR_CAPBSET_DROP, u64::from(capability), 0)
}

/// Empties the ambient set.
pub(crate) fn clear_ambient() -> nix::Result<()> {
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as u64, 0)
}

/// Adds one capability to the ambient set.
pub(crate) fn raise_ambient(capability: u8) -> nix::Result<()> {
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as u64, u64::from(capability))
}

/// Sets a limit of this process, or of another one.
pub(crate) fn prlimit(
    pid: nix::unistd::Pid,
    resource: u32,
    soft: u64,
    hard: u64,
) -> nix::Result<()> {
    let limit = libc::rlimit64 { rlim_cur: soft, rlim_max: hard };
    let old: *mut libc::rlimit64 = std::ptr::null_mut();
    // SAFETY: `limit` outlives the call; a null old limit is documented to be left alone.
    let done = unsafe {
        libc::syscall(libc::SYS_prlimit64, pid.as_raw(), resource, &raw const limit, old)
    };
    Errno::result(done).map(drop)
}

/// Reads a limit of this process: soft, hard.
pub(crate) fn limit(resource: u32) -> nix::Result<(u64, u64)> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let new: *const libc::rlimit64 = std::ptr::null();
    // SAFETY: `limit` outlives the call; a null new limit changes nothing.
    let done = unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, new, &raw mut limit) };
    Errno::result(done)?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// Joins a session keyring of that name, made if missing; `None`: this kernel has no keyrings.
pub(crate) fn join_session_keyring(name: &std::ffi::CStr) -> nix::Result<Option<libc::c_long>> {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    // SAFETY: `name` is NUL-terminated and outlives the call.
    let ring = unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, name.as_ptr()) };
    match Errno::result(ring) {
        Ok(ring) => Ok(Some(ring)),
        Err(Errno::ENOSYS) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Describes a key as `type;uid;gid;permissions;name`.
pub(crate) fn describe_key(ring: libc::c_long) -> nix::Result<String> {
    const DESCRIBE: libc::c_int = 6;
    let mut text = [0u8; 256];
    // SAFETY: `text` outlives the call and its length is given.
    let length =
        unsafe { libc::syscall(libc::SYS_keyctl, DESCRIBE, ring, text.as_mut_ptr(), text.len()) };
    let length = usize::try_from(Errno::result(length)?).map_err(|_| Errno::EINVAL)?;
    let text = text.get(..length.saturating_sub(1)).ok_or(Errno::ERANGE)?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Sets the permission mask of a key.
pub(crate) fn set_key_permissions(ring: libc::c_long, mask: u32) -> nix::Result<()> {
    const SETPERM: libc::c_int = 5;
    // SAFETY: keyctl SETPERM reads integers only.
    let done = unsafe { libc::syscall(libc::SYS_keyctl, SETPERM, ring, mask) };
    Errno::result(done).map(drop)
}
