//! Starts processes in containers: the seam between a verb (state, cgroup, hooks, kill) and an executor.

mod error;
mod hook;
mod init;
mod native;
mod own_binary;
mod report;
mod seat;

pub use error::EngineError;
pub use hook::{HookCause, HookFault, HookPoint, HookPoints, HookSet};
pub use init::InitProcess;
pub use native::NativeEngine;
pub use own_binary::{ProtectError, own_path, protect_own_binary};
pub use report::{StartFailure, read_start_report};
pub use seat::{CgroupHierarchy, CgroupSeat, Gate, Seat, StateSource, Stdio, Target};

use crate::plan::{ExecPlan, TenantPlan};

/// Carries out plans. Kill, delete, state and events are not its business.
pub trait Engine {
    /// Starts a container's init process.
    ///
    /// With a [`Gate`] it returns when init waits at the gate, ready in every other respect
    /// (`created`). Without one it returns when the program runs.
    ///
    /// # Errors
    /// Whatever refused; no process, mount or namespace of the attempt is left.
    fn create(&self, plan: &ExecPlan, seat: Seat<'_>) -> Result<InitProcess, EngineError>;

    /// Starts one more process in a running container; returns when the program runs.
    ///
    /// # Errors
    /// Whatever refused; the container is as it was.
    fn exec(
        &self,
        plan: &TenantPlan,
        target: &Target<'_>,
        seat: Seat<'_>,
    ) -> Result<InitProcess, EngineError>;
}
