//! Containment classes (promises) and tiers (kernel mechanisms), `spec/containment.md` §1 and §3.

use mur_manifest::ContainmentFloor;
use serde::{Deserialize, Serialize};

/// A promise about what holds a capsule's processes. Ordered: a later variant promises more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainmentClass {
    /// No mechanism at all, by the operator's own wish.
    Unconfined,
    /// Honoured by dispatch and convention; every host satisfies it.
    Advisory,
    /// File access and exec are mediated: what is not granted is denied.
    Scoped,
    /// A composed private root: what is not granted is absent.
    Sealed,
}

impl ContainmentClass {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unconfined => "unconfined",
            Self::Advisory => "advisory",
            Self::Scoped => "scoped",
            Self::Sealed => "sealed",
        }
    }
}

impl From<ContainmentFloor> for ContainmentClass {
    fn from(floor: ContainmentFloor) -> Self {
        match floor {
            ContainmentFloor::Unconfined => Self::Unconfined,
            ContainmentFloor::Advisory => Self::Advisory,
            ContainmentFloor::Scoped => Self::Scoped,
            ContainmentFloor::Sealed => Self::Sealed,
        }
    }
}

impl std::fmt::Display for ContainmentClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of kernel mechanisms. The class that is achieved is read off the tier that is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// No kernel mechanism, by the operator's own wish.
    #[serde(rename = "unconfined")]
    Unconfined,
    /// Not Linux: nothing in the kernel holds a command.
    #[serde(rename = "none")]
    EnvironmentOnly,
    /// Syscall filter, empty capabilities, namespaces; no Landlock.
    #[serde(rename = "seccomp-only")]
    SeccompOnly,
    /// Landlock over the host's own tree, and the syscall filter.
    #[serde(rename = "landlock+seccomp")]
    Full,
    /// A composed root, and Landlock and the syscall filter inside it.
    #[serde(rename = "mountns+pivot_root+landlock+seccomp")]
    Sealed,
}

impl Tier {
    /// The wire name, as `enforcement_tier` reports it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unconfined => "unconfined",
            Self::EnvironmentOnly => "none",
            Self::SeccompOnly => "seccomp-only",
            Self::Full => "landlock+seccomp",
            Self::Sealed => "mountns+pivot_root+landlock+seccomp",
        }
    }

    /// The class this tier backs.
    pub const fn class(self) -> ContainmentClass {
        match self {
            Self::Unconfined => ContainmentClass::Unconfined,
            Self::EnvironmentOnly | Self::SeccompOnly => ContainmentClass::Advisory,
            Self::Full => ContainmentClass::Scoped,
            Self::Sealed => ContainmentClass::Sealed,
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
