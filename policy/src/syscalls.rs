//! The syscall allow-list of a capsule as data: `spec/containment.md` §6.2 with decision 7 of the design.

use serde::{Deserialize, Serialize};

/// One rule on some calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallRule {
    /// Kernel names.
    pub names: Vec<String>,
    /// `None` allows; `Some(errno)` refuses with it.
    pub errno: Option<u32>,
    /// All must hold for the rule to apply.
    pub args: Vec<ArgRule>,
}

/// A condition on one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgRule {
    /// 0..=5.
    pub index: u32,
    /// Compare only these bits; `None` compares all.
    pub mask: Option<u64>,
    /// The value to equal.
    pub value: u64,
}

/// A whole filter: first matching rule wins, else `default_errno`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFilter {
    /// `EPERM`: not part of the surface.
    pub default_errno: u32,
    /// The rules.
    pub rules: Vec<SyscallRule>,
}
