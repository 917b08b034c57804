//! Why a process could not be started.

use std::io;
use std::path::PathBuf;

use super::hook::{HookFault, HookPoint};

/// An engine could not start a process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The parent could not prepare or supervise the start.
    #[error("{action}")]
    Parent {
        /// What was being done, as `cannot create the process`.
        action: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A step in the new process failed.
    #[error("{step}")]
    Step {
        /// The step in words, from the plan.
        step: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A step in the new process was refused by us, not by the kernel.
    #[error("{step}: {reason}")]
    Refused {
        /// The step in words, from the plan.
        step: String,
        /// What we found.
        reason: String,
    },
    /// The program cannot be executed. The words are those engines look for.
    #[error("exec: {name:?}: {reason}")]
    Program {
        /// `process.args[0]`.
        name: String,
        /// As `executable file not found in $PATH`.
        reason: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A hook failed.
    #[error("{point:?} hook failed")]
    Hook {
        /// Where.
        point: HookPoint,
        /// Which, and how.
        source: HookFault,
    },
    /// The process ended before its program ran, without a word.
    #[error("the new process ended early ({how})")]
    Vanished {
        /// `exited with N` or `was ended by signal N`.
        how: String,
    },
    /// The seat lacks what the plan needs.
    #[error("{needed} is needed and was not given")]
    Seat {
        /// What is missing.
        needed: &'static str,
    },
    /// A descriptor that shall be kept was not passed by the caller.
    #[error("descriptor {number} is to be kept for the program, and was not passed")]
    NotPassed {
        /// Its number.
        number: u32,
    },
    /// A namespace that the plan names cannot be opened.
    #[error("cannot open `{}`", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
}
