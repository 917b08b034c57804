//! Which OCI hooks a bundle carries. Floor 2.
//!
//! None: what happens around a capsule's process (its report, its records, its control group) is done by the runtime
//! and the session that start it, and a bundle has to run under any runtime, on a host without `mur` as well.
//!
//! ```
//! use mur_policy::{CapabilityPolicy, ContainmentDecision};
//! fn of(decision: &ContainmentDecision) -> bool {
//!     mur_hooks::hooks_for(decision).is_none()
//! }
//! ```

use mur_policy::ContainmentDecision;
use oci_spec::runtime::Hooks;

/// The hooks of a capsule's bundle; `None` leaves the key out of config.json.
pub const fn hooks_for(_decision: &ContainmentDecision) -> Option<Hooks> {
    None
}
