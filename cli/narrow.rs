//! Decides whether a container of an engine is a capsule, and narrows its config to what that may do.

use anyhow::bail;
use oci_spec::runtime::Spec;

/// Annotations that make a container a capsule.
const ANNOTATIONS: [&str; 2] = ["org.murmur.policy", "org.murmur.manifest"];

/// Narrows `spec` by the policy that its annotations or `--capsule` name; never widens it.
///
/// A config that names none is given back as it is.
pub(crate) fn narrow(spec: Spec, capsule: Option<&str>) -> anyhow::Result<Spec> {
    if let Some(name) = capsule {
        bail!("`--capsule {name}`: narrowing a container to a capsule is not in this build");
    }
    let annotations = spec.annotations().as_ref();
    let named = ANNOTATIONS
        .into_iter()
        .find(|name| annotations.is_some_and(|annotations| annotations.contains_key(*name)));
    if let Some(name) = named {
        bail!("annotation `{name}`: narrowing a container to a capsule is not in this build");
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_never_ignored() {
        let with = |annotation: &str| -> Spec {
            let json = serde_json::json!({"ociVersion": "1.0.0", "annotations": {annotation: "x"}});
            serde_json::from_value(json).unwrap()
        };
        for annotation in ANNOTATIONS {
            assert!(narrow(with(annotation), None).is_err(), "{annotation}");
        }
        assert!(narrow(with("org.other"), Some("web")).is_err());
        assert!(narrow(with("org.other"), None).is_ok());
    }
}
