//! The capsule as a bundle on disk: the same plan as a run, without a session.

use std::path::Path;

use mur_bundle::{Bundle, BundlePlan, HostLayout, plan, write};
use mur_policy::ScopeReport;
use mur_runtime::layout::{IdentityChoice, Purpose};

use super::error::{BundleError, PrepareError};
use super::explain::explain;
use super::prepare::Prepared;

/// A bundle that was planned, and the report that goes with it.
#[derive(Debug)]
pub struct PlannedBundle {
    plan: BundlePlan,
    /// What the capsule may do on this host.
    pub report: ScopeReport,
    /// The host's files it was planned from.
    pub layout: HostLayout,
}

/// Plans the bundle of a launch. `identity` is for the runtime that shall run it.
pub fn plan_bundle(
    prepared: &Prepared,
    identity: IdentityChoice,
) -> Result<PlannedBundle, BundleError> {
    prepared.require_host()?;
    let layout = prepared.read_dry_layout(identity, Purpose::Bundle)?;
    prepared.require_command(&layout)?;
    let plan = plan(&prepared.policy, &prepared.decision, &layout).map_err(PrepareError::from)?;
    let report = explain(prepared, identity)?.report;
    let plan = plan.with_scope(report.to_json()?);
    Ok(PlannedBundle { plan, report, layout })
}

impl PlannedBundle {
    /// The bytes of config.json.
    pub fn config_json(&self) -> Result<Vec<u8>, BundleError> {
        Ok(self.plan.config_json()?)
    }

    /// Writes it into a folder that must not exist.
    pub fn write(&self, dir: &Path) -> Result<Bundle, BundleError> {
        Ok(write(&self.plan, dir)?)
    }
}
