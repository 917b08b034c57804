//! The environment of a capsule's process: `spec/manifest.md` §3.4, in its order.

use std::path::Path;

use mur_manifest::EnvPattern;
use mur_policy::{CapabilityPolicy, TEMP_DIR_ENV};

use crate::HostLayout;

/// Host variables that every command gets.
pub const BASE_NAMES: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "TERM"];

/// Credentials that no command ever gets, whatever was granted.
pub const CREDENTIALS: [&str; 13] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "HUGGING_FACE_HUB_TOKEN",
    "AWS_*",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "DOCKER_*",
    "KUBECONFIG",
    "NPM_TOKEN",
    "PYPI_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "*_API_KEY",
];

/// The names whose values come from the host: granted to commands, and to the capsule's process.
pub fn granted_names(policy: &CapabilityPolicy) -> Vec<String> {
    let baseline = policy.shell.iter().flat_map(|shell| &shell.baseline_env);
    let mut names: Vec<String> = baseline.chain(&policy.env_allow).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// `process.env`: what the host has, what the manifest says, what is stripped, and what only the runtime sets.
pub(crate) fn environment(
    policy: &CapabilityPolicy,
    layout: &HostLayout,
    temp: &Path,
) -> Vec<String> {
    let literals = policy.process.iter().flat_map(|process| &process.env);
    let mut values: Vec<(&str, &str)> = Vec::new();
    for (name, value) in layout.environment.iter().chain(literals) {
        if is_stripped(policy, name) {
            continue;
        }
        match values.iter_mut().find(|(own, _)| own == name) {
            Some(own) => own.1 = value,
            None => values.push((name, value)),
        }
    }
    let folders = &layout.folders;
    let mut owned: Vec<(&str, &Path)> = vec![
        ("HOME", &folders.home.path),
        ("USERPROFILE", &folders.home.path),
        ("MURMUR_RUNTIME_DIR", &folders.runtime.path),
        ("MURMUR_RECORDS_DIR", &folders.records.path),
    ];
    owned.extend(TEMP_DIR_ENV.map(|name| (name, temp)));
    values.retain(|(name, _)| owned.iter().all(|(own, _)| own != name));
    let values = values.into_iter().map(|(name, value)| format!("{name}={value}"));
    let owned = owned.iter().map(|(name, path)| format!("{name}={}", path.display()));
    values.chain(owned).collect()
}

fn is_stripped(policy: &CapabilityPolicy, name: &str) -> bool {
    let own = policy.shell.iter().flat_map(|shell| &shell.strip_env).map(String::as_str);
    CREDENTIALS.into_iter().chain(own).any(|pattern| {
        // A pattern that cannot be read strips the name it spells: never less than was asked.
        pattern.parse::<EnvPattern>().map_or(pattern == name, |pattern| pattern.matches(name))
    })
}
