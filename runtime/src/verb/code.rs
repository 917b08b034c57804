//! Decides which code of the table an error of a verb has.

use std::error::Error;

use mur_manifest::Code;

use super::{
    CreateError, DeleteError, ExecError, InvalidExec, InvalidVersion, KillError, PauseError,
    StartError, UpdateError,
};
use crate::cgroup::ScopeError;
use crate::engine::{EngineError, HookFault, StartFailure};
use crate::error::ExecPlanError;
use crate::hook::InvalidHook;
use crate::id::InvalidContainerId;
use crate::store::StoreError;

/// The code of one error of a chain; `None` for an error without, whose causes may have one.
pub fn code_of(error: &(dyn Error + 'static)) -> Option<Code> {
    if error.is::<InvalidContainerId>() {
        Some(Code::ERun202)
    } else if error.is::<InvalidHook>()
        || error.is::<InvalidVersion>()
        || error.is::<ExecPlanError>()
    {
        Some(Code::EBun202)
    } else if error.is::<HookFault>() {
        Some(Code::ERun209)
    } else if error.is::<StartFailure>() || error.is::<InvalidExec>() {
        Some(Code::ERun201)
    } else if let Some(error) = store_error(error) {
        of_store(error)
    } else if let Some(error) = error.downcast_ref::<ScopeError>() {
        Some(of_scope(error))
    } else if let Some(error) = error.downcast_ref::<EngineError>() {
        of_engine(error)
    } else {
        is_about_status(error).then_some(Code::ERun205)
    }
}

/// A store's error, also where a verb passes it on as its own.
fn store_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a StoreError> {
    if let Some(StartError::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(KillError::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(DeleteError::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(PauseError::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(UpdateError::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(CreateError::Name(store)) = error.downcast_ref() {
        return Some(store);
    }
    error.downcast_ref()
}

fn of_engine(error: &EngineError) -> Option<Code> {
    match error {
        EngineError::Program { .. } => Some(Code::ERun201),
        // The hook itself is the cause, and has the code.
        EngineError::Hook { .. } => None,
        EngineError::Parent { .. }
        | EngineError::Step { .. }
        | EngineError::Refused { .. }
        | EngineError::Vanished { .. }
        | EngineError::Seat { .. }
        | EngineError::NotPassed { .. }
        | EngineError::Open { .. } => Some(Code::ERun200),
    }
}

fn of_store(error: &StoreError) -> Option<Code> {
    match error {
        StoreError::NotFound { .. } => Some(Code::ERun204),
        StoreError::Exists { .. } => Some(Code::ERun203),
        StoreError::Busy { .. } => Some(Code::ERun205),
        StoreError::HalfMade { .. } | StoreError::Parse { .. } | StoreError::Format { .. } => {
            Some(Code::ERun206)
        }
        StoreError::NoRoot | StoreError::File { .. } => None,
    }
}

fn of_scope(error: &ScopeError) -> Code {
    match error {
        ScopeError::Limit { .. } | ScopeError::Devices { .. } => Code::ERun207,
        ScopeError::Place { .. } | ScopeError::Root { .. } => Code::EBun202,
        ScopeError::Layout { .. }
        | ScopeError::NoScope { .. }
        | ScopeError::NotEmpty { .. }
        | ScopeError::Frozen { .. }
        | ScopeError::Create { .. }
        | ScopeError::Enable { .. }
        | ScopeError::Inherit { .. }
        | ScopeError::Read { .. }
        | ScopeError::Set { .. }
        | ScopeError::InUse { .. }
        | ScopeError::Open { .. }
        | ScopeError::Delegate { .. }
        | ScopeError::Members { .. }
        | ScopeError::Remove { .. }
        | ScopeError::Systemd { .. } => Code::ERun012,
    }
}

fn is_about_status(error: &(dyn Error + 'static)) -> bool {
    let start = error.downcast_ref::<StartError>();
    let kill = error.downcast_ref::<KillError>();
    let delete = error.downcast_ref::<DeleteError>();
    let exec = error.downcast_ref::<ExecError>();
    let pause = error.downcast_ref::<PauseError>();
    let update = error.downcast_ref::<UpdateError>();
    let create = error.downcast_ref::<CreateError>();
    matches!(start, Some(StartError::Status { .. }))
        || matches!(kill, Some(KillError::NotRunning { .. }))
        || matches!(delete, Some(DeleteError::NotStopped { .. }))
        || matches!(exec, Some(ExecError::NotRunning { .. } | ExecError::Paused { .. }))
        || matches!(pause, Some(PauseError::NotRunning { .. } | PauseError::NotPaused { .. }))
        || matches!(update, Some(UpdateError::NotRunning { .. }))
        || matches!(create, Some(CreateError::Gone { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Status;

    #[test]
    fn each_kind_of_error_has_its_row() {
        let id = || "web".parse().unwrap();
        let invalid = "..".parse::<crate::id::ContainerId>().unwrap_err();
        let errors: [(Box<dyn Error>, &str); 6] = [
            (Box::new(invalid), "E-RUN-202"),
            (Box::new(StoreError::Exists { id: id() }), "E-RUN-203"),
            (Box::new(StoreError::NotFound { id: id() }), "E-RUN-204"),
            (Box::new(KillError::NotRunning { id: id(), status: Status::Stopped }), "E-RUN-205"),
            (Box::new(DeleteError::Store(StoreError::NotFound { id: id() })), "E-RUN-204"),
            (Box::new(ScopeError::NoScope { why: String::new() }), "E-RUN-012"),
        ];
        for (error, code) in errors {
            assert_eq!(
                code_of(error.as_ref()).map(mur_manifest::Code::as_str),
                Some(code),
                "{error}"
            );
        }
    }
}
