//! Capabilities and host facts in, what is enforced and the report of it out. Floor 1; pure.

mod capability;
mod class;
mod decide;
mod host;
pub mod landlock;
mod syscalls;

pub use capability::{
    CapabilityPolicy, Capsule, Carried, FilePolicy, HostPath, InterpreterRuntime, NetworkPolicy,
    NetworkRule, ProcessPolicy, Resources, ShellPolicy, StagedRuntime,
};
pub use class::{ContainmentClass, Tier};
pub use decide::{ContainmentDecision, host_tier};
pub use host::{
    AppArmorReading, Attempt, Caller, CgroupLayout, HostProbe, LandlockProbe, NamespaceProbe,
};
pub use syscalls::{ArgRule, SyscallFilter, SyscallRule};
