//! What a host can do, as plain data: each answer is an attempt that was made, never a version string.

use serde::{Deserialize, Serialize};

/// What came of trying something in a throw-away child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Attempt {
    /// It worked.
    Works,
    /// A step was refused.
    Refused {
        /// The call, in words that begin with a name [`Step::of`] knows: `unshare(NEWUSER|NEWNET)`, `uid_map`, …
        step: String,
        /// The error number.
        errno: i32,
    },
    /// Nobody could try; the reason says why.
    NotTried {
        /// One sentence.
        reason: String,
    },
}

impl Attempt {
    /// Whether it worked.
    pub const fn works(&self) -> bool {
        matches!(self, Self::Works)
    }
}

/// The kind of step at which an attempt was refused; decides the blocker (`spec/containment.md` §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Making a namespace: the text begins with `unshare` or `clone`.
    Unshare,
    /// Writing an id map: `uid_map`, `gid_map`, `setgroups`.
    IdMap,
    /// Entering a namespace made before: `setns`.
    Join,
    /// Propagation or a file system: `mount`, `tmpfs`, `bind`.
    Mount,
    /// Changing the root: `parking`, `pivot_root`, `umount`, `detach`.
    Pivot,
    /// Anything else; in a network attempt, a step on the interfaces, routes or sockets.
    Other,
}

impl Step {
    /// Reads the kind off the words of [`Attempt::Refused`].
    pub fn of(step: &str) -> Self {
        let begins = |names: &[&str]| names.iter().any(|name| step.starts_with(name));
        if begins(&["unshare", "clone"]) {
            Self::Unshare
        } else if begins(&["uid_map", "gid_map", "setgroups"]) {
            Self::IdMap
        } else if begins(&["setns"]) {
            Self::Join
        } else if begins(&["parking", "pivot_root", "umount", "detach"]) {
            Self::Pivot
        } else if begins(&["mount", "tmpfs", "bind", "private"]) {
            Self::Mount
        } else {
            Self::Other
        }
    }
}

/// Landlock on this kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandlockProbe {
    /// The kernel's own ABI number; `None` where there is no Landlock.
    pub abi: Option<u32>,
    /// A child was restricted by an allow-everything ruleset, fully enforced.
    pub enforced: Attempt,
    /// The kernel's errata bitmask, where it can be asked.
    pub errata: Option<u32>,
}

/// Namespaces and mounts, each tried with what a capsule really needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceProbe {
    /// The session's network namespace, by its real creator with an empty allow list.
    pub network: Attempt,
    /// A private mount namespace with a bind over `/tmp`.
    pub mount: Attempt,
    /// The composed-root rehearsal: tmpfs, parking folder, `pivot_root`, detach.
    pub composed_root: Attempt,
    /// A fresh procfs in a new pid namespace.
    pub procfs: Attempt,
    /// `mount_setattr` exists (5.12).
    pub mount_setattr: bool,
    /// `openat2` exists (5.6).
    pub openat2: bool,
}

/// Readings that only word a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppArmorReading {
    /// `/sys/module/apparmor/parameters/enabled`, trimmed.
    pub enabled: Option<String>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, trimmed.
    pub restrict_unprivileged_userns: Option<String>,
    /// The profile confining this process.
    pub profile: Option<String>,
}

/// How control groups are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CgroupLayout {
    /// Nothing mounted.
    None,
    /// One hierarchy a controller.
    V1,
    /// Controllers on v1, a v2 tree beside them.
    Hybrid,
    /// One unified tree.
    V2,
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
    /// Has the capabilities of the host's root (`CAP_SYS_ADMIN` in the initial user namespace).
    pub privileged: bool,
}

/// Everything that was found out about a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostProbe {
    /// `linux`, or what it is instead.
    pub os: String,
    /// `x86_64`, `aarch64`, …
    pub arch: String,
    /// `uname -r`; words only, decides nothing.
    pub kernel: String,
    /// Who asked.
    pub caller: Caller,
    /// Landlock.
    pub landlock: LandlockProbe,
    /// Namespaces.
    pub namespaces: NamespaceProbe,
    /// `AppArmor`.
    pub apparmor: AppArmorReading,
    /// A seccomp filter can be loaded.
    pub seccomp: bool,
    /// Control groups.
    pub cgroup: CgroupLayout,
}
