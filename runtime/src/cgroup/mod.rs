//! Control groups of containers: where they are, what they may use, and how they are ended.
//!
//! Deciding is pure: [`Layout`] says what the host has, [`place`](place::place) where a container
//! goes, [`limit::lower`] which files carry its limits. [`Scope`] then makes it, and [`Placement`]
//! is what a state file keeps of it. Version 1, version 2 and hybrid hosts take the same way: each
//! controller is looked up where it lives.

mod apply;
mod capsule;
mod device;
mod error;
mod folder;
mod layout;
mod limit;
mod member;
mod place;
mod plan;
mod scope;
mod stats;
mod systemd;
mod update;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use capsule::{CapsuleScope, ScopeProbe, probe_limits, scope_name, sweep_groups};
pub use device::DeviceError;
pub use error::{MemberError, ScopeError};
pub use layout::{Layout, LayoutError, V1Hierarchy, V2Hierarchy, Version};
pub use limit::{Controller, LimitError, asks_for_limits};
pub use member::Motion;
pub use place::{Instance, PlaceError, Placement, Unit, V1Folder};
pub use plan::{LimitOutcome, Rights, ScopePlan, ScopeRequest, Wished};
pub use scope::Scope;
pub use stats::{Counters, Stats};
pub use systemd::SystemdError;
pub use update::update;

/// Who keeps the groups of containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    /// We do, in the file system.
    Cgroupfs,
    /// systemd does, and delegates them to us.
    Systemd(Instance),
    /// Nobody: containers stay in the caller's group.
    Disabled,
}

/// A word that is no manager.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no cgroup manager; `cgroupfs`, `systemd` and `disabled` are")]
pub struct UnknownManager(String);

impl FromStr for Manager {
    type Err = UnknownManager;

    /// Reads the word of the command line; `systemd` is the caller's: the user's when it is not root.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cgroupfs" => Ok(Self::Cgroupfs),
            "systemd" => Ok(Self::systemd_of_caller()),
            "disabled" => Ok(Self::Disabled),
            other => Err(UnknownManager(other.to_owned())),
        }
    }
}

impl Manager {
    /// systemd's instance for the caller: the host's for the host's root, else the user's.
    pub fn systemd_of_caller() -> Self {
        Self::Systemd(match Rights::of_caller() {
            Rights::Root => Instance::System,
            Rights::Rootless => Instance::User,
        })
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cgroupfs => "cgroupfs",
            Self::Systemd(_) => "systemd",
            Self::Disabled => "disabled",
        })
    }
}
