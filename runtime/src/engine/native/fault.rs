//! How a step fails, and the words the parent makes of it.

use std::io;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::super::error::EngineError;
use super::super::hook::{HookFault, HookPoint};
use super::super::report::StartFailure;
use crate::confine::landlock::LandlockFault;
use crate::plan::Step;

/// Why a step failed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Fault {
    /// The kernel refused.
    Errno(i32),
    /// The kernel refused a part of the step.
    Part(String, i32),
    /// We refuse, whatever the kernel says.
    Refused(String),
    /// A hook failed.
    Hook(HookPoint, HookFault),
    /// The program cannot be executed: its name, why, and the kernel's answer.
    Program(String, String, i32),
}

/// A fault and the step it belongs to; what goes over the channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Word {
    /// Index into the plan's steps.
    pub step: usize,
    /// What happened.
    pub fault: Fault,
}

impl Fault {
    /// Names the part of a step that the kernel refused.
    pub(super) fn part(part: impl Into<String>) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::Part(part.into(), errno as i32)
    }

    pub(super) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }

    /// Puts the fault of `step` into words.
    pub(super) fn into_error(self, step: Option<&Step>) -> EngineError {
        let step = step.map_or_else(|| "cannot start the process".to_owned(), Step::to_string);
        match self {
            Self::Errno(errno) => {
                EngineError::Step { step, source: io::Error::from_raw_os_error(errno) }
            }
            Self::Part(part, errno) => EngineError::Step {
                step: format!("{step}: {part}"),
                source: io::Error::from_raw_os_error(errno),
            },
            Self::Refused(reason) => EngineError::Refused { step, reason },
            Self::Hook(point, source) => EngineError::Hook { point, source },
            Self::Program(name, reason, errno) => {
                EngineError::Program { name, reason, source: io::Error::from_raw_os_error(errno) }
            }
        }
    }

    /// The same as one line, for `start`, which has no plan.
    pub(super) fn into_report(self, step: Option<&Step>) -> StartFailure {
        let errno = match &self {
            Self::Errno(errno) | Self::Part(_, errno) | Self::Program(_, _, errno) => Some(*errno),
            Self::Refused(_) | Self::Hook(..) => None,
        };
        let error = self.into_error(step);
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            message = format!("{message}: {inner}");
            cause = inner.source();
        }
        StartFailure { message, errno }
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno as i32)
    }
}

impl From<LandlockFault> for Fault {
    fn from(fault: LandlockFault) -> Self {
        match fault {
            LandlockFault::Kernel { errno, path: None } => errno.into(),
            LandlockFault::Kernel { errno, path: Some(path) } => {
                Self::part(format!("rule for `{path}`"))(errno)
            }
            LandlockFault::Refused(reason) => Self::Refused(reason),
        }
    }
}
