//! The steps of a new process, as data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::device::Device;
use super::mount::{Attributes, Mount, Propagation};
use super::namespace::NamespaceKind;
use super::options::RootEntry;
use crate::confine::{Capabilities, Landlock, SyscallFilter};

/// One thing the new process does on its way to its program. The order is the plan's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// How the process gets into its namespaces.
    Entry(Entry),
    /// What the process makes of its root file system.
    Root(RootStep),
    /// What the process makes of itself.
    Identity(Identity),
    /// What holds the process from now on; none of it can be undone.
    Confinement(Confinement),
    /// Where the process meets others: the parent, hooks, its program.
    Meeting(Meeting),
}

/// How the process gets into its namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// Write `0` to the `tasks` files of its cgroups.
    JoinCgroup,
    /// Enter all namespaces of the target process but the pid namespace.
    JoinTarget,
    /// Enter a namespace that exists; its path was opened by the parent.
    JoinNamespace(NamespaceKind),
    /// Leave the cgroup namespace once it is in its cgroup.
    NewCgroupNamespace,
    /// Wait until the parent wrote the id maps and cloned what this user namespace may not reach.
    AwaitIdMaps,
    /// Make a time namespace with these offsets and enter it.
    TimeNamespace(Vec<ClockOffset>),
    /// Bring `lo` up.
    LoopbackUp,
    /// Host name.
    Hostname(String),
    /// NIS domain name.
    Domainname(String),
}

/// What the process makes of its root file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootStep {
    /// Set propagation of the runtime's mounts, and clone the root file system's tree.
    OpenRoot(Root),
    /// One mount.
    Mount(Mount),
    /// One device node.
    Device(Device),
    /// `/dev/fd`, `/dev/stdin`, … where nothing of that name is.
    DeviceLinks,
    /// Make a pseudo-terminal, send its master away, and make it the standard streams.
    Terminal(Terminal),
    /// Make the working folder where it is missing.
    WorkFolder(PathBuf),
    /// Cover a path so that nothing can be read.
    Mask(PathBuf),
    /// Make a path read-only.
    ReadOnlyPath(PathBuf),
    /// Write a sysctl.
    Sysctl(Sysctl),
    /// Restrict the root's own mount: read-only, and in a capsule's container not executable.
    RestrictRoot(Attributes),
    /// Enter the root.
    EnterRoot(RootEntry),
    /// Enter a folder of the host as root, without a mount namespace.
    ChangeRoot(PathBuf),
    /// How mount events of the root travel from now on.
    RootPropagation(Propagation),
}

/// What the process makes of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// How eagerly the kernel kills it when memory is short.
    OomScoreAdjust(i32),
    /// No debugger, and `/proc/self` belongs to root, until it executes its program.
    NotDumpable,
    /// Be killed when the parent ends. After the last change of user, which would take it back.
    EndWithParent,
    /// The ids that own what is made for the container: the first that its user namespace maps.
    MakerIds(Vec<Ids>),
    /// A session of its own.
    NewSession,
    /// A session keyring.
    Keyring(String),
    /// `AppArmor` profile of the program.
    ApparmorProfile(String),
    /// `SELinux` label of the program.
    SelinuxLabel(String),
    /// Where it may run.
    CpuAffinity(Vec<u64>),
    /// How it is scheduled.
    Schedule(Schedule),
    /// I/O class and level, as `ioprio_set` takes it.
    IoPriority(u32),
    /// Which memory it gets.
    MemoryPolicy(MemoryPolicy),
    /// Execution domain.
    Personality(u64),
    /// Limits.
    Rlimit(Rlimit),
    /// File mode creation mask.
    Umask(u32),
    /// Enter the working folder.
    Cwd(PathBuf),
    /// Take capabilities out of the bounding set.
    BoundingSet(u64),
    /// User and groups of the program.
    UserIds(Ids),
}

/// What holds the process from now on; none of it can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Open the Landlock rules while every path can be reached.
    LandlockRules(Landlock),
    /// Nothing executed from here on gains privileges.
    NoNewPrivileges,
    /// Put what the process holds back in force, to be able to confine it without `NoNewPrivileges`.
    RegainCapabilities,
    /// Capabilities of the program.
    Capabilities(Capabilities),
    /// Enter the Landlock domain.
    LandlockDomain,
    /// Load the syscall filter.
    SyscallFilter(SyscallFilter),
}

/// Where the process meets others: the parent, hooks, its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meeting {
    /// Let the parent move network devices and run `prestart` and `createRuntime` hooks.
    CreateRuntimeHooks,
    /// Run `createContainer` hooks.
    CreateContainerHooks,
    /// Complete the environment and find the program.
    FindProgram,
    /// Tell the parent that all is prepared.
    Ready,
    /// Wait for `start`.
    Gate,
    /// Become pid 1 of the container, and go on in a child.
    Holder,
    /// Run `startContainer` hooks.
    StartContainerHooks,
    /// Execute the program.
    Execute,
}

impl From<Entry> for Step {
    fn from(step: Entry) -> Self {
        Self::Entry(step)
    }
}

impl From<RootStep> for Step {
    fn from(step: RootStep) -> Self {
        Self::Root(step)
    }
}

impl From<Identity> for Step {
    fn from(step: Identity) -> Self {
        Self::Identity(step)
    }
}

impl From<Confinement> for Step {
    fn from(step: Confinement) -> Self {
        Self::Confinement(step)
    }
}

impl From<Meeting> for Step {
    fn from(step: Meeting) -> Self {
        Self::Meeting(step)
    }
}

/// The root file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Absolute, on the host.
    pub path: PathBuf,
    /// How mount events travel between host and container while it is built.
    pub propagation: Propagation,
}

/// Offset of a clock in a time namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Which clock.
    pub clock: Clock,
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds.
    pub nanoseconds: u32,
}

/// A clock that a time namespace shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Since boot, without sleep.
    Monotonic,
    /// Since boot.
    Boottime,
}

/// User and groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ids {
    /// User id in the container.
    pub uid: u32,
    /// Group id in the container.
    pub gid: u32,
    /// Further group ids in the container.
    pub additional: Vec<u32>,
}

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Rows and columns.
    pub size: Option<(u16, u16)>,
    /// Its owner in the container.
    pub uid: u32,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimit {
    /// `RLIMIT_NOFILE`, …
    pub name: String,
    /// The kernel's number.
    pub resource: u32,
    /// In force; `u64::MAX` is infinity.
    pub soft: u64,
    /// The most that `soft` can be raised to.
    pub hard: u64,
}

/// Scheduling, as `sched_setattr` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the kernel's own, described in sched_setattr(2)")]
pub struct Schedule {
    pub policy: u32,
    pub nice: i32,
    pub priority: u32,
    pub flags: u64,
    pub runtime: u64,
    pub deadline: u64,
    pub period: u64,
}

/// Memory policy, as `set_mempolicy` takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// `MPOL_*` with its flags.
    pub mode: i32,
    /// Bit n of word n / 64 is node n.
    pub nodes: Vec<u64>,
}

/// Cpus before and after the process is in its cgroup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affinity {
    /// Before.
    pub initial: Option<Vec<u64>>,
    /// After.
    pub last: Option<Vec<u64>>,
}

/// A kernel setting of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// Below `/proc/sys`.
    pub path: PathBuf,
    /// What is written.
    pub value: String,
}
