//! What a verb prepared for the process it wants started.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use nix::unistd::Pid;

use super::hook::HookPoints;

/// Everything the verb hands over besides the plan. All descriptors stay the verb's own.
#[derive(Debug, Default)]
pub struct Seat<'a> {
    /// How the process gets into its cgroup.
    pub cgroup: CgroupSeat<'a>,
    /// Standard input, output and error; ignored where the plan wants a terminal.
    pub stdio: Stdio<'a>,
    /// A connected unix socket that receives the terminal's master (`SCM_RIGHTS`).
    /// A plan with a terminal needs it.
    pub console_socket: Option<BorrowedFd<'a>>,
    /// How many descriptors from 3 on the program keeps (`--preserve-fds` plus `LISTEN_FDS`).
    pub preserve_fds: u32,
    /// Where init waits for `start`.
    pub gate: Gate<'a>,
    /// Hooks that run between namespaces and exec; `None`: there are none.
    pub hooks: Option<&'a mut dyn HookPoints>,
    /// Tells the container's state to a seccomp agent (`linux.seccomp.listenerPath`).
    /// A plan whose filter notifies needs it.
    pub state: Option<&'a dyn StateSource>,
}

/// Who knows the container's state.
pub trait StateSource: std::fmt::Debug {
    /// The state as the runtime-spec defines it, for a container whose init is `pid`.
    fn state(&self, pid: Pid) -> serde_json::Value;
}

/// How a process enters its cgroup, and what its cgroup mounts show.
#[derive(Debug, Default)]
pub struct CgroupSeat<'a> {
    /// The cgroup v2 directory, for `CLONE_INTO_CGROUP`.
    pub unified: Option<BorrowedFd<'a>>,
    /// The cgroup v1 `tasks` files, opened for writing by the verb. The single-threaded child writes
    /// `0` to each before it makes its cgroup namespace: no wait for a grace period, and the kernel
    /// checks the opener's right, not the child's.
    pub tasks: Vec<BorrowedFd<'a>>,
    /// Where the container's groups are, for mounts of type `cgroup`. Empty: such a mount is refused.
    pub hierarchies: Vec<CgroupHierarchy>,
}

/// One cgroup hierarchy as a container sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupHierarchy {
    /// Last part of its mount point, as `memory`, `cpu,cpuacct`, `systemd`, `unified`;
    /// unused when it is the only one and unified.
    pub name: String,
    /// Mount data of a v1 hierarchy: `cpu,cpuacct` or `none,name=systemd`. `None`: it is cgroup v2.
    pub v1_data: Option<String>,
    /// The container's own group, as an absolute path of the host.
    pub group: PathBuf,
}

/// Standard streams of the process.
#[derive(Debug, Default, Clone, Copy)]
pub enum Stdio<'a> {
    /// The caller's own 0, 1 and 2.
    #[default]
    Inherit,
    /// These three become 0, 1 and 2.
    Given([BorrowedFd<'a>; 3]),
}

/// Where init waits between `created` and `running`.
///
/// Both descriptors are FIFOs in the state folder, opened `O_RDWR` (that never blocks) by the verb.
/// `start` opens `report` for reading, then `wait` for writing with `O_NONBLOCK` (`ENXIO`: init is
/// gone) and writes one byte; [`super::read_start_report`] then tells whether the program runs.
#[derive(Debug, Default, Clone, Copy)]
pub enum Gate<'a> {
    /// Straight to exec.
    #[default]
    Open,
    /// Wait for one byte on `wait`; failures after it are written to `report`, which closes on exec.
    Closed {
        /// Init reads one byte from it.
        wait: BorrowedFd<'a>,
        /// Init writes what failed after the gate to it.
        report: BorrowedFd<'a>,
    },
}

/// The running container that `exec` enters.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its init process, in the caller's pid namespace.
    pub pid: Pid,
    /// A handle to that process, so that a reused number is noticed.
    pub pidfd: BorrowedFd<'a>,
}
