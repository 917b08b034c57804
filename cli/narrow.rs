//! Narrows a container to the capsule that it names, before anything is made of it.

use std::path::Path;

use mur_shim::capsule_of_engine::narrow_container;
use oci_spec::runtime::Spec;

/// Narrows `spec` by the policy that its annotations or `--capsule` name; never widens it.
pub(crate) fn narrow(spec: Spec, bundle: &Path, capsule: Option<&str>) -> anyhow::Result<Spec> {
    Ok(narrow_container(spec, bundle, capsule)?)
}
