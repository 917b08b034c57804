//! The key of ours, `enforcement`: what holds the capsule beyond what the other fields say.

use serde::{Deserialize, Serialize};

use super::outcome::{IdentityOutcome, Outcomes, ReadOnlyGap};
use super::resource::{CgroupScopeReport, CgroupScopeStatus, IoMaxReport, IoMaxStatus};
use crate::landlock::{Scope, lost_below};
use crate::{
    ArtifactRole, CapabilityPolicy, ContainmentDecision, NetworkOwner, Rlimit, Tier, confinement,
    rlimits,
};

/// The shape of [`EnforcementReport`]; moves when a key changes its meaning or goes.
pub const ENFORCEMENT_VERSION: u32 = 1;

/// What holds the capsule, mechanism by mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnforcementReport {
    /// [`ENFORCEMENT_VERSION`].
    pub version: u32,
    /// What keeps an unlisted program from running; `None`: nothing does, or `workdir_exec` undoes it.
    pub exec_allow_list: Option<String>,
    /// What holds the `read_only` subtrees; `None` where none is declared or nothing does.
    pub read_only: Option<String>,
    /// `read_only` subtrees that no mount holds.
    pub read_only_gaps: Vec<ReadOnlyGap>,
    /// The Landlock domain; `None`: there is none.
    pub landlock: Option<LandlockReport>,
    /// The syscall filter; `None`: there is none.
    pub seccomp: Option<SeccompReport>,
    /// Limits of each process, as they come out under the inherited hard limits.
    pub rlimits: Vec<Rlimit>,
    /// Limits of all processes together.
    pub limits: Vec<LimitReport>,
    /// Who the processes are; `None` while nobody decided.
    pub identity: Option<IdentityOutcome>,
    /// What the network is held by; `None`: nothing of this capsule is a process, or nothing holds it.
    pub network: Option<String>,
    /// `/dev/shm`.
    pub dev_shm: Option<String>,
    /// What a sandbox started inside meets.
    pub nested_sandboxes: String,
    /// What a setuid program inside gains.
    pub setuid_programs: String,
    /// Routes that the manifest opens and this version starts nothing for.
    pub not_started: Vec<String>,
    /// What a runtime other than mur does not honour of this capsule's bundle.
    pub ignored_by_other_runtimes: Vec<String>,
}

/// The Landlock domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandlockReport {
    /// The ABI it is built for.
    pub abi: u32,
    /// Scopes that hold.
    pub scopes: Vec<Scope>,
    /// What a newer ABI would hold, each a sentence.
    pub not_held: Vec<String>,
    /// Errata the running kernel has fixed, as a bitmask; `None` where it cannot be asked.
    pub errata: Option<u32>,
}

/// A limit of all processes of a capsule together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitReport {
    /// Its key in `capabilities.resources`.
    pub key: String,
    /// As declared, or the default.
    pub value: u64,
    /// `cgroup` or `polling`; `None`: nothing holds it, or nobody has tried.
    pub held_by: Option<String>,
}

/// The syscall filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeccompReport {
    /// Architectures whose calls it judges; a call of any other ends the process.
    pub architectures: Vec<String>,
    /// The error of a call that is not part of the surface.
    pub default_errno: u32,
    /// How many call names it allows at all.
    pub allowed_calls: usize,
}

/// Puts into words what `decision` installs for `policy`.
pub(super) fn enforcement(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> EnforcementReport {
    let kernel = matches!(decision.applied, Tier::SeccompOnly | Tier::Full | Tier::Sealed);
    let installed = confinement(policy, decision);
    let landlock = installed.as_ref().and_then(|installed| installed.landlock.as_ref());
    let seccomp = installed.as_ref().map(|installed| &installed.syscalls);
    EnforcementReport {
        version: ENFORCEMENT_VERSION,
        exec_allow_list: exec_allow_list(policy, decision).map(str::to_owned),
        read_only: read_only_by_mounts(policy, decision, outcomes).then(|| "mounts".to_owned()),
        read_only_gaps: outcomes.read_only_gaps.clone(),
        landlock: landlock.map(|base| LandlockReport {
            abi: base.abi,
            scopes: base.scoped.clone(),
            not_held: lost_below(base.abi).into_iter().map(str::to_owned).collect(),
            errata: outcomes.landlock_errata,
        }),
        seccomp: seccomp.map(|filter| SeccompReport {
            architectures: vec![outcomes.arch.clone()],
            default_errno: filter.default_errno,
            allowed_calls: filter.allowed_names().len(),
        }),
        rlimits: effective_rlimits(policy, outcomes),
        limits: limits(policy, decision, outcomes),
        identity: outcomes.identity.clone(),
        network: network(policy, decision).map(str::to_owned),
        dev_shm: (kernel && decision.mount_namespace)
            .then(|| "a private tmpfs, noexec, limited in size".to_owned()),
        nested_sandboxes: if kernel {
            "refused: no namespace is made inside (EPERM)".to_owned()
        } else {
            "as the host allows".to_owned()
        },
        setuid_programs: if kernel { "gain nothing (no_new_privs)" } else { "as on the host" }
            .to_owned(),
        not_started: not_started(policy),
        ignored_by_other_runtimes: ignored_by_other_runtimes(policy, decision),
    }
}

/// Whether every declared `read_only` subtree is held by a mount.
pub(crate) fn read_only_by_mounts(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> bool {
    decision.mount_namespace
        && !policy.files.read_only.is_empty()
        && outcomes.read_only_gaps.is_empty()
}

/// What keeps an unlisted program from running.
fn exec_allow_list(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
) -> Option<&'static str> {
    if policy.files.workdir_exec {
        return None;
    }
    match (decision.applied, decision.mount_namespace) {
        (Tier::Sealed, _) | (Tier::Full, true) => Some("noexec-binds+landlock"),
        (Tier::Full, false) => Some("landlock"),
        (Tier::SeccompOnly | Tier::EnvironmentOnly | Tier::Unconfined, _) => None,
    }
}

/// What the network of the capsule's processes is.
fn network(policy: &CapabilityPolicy, decision: &ContainmentDecision) -> Option<&'static str> {
    let kernel = matches!(decision.applied, Tier::SeccompOnly | Tier::Full | Tier::Sealed);
    if !kernel || !policy.has_subprocess_route() {
        return None;
    }
    Some(match (decision.network, policy.network.rules.is_empty()) {
        (NetworkOwner::Engine, _) => "the engine's namespace, ports by landlock",
        (NetworkOwner::Session, true) => "empty namespace",
        (NetworkOwner::Session, false) => "own namespace, egress by name through a proxy",
    })
}

/// Each limit under the hard limit that was inherited: a higher one cannot be set, and is no error.
fn effective_rlimits(policy: &CapabilityPolicy, outcomes: &Outcomes) -> Vec<Rlimit> {
    let mut limits = rlimits(&policy.resources);
    for limit in &mut limits {
        let Some(inherited) = outcomes.hard_limits.get(&limit.name) else { continue };
        let warned = limit.hard > limit.soft;
        limit.hard = limit.hard.min(*inherited);
        limit.soft = limit.soft.min(limit.hard.saturating_sub(u64::from(warned)));
    }
    limits
}

/// The limits of all processes together, and what holds each.
fn limits(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> Vec<LimitReport> {
    let resources = &policy.resources;
    let scope = CgroupScopeReport::new(policy, &outcomes.cgroup).status;
    let grouped = (scope == CgroupScopeStatus::Delegated).then_some("cgroup");
    let disk = IoMaxReport::new(policy, &outcomes.io_max).status;
    let disk = (disk == IoMaxStatus::Enforced).then_some("cgroup");
    let polled = (decision.applied != Tier::Unconfined
        || policy.resources.is_declared("workdir_max_bytes"))
    .then_some("polling");
    [
        ("cgroup_memory_bytes", resources.cgroup_memory_bytes, grouped),
        ("cgroup_pids_max", resources.cgroup_pids_max, grouped),
        ("cgroup_cpu_percent", resources.cgroup_cpu_percent, grouped),
        ("cgroup_io_bytes_per_sec", resources.cgroup_io_bytes_per_sec, disk),
        ("workdir_max_bytes", resources.workdir_max_bytes, polled),
    ]
    .map(|(key, value, held_by)| LimitReport {
        key: key.to_owned(),
        value,
        held_by: held_by.map(str::to_owned),
    })
    .into()
}

/// Routes that no part of this version starts anything for: it runs the capsule's process, not an agent's parts.
fn not_started(policy: &CapabilityPolicy) -> Vec<String> {
    let mut routes = Vec::new();
    for (role, route) in [
        (ArtifactRole::Tool, "wasm-tools"),
        (ArtifactRole::Driver, "drivers"),
        (ArtifactRole::Hook, "hooks"),
    ] {
        if policy.carried.artifacts_of(role).next().is_some() {
            routes.push(route.to_owned());
        }
    }
    routes
}

/// What only mur does with a bundle of this capsule.
fn ignored_by_other_runtimes(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
) -> Vec<String> {
    let mut ignored = Vec::new();
    if decision.landlock_abi.is_some() {
        ignored.push("the Landlock domain (annotation org.murmur.landlock)".to_owned());
    }
    if !policy.env_allow.is_empty() {
        ignored.push("the values of env.allow (annotation org.murmur.env holds names)".to_owned());
    }
    if decision.mount_namespace {
        ignored.push("the ceiling workdir_max_bytes".to_owned());
    }
    ignored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::{artifact, decision, host, placement, policy, shell_policy};

    fn report(policy: &CapabilityPolicy, tier: Tier) -> EnforcementReport {
        enforcement(policy, &decision(tier), &Outcomes::new(placement(), &host(Some(7))))
    }

    #[test]
    fn each_tier_names_what_it_installs_and_nothing_else() {
        let policy = shell_policy(ContainmentClass::Advisory, &["bash"]);
        for (tier, exec, landlock, seccomp, network) in [
            (Tier::Sealed, Some("noexec-binds+landlock"), true, true, Some("empty namespace")),
            (Tier::Full, Some("noexec-binds+landlock"), true, true, Some("empty namespace")),
            (Tier::SeccompOnly, None, false, true, Some("empty namespace")),
            (Tier::EnvironmentOnly, None, false, false, None),
            (Tier::Unconfined, None, false, false, None),
        ] {
            let report = report(&policy, tier);
            assert_eq!(report.exec_allow_list.as_deref(), exec, "{tier}");
            assert_eq!(report.landlock.is_some(), landlock, "{tier}");
            assert_eq!(report.seccomp.is_some(), seccomp, "{tier}");
            assert_eq!(report.network.as_deref(), network, "{tier}");
            assert_eq!(report.nested_sandboxes.starts_with("refused"), seccomp, "{tier}");
        }
    }

    #[test]
    fn a_limit_is_lowered_to_the_inherited_hard_one_and_the_cpu_warning_stays() {
        let policy = shell_policy(ContainmentClass::Advisory, &["bash"]);
        let mut outcomes = Outcomes::new(placement(), &host(Some(7)));
        outcomes.hard_limits.insert("RLIMIT_NOFILE".to_owned(), 512);
        outcomes.hard_limits.insert("RLIMIT_CPU".to_owned(), 60);
        outcomes.hard_limits.insert("RLIMIT_AS".to_owned(), 1 << 40);
        let limits = effective_rlimits(&policy, &outcomes);
        let of = |name: &str| {
            let limit = limits.iter().find(|limit| limit.name == name).expect("a limit");
            (limit.soft, limit.hard)
        };
        assert_eq!(of("RLIMIT_NOFILE"), (512, 512));
        assert_eq!(of("RLIMIT_CPU"), (59, 60));
        assert_eq!(of("RLIMIT_AS"), (2 << 30, 2 << 30));
    }

    #[test]
    fn a_limit_of_all_processes_is_held_only_where_the_attempt_worked() {
        let policy = shell_policy(ContainmentClass::Advisory, &["bash"]);
        let held = |outcomes: &Outcomes| -> Vec<Option<String>> {
            let limits = limits(&policy, &decision(Tier::Full), outcomes);
            limits.into_iter().map(|limit| limit.held_by).collect()
        };
        let mut outcomes = Outcomes::new(placement(), &host(Some(7)));
        let polling = || Some("polling".to_owned());
        assert_eq!(held(&outcomes), [None, None, None, None, polling()]);
        outcomes.cgroup.status = CgroupScopeStatus::Delegated;
        outcomes.io_max.status = IoMaxStatus::Unavailable;
        let group = || Some("cgroup".to_owned());
        assert_eq!(held(&outcomes), [group(), group(), group(), None, polling()]);
        outcomes.io_max.status = IoMaxStatus::Enforced;
        assert_eq!(held(&outcomes), [group(), group(), group(), group(), polling()]);
    }

    #[test]
    fn nothing_is_claimed_of_an_exec_allow_list_that_the_work_folder_undoes() {
        let mut policy = shell_policy(ContainmentClass::Advisory, &["bash"]);
        policy.files.workdir_exec = true;
        assert_eq!(report(&policy, Tier::Full).exec_allow_list, None);
    }

    #[test]
    fn a_read_only_subtree_without_a_mount_is_a_gap() {
        let mut policy = policy(ContainmentClass::Scoped);
        policy.files.read_only = vec!["fixtures".to_owned()];
        let mut outcomes = Outcomes::new(placement(), &host(Some(7)));
        assert!(read_only_by_mounts(&policy, &decision(Tier::Full), &outcomes));
        outcomes.read_only_gaps.push(ReadOnlyGap {
            path: "fixtures".to_owned(),
            reason: "it does not exist".to_owned(),
        });
        assert!(!read_only_by_mounts(&policy, &decision(Tier::Full), &outcomes));
    }

    #[test]
    fn what_is_carried_and_not_started_is_said() {
        let mut policy = policy(ContainmentClass::Advisory);
        assert_eq!(report(&policy, Tier::Full).not_started, [""; 0]);
        policy.carried.artifacts =
            vec![artifact("a/h", ArtifactRole::Hook), artifact("a/t", ArtifactRole::Tool)];
        assert_eq!(report(&policy, Tier::Full).not_started, ["wasm-tools", "hooks"]);
    }
}
