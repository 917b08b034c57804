//! What a child is given: everything it needs is ready before it exists.

use std::os::fd::{BorrowedFd, OwnedFd};

use super::super::hook::HookSet;
use super::super::seat::{CgroupHierarchy, Gate, Stdio};
use super::cgroup::View;
use super::device::NodeSource;
use crate::plan::{NamespaceKind, Step};
use crate::sys::process::ArgumentArea;

/// Everything the child needs, ready before it exists.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// What to do.
    pub steps: &'a [Step],
    /// `tasks` files of its cgroups.
    pub tasks: &'a [BorrowedFd<'a>],
    /// Its cgroups, for mounts.
    pub hierarchies: &'a [CgroupHierarchy],
    /// How much a cgroup file system shows.
    pub view: View,
    /// Standard streams.
    pub stdio: Stdio<'a>,
    /// Receives the terminal.
    pub console_socket: Option<BorrowedFd<'a>>,
    /// Descriptors kept from 3 on.
    pub preserve_fds: u32,
    /// Where to wait for `start`.
    pub gate: Gate<'a>,
    /// Which hook points have hooks.
    pub hooks: HookSet,
    /// The parent has something to do while this process waits with its mounts made.
    pub meets: bool,
    /// Namespaces this process enters itself.
    pub joined: Vec<(NamespaceKind, OwnedFd)>,
    /// The cgroup namespace is made by this process, after it joined its cgroups.
    pub late_cgroup_namespace: bool,
    /// The process whose namespaces are entered, and which.
    pub target: Option<(BorrowedFd<'a>, u64)>,
    /// Who clones the root and the sources of binds.
    pub staging: Staging<'a>,
    /// How device nodes come about.
    pub nodes: NodeSource,
    /// Who is pid 1.
    pub first: First,
}

/// Who is pid 1 of the container.
#[derive(Debug, Clone, Copy)]
pub(super) enum First {
    /// The program.
    Program,
    /// This process, for the program; where its arguments are, as far as is known.
    Holder(Option<ArgumentArea>),
}

/// Who clones what comes from the host.
#[derive(Debug, Clone, Copy)]
pub(super) enum Staging<'a> {
    /// This process; ids of the binds are translated by these maps.
    Child(&'a [Option<OwnedFd>]),
    /// The parent, inside this process's mount namespace.
    Parent,
}
