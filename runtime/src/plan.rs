//! Decides from a config.json what a new process has to do, before anything is touched.

mod options;

use std::path::Path;

use oci_spec::runtime::{Process, Spec};
use serde::{Deserialize, Serialize};

use crate::error::ExecPlanError;

pub use options::{ExecOptions, Holder, RootEntry, SessionKeyring};

/// Everything that starting a container takes, decided; plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecPlan {}

/// What later processes of a container are held by; a verb keeps it in its state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantBase {}

/// Everything that one more process in a container takes, decided; plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantPlan {}

impl ExecPlan {
    /// What `exec` into this container needs to know of it.
    pub fn tenant_base(&self) -> TenantBase {
        TenantBase {}
    }
}

/// Plans a container. `bundle` is the absolute folder that relative paths start from.
///
/// # Errors
/// The first thing that is missing, unknown or contradictory, by its key path.
pub fn plan(
    _spec: &Spec,
    _bundle: &Path,
    _options: &ExecOptions,
) -> Result<ExecPlan, ExecPlanError> {
    Ok(ExecPlan {})
}

/// Plans one more process for a container that runs (`exec`).
///
/// # Errors
/// As [`plan`].
pub fn plan_tenant(
    _base: &TenantBase,
    _process: &Process,
    _options: &ExecOptions,
) -> Result<TenantPlan, ExecPlanError> {
    Ok(TenantPlan {})
}
