//! The words of a capsule: manifest, lock file, operator's configuration, grammars and codes.
//!
//! Floor 0, pure: bytes in, values or faults out. Nothing here looks at the machine, so a manifest
//! parses on one that will never run it. Every fault of a file is found at once:
//!
//! ```
//! use mur_manifest::{Coded, NetworkAllowRule, parse};
//!
//! let faults = parse(b"name: demo\ncapabilities: {shell: {allow: [bin/sh]}}\n").unwrap_err();
//! let lines: Vec<String> = faults.faults().iter().map(|f| format!("{}: {f}", f.code())).collect();
//! assert_eq!(lines, [
//!     "E-MAN-001: version (line 1, column 1): the key is missing",
//!     "E-MAN-003: capabilities.shell.allow[0] (line 2, column 32): `bin/sh` has the character `/`; \
//!      write the name of a program, without `/` and blanks, as `python3`",
//! ]);
//!
//! let manifest = parse(b"name: demo\nversion: '1'\ncapabilities: {network: {allow: [a.example]}}\n")?;
//! let network = manifest.capabilities.and_then(|grants| grants.network).unwrap_or_default();
//! let entry = &network.allow.unwrap_or_default()[0];
//! let rule: NetworkAllowRule = entry.value.parse()?;
//! assert!(rule.covers(&"https://A.example:443".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each block of keys is one table ([`manifest`], [`lock`], [`operator`]): from it come the struct,
//! the known keys and their defaults, how it is read and rendered, and its JSON Schema.

mod block;
pub mod code;
mod fault;
pub mod grammar;
pub mod location;
pub mod lock;
pub mod manifest;
pub mod operator;
pub mod package;
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
pub use package::Package;
pub use parse::{parse, yaml_to_json};
pub use render::{json_to_yaml, render};
pub use schema::schema;
pub use source::{Source, Warning};
pub use text::visible;
