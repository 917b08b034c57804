//! The words of a capsule: manifest, grammars, error codes.
//!
//! Floor 0, pure: bytes in, values or faults out. Nothing here looks at the machine.

mod block;
pub mod code;
mod fault;
pub mod grammar;
pub mod location;
pub mod lock;
pub mod manifest;
pub mod operator;
mod parse;
mod raw;
mod reader;
mod render;
#[cfg(test)]
mod sample;
mod scalar;
mod schema;
mod source;
mod suggest;
mod text;
mod word;

pub use code::{Code, CodeInfo, Coded, Severity};
pub use fault::{Fault, ManifestErrors};
pub use grammar::{
    ArtifactName, BinaryName, ByteSize, DurationSecs, EnvName, EnvPattern, InstallPattern,
    NetworkAllowRule, PathRule,
};
pub use location::{Location, Spanned};
pub use lock::Lock;
pub use manifest::{Capabilities, ContainmentFloor, Manifest};
pub use operator::{OperatorConfig, OperatorFiles, operator_schema};
pub use parse::{parse, yaml_to_json};
pub use render::{json_to_yaml, render};
pub use schema::schema;
pub use source::{Source, Warning};
pub use text::visible;
