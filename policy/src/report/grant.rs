//! The grants of a policy as the report spells them: `spec/scope-report.md` §2, rows 13–42.

use std::path::{Path, PathBuf};

use super::outcome::Outcomes;
use super::part::{
    ExportsFilesReport, HarnessReport, HostPathReport, ImagesReport, ManifestFileReport,
    PeerFilesReport, PreopenReport, RuntimeDirReach, StateStoreReport, Surface,
};
use crate::{
    ArtifactPolicy, ArtifactRole, CapabilityPolicy, ContainmentDecision, HostPath, Placement, Tier,
    program,
};

/// Places below a home folder that hold credentials.
const CREDENTIALS_AT_HOME: [&str; 19] = [
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".murmur/config.yaml",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
    ".ssh",
    ".vault-token",
];

/// Places of the whole host that hold credentials or give the host away.
const CREDENTIALS_OF_HOST: [&str; 6] =
    ["/etc/shadow", "/etc/ssh", "/etc/ssl/private", "/root", "/run/docker.sock", "/run/secrets"];

/// The allowed programs against which `read_only` is a matter of convention: interpreters, where no mount holds it.
pub fn read_only_advisory_for(policy: &CapabilityPolicy, held_by_mounts: bool) -> Vec<String> {
    if held_by_mounts || policy.files.read_only.is_empty() {
        return Vec::new();
    }
    let advisory = |name: &&String| program::is_advisory_interpreter(name);
    policy.shell_allow().iter().filter(advisory).cloned().collect()
}

/// What each tool, driver and hook sees of the file system, in manifest order.
pub(super) fn preopens(policy: &CapabilityPolicy) -> Vec<PreopenReport> {
    let opens = |artifact: &&ArtifactPolicy| artifact.role != ArtifactRole::Skill;
    policy.carried.artifacts.iter().filter(opens).map(preopen).collect()
}

/// One row of the table of §3.2. Tools are native: one without a scope finds the runtime folder by its environment.
fn preopen(artifact: &ArtifactPolicy) -> PreopenReport {
    let unscoped_tool = artifact.role == ArtifactRole::Tool && artifact.scope.is_none();
    PreopenReport {
        artifact: artifact.name.clone(),
        role: artifact.role,
        scope: artifact.scope.clone(),
        surface: match (artifact.role, &artifact.scope) {
            (_, Some(_)) => Surface::ScopedSubtree,
            (ArtifactRole::Hook, None) if artifact.records => Surface::RecordsHooks,
            (ArtifactRole::Hook | ArtifactRole::Skill, None) => Surface::Nothing,
            (ArtifactRole::Tool | ArtifactRole::Driver, None) => Surface::WholeWorkdir,
        },
        runtime_dir_reach: unscoped_tool.then_some(RuntimeDirReach::Environment),
    }
}

/// `<path> (list_dir)` for what may be listed, else the path alone.
fn listable(path: &Path, folder: bool) -> String {
    let suffix = if folder { " (list_dir)" } else { "" };
    format!("{}{suffix}", path.display())
}

/// One line a folder of `interpreter_runtime`.
pub(super) fn interpreter_runtime(policy: &CapabilityPolicy) -> Vec<String> {
    let grants = policy.shell.iter().flat_map(|shell| &shell.interpreter_runtime);
    grants
        .map(|grant| format!("{}: {}", grant.binary, listable(&grant.path, grant.list_dir)))
        .collect()
}

/// One line a path that an interpreter brought with it.
pub(super) fn derived_interpreter_runtime(outcomes: &Outcomes) -> Vec<String> {
    outcomes
        .derived_imports
        .iter()
        .map(|import| format!("{}: {}", import.binary, listable(&import.path, import.folder)))
        .collect()
}

/// One line a trust store path; none unless commands may reach the network.
pub(super) fn trust_store(policy: &CapabilityPolicy, outcomes: &Outcomes) -> Vec<String> {
    if policy.shell_allow().is_empty() || policy.network.allow.is_empty() {
        return Vec::new();
    }
    outcomes.trust_store.iter().map(|found| listable(&found.path, found.folder)).collect()
}

/// The files by which names resolve, where Landlock would otherwise deny them.
pub(super) fn name_resolution(applied: Tier) -> Vec<String> {
    match applied {
        Tier::Full | Tier::Sealed => vec!["/etc/hosts".into(), "/etc/nsswitch.conf".into()],
        Tier::Unconfined | Tier::EnvironmentOnly | Tier::SeccompOnly => Vec::new(),
    }
}

/// One line a staged runtime, whatever the floor.
pub(super) fn staged_runtime(policy: &CapabilityPolicy) -> Vec<String> {
    let grants = policy.shell.iter().flat_map(|shell| &shell.staged_runtime);
    grants
        .map(|grant| {
            format!("{}: {} (pin: {})", grant.binary, grant.source_path.display(), grant.pin)
        })
        .collect()
}

/// The operator's host folders, in config order.
pub(super) fn host_paths(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    placement: &Placement,
) -> Vec<HostPathReport> {
    let mechanism = match decision.applied {
        Tier::Sealed => Some("mountns+landlock"),
        Tier::Full if decision.mount_namespace => Some("mountns+landlock"),
        Tier::Full => Some("landlock"),
        Tier::Unconfined | Tier::EnvironmentOnly | Tier::SeccompOnly => None,
    };
    policy
        .host_paths
        .iter()
        .map(|granted| HostPathReport {
            path: granted.path.display().to_string(),
            access: if granted.writable { "read-write" } else { "read" }.to_owned(),
            mechanism: mechanism.map(str::to_owned),
            credential_locations: credential_locations(granted, placement),
        })
        .collect()
}

/// The places of credentials at, above or below a granted folder.
pub(crate) fn credential_locations(granted: &HostPath, placement: &Placement) -> Vec<String> {
    let home = placement.murmur_home.parent().unwrap_or(&placement.murmur_home);
    CREDENTIALS_AT_HOME
        .iter()
        .map(|below| home.join(below))
        .chain(CREDENTIALS_OF_HOST.iter().map(PathBuf::from))
        .filter(|place| place.starts_with(&granted.path) || granted.path.starts_with(place))
        .map(|place| place.display().to_string())
        .collect()
}

/// `exports.files`.
pub(super) fn exports_files(policy: &CapabilityPolicy) -> Option<ExportsFilesReport> {
    policy.carried.exports_files.as_ref().map(|files| ExportsFilesReport {
        root: files.root.clone(),
        mode: "read-only".to_owned(),
        max_bytes: files.max_bytes,
    })
}

/// `exports.peer_files`.
pub(super) fn peer_files(policy: &CapabilityPolicy) -> Option<PeerFilesReport> {
    policy.carried.peer_files.as_ref().map(|files| PeerFilesReport {
        root: files.root.clone(),
        max_ttl_secs: files.max_ttl_secs,
        max_bytes: files.max_bytes,
    })
}

/// The state stores, one a declaring artifact.
pub(super) fn state_stores(
    policy: &CapabilityPolicy,
    placement: &Placement,
) -> Vec<StateStoreReport> {
    let declares = |artifact: &ArtifactPolicy| {
        artifact.state_store.as_ref().map(|store| StateStoreReport {
            artifact: artifact.name.clone(),
            store: store.clone(),
            host_path: placement.state_dir(store).display().to_string(),
        })
    };
    policy.carried.artifacts.iter().filter_map(declares).collect()
}

/// The names of the artifacts with a `config:` block.
pub(super) fn configured_artifacts(policy: &CapabilityPolicy) -> Vec<String> {
    let artifacts = policy.carried.artifacts.iter();
    artifacts.filter(|artifact| artifact.configured).map(|artifact| artifact.name.clone()).collect()
}

/// How images are kept; `None` for a capsule without an agent.
pub(super) fn images(policy: &CapabilityPolicy) -> Option<ImagesReport> {
    policy.carried.agent.as_ref().map(|agent| ImagesReport {
        keep: agent.images.keep,
        max_bytes: agent.images.max_bytes,
        max_per_turn: agent.images.max_per_turn,
        keep_applies: !agent.process_harness,
    })
}

/// The files the manifest names, and what they resolve to; none is read.
pub(super) fn manifest_files(
    policy: &CapabilityPolicy,
    manifest_dir: &Path,
) -> Vec<ManifestFileReport> {
    policy
        .carried
        .manifest_files
        .iter()
        .map(|file| {
            let absolute = Path::new(&file.declared).is_absolute();
            ManifestFileReport {
                key: file.key.clone(),
                declared: file.declared.clone(),
                resolved: manifest_dir.join(&file.declared).display().to_string(),
                base: if absolute { "host" } else { "manifest-folder" }.to_owned(),
            }
        })
        .collect()
}

/// The harness; one whose driver nobody read is reported with the reason.
pub(super) fn harness(policy: &CapabilityPolicy, outcomes: &Outcomes) -> Option<HarnessReport> {
    let agent = policy.carried.agent.as_ref().filter(|agent| agent.process_harness)?;
    Some(outcomes.harness.clone().unwrap_or_else(|| HarnessReport {
        driver: agent.driver.clone(),
        binary: None,
        paths: Vec::new(),
        hosts: Vec::new(),
        env: Vec::new(),
        unresolved: Some("the driver's own manifest was not read".to_owned()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::{artifact, placement, policy, shell_policy};

    #[test]
    fn each_artifact_sees_what_the_table_says() {
        use ArtifactRole::{Driver, Hook, Skill, Tool};
        use RuntimeDirReach::Environment;
        use Surface::{Nothing, RecordsHooks, ScopedSubtree, WholeWorkdir};
        for (role, scope, records, surface, reach) in [
            (Tool, Some("src"), false, ScopedSubtree, None),
            (Driver, Some("src"), false, ScopedSubtree, None),
            (Hook, Some("src"), false, ScopedSubtree, None),
            (Hook, None, true, RecordsHooks, None),
            (Hook, None, false, Nothing, None),
            (Tool, None, false, WholeWorkdir, Some(Environment)),
            (Driver, None, false, WholeWorkdir, None),
        ] {
            let mut policy = policy(ContainmentClass::Advisory);
            let mut own = artifact("acme/x", role);
            own.scope = scope.map(str::to_owned);
            own.records = records;
            policy.carried.artifacts = vec![artifact("acme/skill", Skill), own];
            let rows = preopens(&policy);
            assert_eq!(rows.len(), 1);
            assert_eq!((rows[0].surface, rows[0].runtime_dir_reach), (surface, reach), "{role:?}");
        }
    }

    #[test]
    fn read_only_is_advisory_for_interpreters_where_no_mount_holds_it() {
        let mut policy = shell_policy(ContainmentClass::Scoped, &["git", "python3", "bash"]);
        assert_eq!(read_only_advisory_for(&policy, false), [""; 0]);
        policy.files.read_only = vec!["fixtures".to_owned()];
        assert_eq!(read_only_advisory_for(&policy, false), ["python3", "bash"]);
        assert_eq!(read_only_advisory_for(&policy, true), [""; 0]);
    }

    #[test]
    fn a_host_folder_names_the_credentials_it_reaches() {
        for (path, reached) in [
            ("/home/u/.ssh", vec!["/home/u/.ssh"]),
            ("/home/u/.config/gh/hosts", vec!["/home/u/.config/gh"]),
            ("/home/u/src", vec![]),
            (
                "/home/u/.config",
                vec!["/home/u/.config/gcloud", "/home/u/.config/gh", "/home/u/.config/op"],
            ),
            ("/run", vec!["/run/docker.sock", "/run/secrets"]),
        ] {
            let granted = HostPath { path: path.into(), writable: false };
            assert_eq!(credential_locations(&granted, &placement()), reached, "{path}");
        }
    }
}
