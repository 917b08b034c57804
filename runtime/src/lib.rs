//! Probes the host, keeps container state, starts and confines processes. Floor 4.

pub mod cgroup;
pub mod confine;
pub mod engine;
pub mod error;
pub mod hook;
pub mod id;
mod kernel_file;
pub mod layout;
pub mod plan;
pub mod probe;
pub mod state;
pub mod store;
mod sys;
pub mod verb;

pub use layout::{IdentityChoice, LayoutError, LayoutRequest, Purpose, read_layout};
pub use probe::probe_host;
