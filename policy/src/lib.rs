//! Capabilities and host facts in, what is enforced and the report of it out. Floor 1; pure.

mod class;
mod host;
pub mod landlock;

pub use class::{ContainmentClass, Tier};
pub use host::{
    AppArmorReading, Attempt, Caller, CgroupLayout, HostProbe, LandlockProbe, NamespaceProbe,
};
