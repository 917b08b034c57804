//! Decides from a config.json what a new process has to do, before anything is touched.

mod device;
mod memory;
mod mount;
mod mount_option;
mod namespace;
mod net_device;
mod options;
mod order;
mod process;
mod step;
mod sysctl;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;

use oci_spec::runtime::{Process, Spec};
use serde::{Deserialize, Serialize};

use crate::confine::{Landlock, SyscallFilter};
use crate::error::ExecPlanError;

pub use device::{Device, DeviceKind};
pub use mount::{Attributes, Idmap, Mount, Mounted, Propagation};
pub use mount_option::known_words as mount_words;
pub use namespace::{IdMaps, IdRange, Joined, NamespaceKind, Namespaces};
pub use net_device::NetDevice;
pub use options::{ExecOptions, Holder, Orphan, RootEntry, SessionKeyring};
pub use process::Program;
pub use step::{
    Affinity, Clock, ClockOffset, Confinement, Entry, Identity, Ids, Meeting, MemoryPolicy, Rlimit,
    Root, RootStep, Schedule, Step, Sysctl, Terminal,
};

pub(crate) use device::LINKS as DEVICE_LINKS;

/// Everything that starting a container takes, decided; plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecPlan {
    /// Its namespaces.
    pub namespaces: Namespaces,
    /// Interfaces moved to its network namespace.
    pub net_devices: Vec<NetDevice>,
    /// Cpus the process may run on until it is in its cgroup.
    pub initial_affinity: Option<Vec<u64>>,
    /// What is executed.
    pub program: Program,
    /// What the new process does, in this order.
    pub steps: Vec<Step>,
    /// Who is held by the same.
    pub base: TenantBase,
}

/// What later processes of a container are held by; a verb keeps it in its state file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantBase {
    /// Namespaces the container has of its own.
    pub namespaces: Vec<NamespaceKind>,
    /// Its Landlock ruleset.
    pub landlock: Option<Landlock>,
    /// Its syscall filter.
    pub filter: Option<SyscallFilter>,
    /// The syscall filter of the policy that narrows it, over that of its config.
    pub narrower: Option<SyscallFilter>,
    /// Execution domain.
    pub personality: Option<u64>,
    /// User and group id 0 exist in it, as far as is known.
    pub has_root: bool,
    /// Its root on the host, where it has no mount namespace.
    pub host_root: Option<std::path::PathBuf>,
}

/// Everything that one more process in a container takes, decided; plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantPlan {
    /// Namespaces to enter.
    pub namespaces: Vec<NamespaceKind>,
    /// Cpus the process may run on until it is in its cgroup.
    pub initial_affinity: Option<Vec<u64>>,
    /// What is executed.
    pub program: Program,
    /// What the new process does, in this order.
    pub steps: Vec<Step>,
}

impl ExecPlan {
    /// What `exec` into this container needs to know of it.
    pub fn tenant_base(&self) -> TenantBase {
        self.base.clone()
    }
}

/// Plans a container. `bundle` is the absolute folder that relative paths start from.
///
/// # Errors
/// The first thing that is missing, unknown or contradictory, by its key path.
pub fn plan(spec: &Spec, bundle: &Path, options: &ExecOptions) -> Result<ExecPlan, ExecPlanError> {
    order::container(spec, bundle, options)
}

/// Plans one more process for a container that runs (`exec`).
///
/// # Errors
/// As [`plan`].
pub fn plan_tenant(
    base: &TenantBase,
    process: &Process,
    options: &ExecOptions,
) -> Result<TenantPlan, ExecPlanError> {
    order::tenant(base, process, options)
}
