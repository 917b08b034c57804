//! `linux.seccomp` as a BPF program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A compiled filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFilter {
    /// Classic BPF, one instruction a word: code, jt, jf from the high bits, k below.
    pub program: Vec<u64>,
    /// `SECCOMP_FILTER_FLAG_*`.
    pub flags: u32,
    /// Where the notify descriptor goes; set when an action notifies.
    pub listener: Option<Listener>,
}

/// Who answers notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// A unix socket of the host.
    pub path: PathBuf,
    /// Passed on as it is.
    pub metadata: String,
}

/// Compiles `linux.seccomp`; `None`: it filters nothing.
pub(crate) fn compile(
    seccomp: &oci_spec::runtime::LinuxSeccomp,
) -> Result<Option<SyscallFilter>, crate::error::ExecPlanError> {
    let filters = seccomp.syscalls().as_ref().is_some_and(|list| !list.is_empty());
    if filters {
        let key = "linux.seccomp".to_owned();
        return Err(crate::error::ExecPlanError::Conflict {
            key,
            reason: "cannot be compiled yet",
        });
    }
    Ok(None)
}
