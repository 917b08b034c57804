//! The environment of a capsule's process, as `process.env` spells it.

use std::path::Path;

use mur_policy::{CapabilityPolicy, SessionEnv};

use crate::HostLayout;

/// `process.env`: [`mur_policy::environment`] over what the layout has of the host.
pub(crate) fn environment(
    policy: &CapabilityPolicy,
    layout: &HostLayout,
    temp: &Path,
) -> Vec<String> {
    let folders = &layout.folders;
    let session = SessionEnv {
        home: &folders.home.path,
        runtime_dir: &folders.runtime.path,
        records_dir: &folders.records.path,
        tmpdir: Some(temp),
    };
    mur_policy::environment(policy, &layout.environment, &[], session)
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}
