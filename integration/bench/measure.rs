//! Runs one command and reads what it cost: start to exit, and the processor time and memory of it and of every
//! process that it waited for.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What one command cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Start to exit.
    pub(crate) wall: Duration,
    /// Of user and kernel together, of all that was waited for.
    pub(crate) cpu: Duration,
    /// The largest resident set among them, in KiB.
    pub(crate) peak_kib: u64,
}

/// Runs `command` without its output; `None` when it fails.
#[expect(unsafe_code, reason = "only wait4 tells what a child cost")]
pub(crate) fn cost_of(mut command: Command) -> Option<Cost> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let child = command.spawn().ok()?;
    let pid = i32::try_from(child.id()).ok()?;
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to values of ours that outlive the call; `child` is not waited for elsewhere.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    let wall = began.elapsed();
    if waited != pid || !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
        return None;
    }
    // SAFETY: zeroed memory is a valid `rusage`, and wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
    Some(Cost { wall, cpu, peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0) })
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
