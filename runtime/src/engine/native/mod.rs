//! Our own executor: one `clone3`, a child that only carries out steps.

use super::{Engine, EngineError, InitProcess, Seat, Target};
use crate::plan::{ExecPlan, TenantPlan};

/// The default engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeEngine;

impl Engine for NativeEngine {
    fn create(&self, _plan: &ExecPlan, _seat: Seat<'_>) -> Result<InitProcess, EngineError> {
        Err(EngineError::Seat { needed: "an executor (it lands with the next change)" })
    }

    fn exec(
        &self,
        _plan: &TenantPlan,
        _target: &Target<'_>,
        _seat: Seat<'_>,
    ) -> Result<InitProcess, EngineError> {
        Err(EngineError::Seat { needed: "an executor (it lands with the next change)" })
    }
}
