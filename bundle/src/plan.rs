//! Decides a whole bundle from a policy, a decision and the host's layout.

use std::fmt::Write as _;

use mur_policy::{CapabilityPolicy, ContainmentDecision, confinement};
use oci_spec::runtime::Spec;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::annotation::SCOPE_DIGEST;
use crate::root::{Ground, compose};
use crate::spec::spec;
use crate::{HostLayout, PlanError, RootfsStep};

/// A bundle, decided: its config.json and what its folder is made of. The same input gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundlePlan {
    spec: Spec,
    rootfs: Vec<RootfsStep>,
    scope: Option<String>,
}

impl BundlePlan {
    /// The config.json.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What is made in the bundle's folder, in this order.
    pub fn rootfs(&self) -> &[RootfsStep] {
        &self.rootfs
    }

    /// `murmur-scope.json`, where it was given.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// The bytes of config.json: keys of maps sorted, so that they depend on nothing but the plan.
    ///
    /// # Errors
    /// A value has no JSON form.
    pub fn config_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut value = serde_json::to_value(&self.spec)?;
        sort_maps(&mut value);
        let mut bytes = serde_json::to_vec_pretty(&value)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Leaves everything to whoever writes it, for tests by an ordinary user.
    #[cfg(test)]
    pub(crate) fn forget_owners(&mut self) {
        for step in &mut self.rootfs {
            step.owner = None;
        }
    }

    /// Adds a step, to make a plan that cannot be written.
    #[cfg(test)]
    pub(crate) fn push_step(&mut self, step: RootfsStep) {
        self.rootfs.push(step);
    }

    /// Adds `murmur-scope.json` and the annotation that holds its digest.
    #[must_use]
    pub fn with_scope(mut self, scope_json: String) -> Self {
        let mut annotations = self.spec.annotations().clone().unwrap_or_default();
        annotations.insert(SCOPE_DIGEST.to_owned(), digest(scope_json.as_bytes()));
        self.spec.set_annotations(Some(annotations));
        self.scope = Some(scope_json);
        self
    }
}

/// SHA-256 of some bytes, as `sha256:<hex>`.
pub fn digest(bytes: &[u8]) -> String {
    let mut hex = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Sorts the keys of the one map of the runtime-spec whose order the type leaves to chance.
fn sort_maps(spec: &mut serde_json::Value) {
    if let Some(annotations) = spec.get_mut("annotations").and_then(|map| map.as_object_mut()) {
        annotations.sort_keys();
    }
}

/// Plans the bundle of one capsule.
///
/// # Errors
/// The first thing that makes it impossible: a tier that is no container, nothing to run, a program or a
/// tree that is not there, a folder where it cannot be.
pub fn plan(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    layout: &HostLayout,
) -> Result<BundlePlan, PlanError> {
    let refused = || PlanError::NoContainer { tier: decision.applied };
    let confinement = confinement(policy, decision).ok_or_else(refused)?;
    if !decision.mount_namespace {
        return Err(PlanError::NoMountNamespace);
    }
    if layout.identity.uid.host == 0
        && layout.identity.host_root_because.is_some()
        && confinement.landlock.is_none()
    {
        return Err(PlanError::HostRoot);
    }
    let ground = Ground { policy, decision, layout };
    let tree = compose(ground)?;
    if let Some(odd) = tree.paths().find(|path| path.to_str().is_none()) {
        return Err(PlanError::NotText { path: odd.into() });
    }
    Ok(BundlePlan { spec: spec(ground, &tree, &confinement)?, rootfs: tree.steps(), scope: None })
}

#[cfg(test)]
mod tests;
