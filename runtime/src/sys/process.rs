//! Processes by pidfd.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Opens a handle to `pid` that stays right after the number is reused.
pub(crate) fn pidfd_open(pid: Pid) -> nix::Result<OwnedFd> {
    // SAFETY: pidfd_open reads two integers and touches no memory of ours.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    super::owned(raw)
}

/// Sends `signal` to the process behind `pidfd`.
pub(crate) fn pidfd_send_signal(pidfd: BorrowedFd<'_>, signal: Signal) -> nix::Result<()> {
    let info: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: a null siginfo is documented to mean "as kill(2) would fill it".
    let done = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal as i32, info, 0)
    };
    Errno::result(done).map(drop)
}

/// Kills a child of ours and reaps it; a process that is gone already is fine.
pub(crate) fn kill_and_reap(pidfd: BorrowedFd<'_>) {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let _ = pidfd_send_signal(pidfd, Signal::SIGKILL);
    while waitid(Id::PIDFd(pidfd), WaitPidFlag::WEXITED) == Err(Errno::EINTR) {}
}

/// Marks every descriptor from `first` on to be closed when a program is executed; `EINVAL` before Linux 5.11.
pub(crate) fn close_on_exec_from(first: u32) -> nix::Result<()> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: marks descriptors only; nothing is closed now.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    Errno::result(done).map(drop)
}

/// The same where the kernel has no such range call, by the list of open descriptors.
pub(crate) fn close_on_exec_one_by_one(first: u32) -> nix::Result<()> {
    let failed = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
    for entry in std::fs::read_dir("/proc/self/fd").map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let number: Option<RawFd> = name.to_str().and_then(|name| name.parse().ok());
        if let Some(number) = number.filter(|number| i64::from(*number) >= i64::from(first)) {
            // SAFETY: sets a flag of a descriptor number; the listing's own is closed by now or then.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Sets the NIS domain name.
pub(crate) fn set_domain_name(name: &str) -> nix::Result<()> {
    // SAFETY: `name` outlives the call and its length is given.
    let done = unsafe { libc::setdomainname(name.as_ptr().cast(), name.len()) };
    Errno::result(done).map(drop)
}

/// Takes ownership of a descriptor that came with a message.
pub(crate) fn received(raw: RawFd) -> OwnedFd {
    // SAFETY: the kernel made `raw` for this message and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

/// Makes `from` also known as number `to` (not close-on-exec).
pub(crate) fn duplicate_to(from: BorrowedFd<'_>, to: RawFd) -> nix::Result<()> {
    // SAFETY: only called for 0, 1 and 2, which no owned descriptor of ours ever has.
    Errno::result(unsafe { libc::dup2(from.as_raw_fd(), to) }).map(drop)
}

/// Whether the caller passed descriptor `number`: it is open and is kept over exec.
pub(crate) fn is_passed(number: RawFd) -> bool {
    // SAFETY: asks for flags only.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    flags >= 0 && flags & libc::FD_CLOEXEC == 0
}

/// Executes a prepared program; returns only the error.
pub(crate) fn execute(path: &CStr, arguments: &CStringArray, environment: &CStringArray) -> Errno {
    // SAFETY: both arrays are null-terminated lists of NUL-terminated strings that outlive the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    Errno::last()
}

/// Strings as execve takes them, ready before the fork.
#[derive(Debug)]
pub(crate) struct CStringArray {
    strings: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl CStringArray {
    /// Takes ownership; the strings stay where they are on the heap.
    pub(crate) fn new(strings: Vec<CString>) -> Self {
        let mut array = Self { pointers: Vec::with_capacity(strings.len() + 2), strings };
        array.point();
        array
    }

    fn point(&mut self) {
        self.pointers.clear();
        self.pointers.extend(self.strings.iter().map(|string| string.as_ptr()));
        self.pointers.push(std::ptr::null());
    }

    /// Adds a string at the end.
    pub(crate) fn push(&mut self, string: CString) {
        self.strings.push(string);
        self.point();
    }

    /// Takes every `name=…` out.
    pub(crate) fn remove(&mut self, name: &str) {
        let is_it = |entry: &CString| {
            let rest = entry.as_bytes().strip_prefix(name.as_bytes());
            rest.is_some_and(|rest| rest.first() == Some(&b'='))
        };
        self.strings.retain(|entry| !is_it(entry));
        self.point();
    }

    /// The strings.
    pub(crate) fn strings(&self) -> &[CString] {
        &self.strings
    }

    fn as_ptr(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr()
    }
}

/// Sets how writes to a closed pipe end this process: as the kernel does by default.
pub(crate) fn default_sigpipe() -> nix::Result<()> {
    let default = nix::sys::signal::SigAction::new(
        nix::sys::signal::SigHandler::SigDfl,
        nix::sys::signal::SaFlags::empty(),
        nix::sys::signal::SigSet::empty(),
    );
    // SAFETY: the default disposition runs no code of ours.
    unsafe { nix::sys::signal::sigaction(Signal::SIGPIPE, &default) }.map(drop)
}

/// The kernel's Landlock ABI; an error where there is no Landlock.
pub(crate) fn landlock_abi() -> nix::Result<u32> {
    const VERSION: libc::c_uint = 1;
    let attributes: *const libc::c_void = std::ptr::null();
    // SAFETY: a null attribute of size 0 with this flag is documented as the version query.
    let abi =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attributes, 0usize, VERSION) };
    u32::try_from(Errno::result(abi)?).map_err(|_| Errno::EINVAL)
}

/// Executes what a descriptor is open on; returns only the error.
pub(crate) fn execute_descriptor(
    file: BorrowedFd<'_>,
    arguments: &CStringArray,
    environment: &CStringArray,
) -> Errno {
    // SAFETY: both arrays are null-terminated lists of NUL-terminated strings that outlive the call,
    // and the path is the empty static string.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            file.as_raw_fd(),
            c"".as_ptr(),
            arguments.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    Errno::last()
}

/// Makes an empty file in memory that can be sealed and executed.
pub(crate) fn executable_memory(name: &CStr) -> nix::Result<OwnedFd> {
    const CLOEXEC_ALLOW_SEALING: libc::c_uint = 1 | 2;
    const EXEC: libc::c_uint = 0x10;
    let make = |flags: libc::c_uint| {
        // SAFETY: `name` is NUL-terminated and outlives the call.
        let raw = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) };
        super::owned(raw)
    };
    match make(CLOEXEC_ALLOW_SEALING | EXEC) {
        // Before Linux 6.3 every such file can be executed, and the flag is not known.
        Err(Errno::EINVAL) => make(CLOEXEC_ALLOW_SEALING),
        other => other,
    }
}

/// Forks; `None`: this is the child. By fork(2), which every syscall filter that lets a program
/// have children lets through.
pub(crate) fn fork() -> nix::Result<Option<Pid>> {
    // SAFETY: this process has one thread, so the child may go on as ordinary code.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(Some(child)),
        nix::unistd::ForkResult::Child => Ok(None),
    }
}

/// Closes every descriptor. Only for a process that owns none by a value any more.
pub(crate) fn close_everything() {
    // SAFETY: whoever calls this never uses a descriptor again.
    if unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) } == 0 {
        return;
    }
    let most =
        crate::sys::id::limit(libc::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft.min(65_536));
    for number in 0..RawFd::try_from(most).unwrap_or(1024) {
        // SAFETY: as above.
        unsafe { libc::close(number) };
    }
}

/// Which children [`reap`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reap {
    /// One that has ended, if there is one.
    Ended,
    /// The next that ends.
    Next,
}

/// Reaps a child: its number, and its code or 128 and its signal. `None`: none has ended.
pub(crate) fn reap(which: Reap) -> nix::Result<Option<(Pid, i32)>> {
    let flags = if which == Reap::Ended { libc::WNOHANG } else { 0 };
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = Errno::result(unsafe { libc::waitpid(-1, &raw mut status, flags) })?;
    if pid == 0 {
        return Ok(None);
    }
    let ended = libc::WIFEXITED(status);
    let code = if ended { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
    Ok(Some((Pid::from_raw(pid), code)))
}

/// Where the arguments of this process are in its memory; `/proc/PID/cmdline` shows them to everybody.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgumentArea {
    start: usize,
    end: usize,
}

impl ArgumentArea {
    /// Asks procfs, which must be the host's still.
    pub(crate) fn read() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name in parentheses may hold anything; from the third field on there are numbers.
        let numbers: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| numbers.get(field - 3)?.parse().ok();
        let area = Self { start: number(48)?, end: number(49)? };
        (0 < area.start && area.start < area.end).then_some(area)
    }

    /// Puts `name` there instead. The arguments as Rust reads them are gone after that.
    pub(crate) fn overwrite(self, name: &[u8]) {
        let length = self.end - self.start;
        let name = &name[..name.len().min(length - 1)];
        let area = std::ptr::with_exposed_provenance_mut::<u8>(self.start);
        // SAFETY: the kernel keeps the argument strings of this process there, in a writable mapping;
        // nothing reads them after this.
        unsafe { std::ptr::write_bytes(area, 0, length) };
        // SAFETY: the name is shorter than the area, and does not lie in it.
        unsafe { std::ptr::copy_nonoverlapping(name.as_ptr(), area, name.len()) };
    }
}
