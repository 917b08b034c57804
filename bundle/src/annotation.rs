//! The annotations a bundle carries under `org.murmur.`: who the capsule is and what was decided.

use std::collections::HashMap;

use mur_policy::landlock::{LANDLOCK_ANNOTATION, LandlockRuleset};
use mur_policy::{ArtifactRole, granted_env_names};
use serde::Serialize;
use serde_json::json;

use crate::PlanError;
use crate::root::{Ground, temp_path};

/// SHA-256 of `murmur-scope.json`, as `sha256:<hex>`.
pub const SCOPE_DIGEST: &str = "org.murmur.scope.digest";
/// The tier that was decided, its wire name.
pub(crate) const TIER: &str = "org.murmur.containment.tier";
/// The whole resolved policy, as JSON.
pub const POLICY: &str = "org.murmur.policy";
/// Names of the host's variables whose values are filled in at the start, as JSON.
pub const ENV: &str = "org.murmur.env";

/// Every annotation but the digest of the report, which is made after the plan.
///
/// # Errors
/// A value has no JSON form.
pub(crate) fn annotations(
    ground: Ground<'_>,
    ruleset: Option<&LandlockRuleset>,
) -> Result<HashMap<String, String>, PlanError> {
    let (policy, decision) = (ground.policy, ground.decision);
    let carried = &policy.carried;
    let names = |role| carried.artifacts_of(role).map(|own| own.name.as_str()).collect::<Vec<_>>();
    let temp = temp_path(ground);
    let temp_dir = json!({
        "path": ground.layout.folders.tmp.path,
        "tmpdir": temp,
        "tmp_mapped": decision.temp.is_mapped(),
        "mapped_by": decision.temp.mapped_by(),
        "not_mapped_because": decision.temp.not_mapped_because(),
    });
    let artifacts = json!({
        "tools": names(ArtifactRole::Tool), "drivers": names(ArtifactRole::Driver),
        "hooks": names(ArtifactRole::Hook),
    });
    let mut annotations: HashMap<String, String> = [
        ("org.murmur.capsule.name", policy.capsule.name.clone()),
        ("org.murmur.capsule.version", policy.capsule.version.clone()),
        ("org.murmur.capsule.manifest-digest", policy.capsule.manifest_digest.clone()),
        ("org.murmur.containment.declared", decision.declared.to_string()),
        ("org.murmur.containment.achieved", decision.achieved.to_string()),
        ("org.murmur.containment.host", decision.host.to_string()),
        (TIER, decision.applied.to_string()),
        ("org.murmur.network.allow", text("network.allow", &policy.network.allow)?),
        ("org.murmur.temp-dir", text("temp-dir", &temp_dir)?),
        ("org.murmur.artifacts", text("artifacts", &artifacts)?),
        (ENV, text("env", &granted_env_names(policy))?),
        (POLICY, text("policy", policy)?),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if let Some(ruleset) = ruleset {
        annotations.insert(LANDLOCK_ANNOTATION.to_owned(), text("landlock", ruleset)?);
    }
    Ok(annotations)
}

fn text(what: &'static str, value: &impl Serialize) -> Result<String, PlanError> {
    serde_json::to_string(value).map_err(|source| PlanError::Serialise { what, source })
}
