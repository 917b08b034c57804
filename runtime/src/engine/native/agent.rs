//! Passes a seccomp notify descriptor on to the agent that answers.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::unistd::Pid;

use super::super::error::EngineError;
use super::super::seat::StateSource;
use crate::confine::SyscallFilter;
use crate::plan::{Confinement, Step};

/// Sends the descriptor with the container process state (runtime-spec, config-linux.md, "The Container
/// Process State").
pub(super) fn pass(
    listener: &OwnedFd,
    pid: Pid,
    steps: &[Step],
    state: Option<&dyn StateSource>,
) -> Result<(), EngineError> {
    let agent = steps.iter().find_map(filter_of).and_then(|filter| filter.listener.as_ref());
    let (Some(agent), Some(source)) = (agent, state) else {
        return Err(EngineError::Seat { needed: "the state for the seccomp agent" });
    };
    let failed = |source: io::Error| EngineError::Parent {
        action: format!("cannot pass the seccomp listener to `{}`", agent.path.display()),
        source,
    };
    let state = source.state(pid);
    let message = serde_json::json!({
        "ociVersion": state.get("ociVersion"),
        "fds": ["seccompFd"],
        "pid": pid.as_raw(),
        "metadata": agent.metadata,
        "state": state,
    });
    let stream = UnixStream::connect(&agent.path).map_err(failed)?;
    let text = message.to_string();
    let rights = [listener.as_raw_fd()];
    let control = [ControlMessage::ScmRights(&rights)];
    let parts = [IoSlice::new(text.as_bytes())];
    sendmsg::<()>(stream.as_raw_fd(), &parts, &control, MsgFlags::MSG_NOSIGNAL, None)
        .map_err(|errno| failed(errno.into()))?;
    Ok(())
}

/// The syscall filter, where the step loads one.
pub(super) fn filter_of(step: &Step) -> Option<&SyscallFilter> {
    if let Step::Confinement(Confinement::SyscallFilter(filter)) = step {
        Some(filter)
    } else {
        None
    }
}
