//! Decides which code of the table an error of a verb has.

use std::error::Error;

use mur_manifest::Code;

use super::{
    CreateError, CriuError, DeleteError, ExecError, InvalidExec, InvalidVersion, KillError,
    PauseError, StartError, UpdateError,
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
    } else if let Some(error) = error.downcast_ref::<CriuError>() {
        let status = matches!(error, CriuError::NotRunning { .. });
        Some(if status { Code::ERun205 } else { Code::ERun208 })
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
    if let Some(CriuError::Store(store)) = error.downcast_ref() {
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
    use std::io;

    use super::*;
    use crate::cgroup::LimitError;
    use crate::engine::HookCause;
    use crate::state::Status;

    #[test]
    fn each_kind_of_error_has_its_row() {
        let id = || "web".parse().unwrap();
        let invalid = "..".parse::<crate::id::ContainerId>().unwrap_err();
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let hook =
            HookFault { program: "/h".into(), cause: HookCause::Exited(1), output: String::new() };
        let limit = LimitError::NoController { limit: "pids", controller: "pids".to_owned() };
        let program = EngineError::Program {
            name: "x".into(),
            reason: "no such file".into(),
            source: refused(),
        };
        let step = EngineError::Step { step: "mounting `/proc`".to_owned(), source: refused() };
        let no_criu = CriuError::NoCriu { source: std::io::ErrorKind::NotFound.into() };
        let errors: [(Box<dyn Error>, Code); 12] = [
            (Box::new(no_criu), Code::ERun208),
            (Box::new(program), Code::ERun201),
            (Box::new(step), Code::ERun200),
            (Box::new(hook), Code::ERun209),
            (Box::new(invalid), Code::ERun202),
            (Box::new(StoreError::Exists { id: id() }), Code::ERun203),
            (Box::new(StoreError::NotFound { id: id() }), Code::ERun204),
            (Box::new(KillError::NotRunning { id: id(), status: Status::Stopped }), Code::ERun205),
            (Box::new(DeleteError::Store(StoreError::NotFound { id: id() })), Code::ERun204),
            (Box::new(StoreError::HalfMade { id: id() }), Code::ERun206),
            (Box::new(ScopeError::Limit { source: limit }), Code::ERun207),
            (Box::new(ScopeError::NoScope { why: String::new() }), Code::ERun012),
        ];
        for (error, code) in errors {
            assert_eq!(code_of(error.as_ref()), Some(code), "{error}");
        }
    }
}
