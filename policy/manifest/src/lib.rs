//! The words of a capsule: manifest, grammars, error codes.
//!
//! Floor 0, pure: bytes in, values or faults out. Nothing here looks at the machine.

mod block;
pub mod code;
pub mod grammar;
pub mod location;
pub mod manifest;
mod source;

pub use code::{Code, CodeInfo, Coded, Severity};
pub use grammar::{
    ArtifactName, BinaryName, ByteSize, DurationSecs, EnvName, EnvPattern, InstallPattern,
    NetworkAllowRule, PathRule,
};
pub use location::{Location, Spanned};
pub use manifest::{Capabilities, ContainmentFloor, Manifest};
pub use source::Source;
