//! A Landlock ruleset as data: what annotation `org.murmur.landlock` carries and the runtime applies.
//!
//! The shape follows the open runtime-spec proposal (`process.landlock`): `handledAccess`,
//! `rules.pathBeneath[]`, `rules.networkPort[]`; `abi`, `scoped` and `logFlags` are ours.

mod rights;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use rights::{LandlockBase, RightSet, handled_fs, lost_below};

/// The annotation that carries a [`LandlockRuleset`] as compact JSON.
pub const LANDLOCK_ANNOTATION: &str = "org.murmur.landlock";

/// The newest Landlock ABI this build knows; the ruleset is built at the lower of it and the kernel's.
pub const LANDLOCK_TARGET_ABI: u32 = 10;

/// One file-system right, by the kernel's name without its prefix (landlock(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the kernel's own, described in landlock(7)")]
pub enum FsAccess {
    Execute,
    WriteFile,
    ReadFile,
    ReadDir,
    RemoveDir,
    RemoveFile,
    MakeChar,
    MakeDir,
    MakeReg,
    MakeSock,
    MakeFifo,
    MakeBlock,
    MakeSym,
    /// ABI 2.
    Refer,
    /// ABI 3.
    Truncate,
    /// ABI 5.
    IoctlDev,
    /// ABI 9.
    ResolveUnix,
}

/// One network right (ABI 4; the UDP ones ABI 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the kernel's own, described in landlock(7)")]
pub enum NetAccess {
    BindTcp,
    ConnectTcp,
    BindUdp,
    ConnectSendUdp,
}

/// One scope (ABI 6): what may be reached only inside the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the kernel's own, described in landlock(7)")]
pub enum Scope {
    AbstractUnixSocket,
    Signal,
}

/// What the domain mediates; what is not listed stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandledAccess {
    /// Mediated file-system rights.
    pub fs: Vec<FsAccess>,
    /// Mediated network rights; empty below ABI 4.
    #[serde(default)]
    pub net: Vec<NetAccess>,
}

/// Rights beneath some paths. Rights a non-directory cannot carry are masked when the rule is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathBeneath {
    /// What is allowed.
    pub allowed_access: Vec<FsAccess>,
    /// Absolute paths in the container's root, opened after the pivot.
    pub paths: Vec<PathBuf>,
    /// `true`: a path that cannot be opened drops the rule (it only narrows). `false`: it is fatal.
    #[serde(default)]
    pub optional: bool,
}

/// Rights on some TCP ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPort {
    /// What is allowed.
    pub allowed_access: Vec<NetAccess>,
    /// TCP ports.
    pub ports: Vec<u16>,
}

/// All rules of one ruleset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// File-system rules.
    #[serde(default)]
    pub path_beneath: Vec<PathBeneath>,
    /// Network rules.
    #[serde(default)]
    pub network_port: Vec<NetworkPort>,
}

/// One ruleset, in one layer. Applied as a hard requirement: not fully enforced means no exec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LandlockRuleset {
    /// The ABI it was built for; a kernel below it refuses the container.
    pub abi: u32,
    /// What is mediated.
    pub handled_access: HandledAccess,
    /// What is allowed.
    pub rules: Rules,
    /// Scopes (ABI 6).
    #[serde(default)]
    pub scoped: Vec<Scope>,
    /// Audit log flags (ABI 7), by the kernel's name: `same_exec_off`, `new_exec_on`, `subdomains_off`.
    #[serde(default)]
    pub log_flags: Vec<String>,
}
