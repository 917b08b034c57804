//! Policies, hosts and placements that the tests start from.

use std::path::Path;

use crate::{
    AgentPolicy, AppArmorReading, ArtifactNetwork, ArtifactPolicy, ArtifactRole, Attempt, Caller,
    CapabilityPolicy, Capsule, Carried, CgroupLayout, ContainmentClass, ContainmentDecision,
    FilePolicy, HostProbe, ImagePolicy, LandlockProbe, NamespaceProbe, NetworkOwner, NetworkPolicy,
    Placement, Resources, ShellPolicy, Tier, UsernsGrant, temp_mapping,
};

/// A capsule that asks for nothing above `floor`.
pub(crate) fn policy(floor: ContainmentClass) -> CapabilityPolicy {
    CapabilityPolicy {
        capsule: Capsule {
            name: "demo".to_owned(),
            version: "1.0.0".to_owned(),
            manifest_digest: "0".repeat(64),
        },
        floor,
        manifest_floor: floor,
        unconfined: false,
        files: FilePolicy::default(),
        network: NetworkPolicy::default(),
        shell: None,
        env_allow: Vec::new(),
        process: None,
        resources: resources(),
        host_paths: Vec::new(),
        carried: Carried::default(),
    }
}

/// The defaults of `spec/manifest.md` §3.10.
pub(crate) fn resources() -> Resources {
    Resources {
        max_processes: 128,
        max_open_files: 1024,
        max_file_size_bytes: 4 << 30,
        cpu_seconds: 3600,
        memory_bytes: 2 << 30,
        cgroup_memory_bytes: 4 << 30,
        cgroup_pids_max: 256,
        cgroup_cpu_percent: 200,
        cgroup_io_bytes_per_sec: 100 << 20,
        workdir_max_bytes: 10 << 30,
        declared: Vec::new(),
    }
}

/// A host where everything works, at Landlock `abi`; `None` is one without Landlock.
pub(crate) fn host(abi: Option<u32>) -> HostProbe {
    HostProbe {
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        kernel: "6.12.0".to_owned(),
        caller: Caller { uid: 1000, gid: 1000, privileged: false },
        landlock: LandlockProbe {
            abi,
            enforced: abi
                .map_or_else(|| refused("landlock_create_ruleset", 38), |_| Attempt::Works),
            errata: None,
        },
        namespaces: NamespaceProbe {
            network: Attempt::Works,
            mount: Attempt::Works,
            composed_root: Attempt::Works,
            procfs: Attempt::Works,
            mount_setattr: true,
            openat2: true,
        },
        apparmor: AppArmorReading::default(),
        seccomp: true,
        cgroup: CgroupLayout::V2,
    }
}

/// A host that makes no namespace, because `step` failed with `errno`.
pub(crate) fn host_without_namespaces(abi: Option<u32>, step: &str, errno: i32) -> HostProbe {
    let mut host = host(abi);
    let after = Attempt::NotTried { reason: "the network namespace came first".to_owned() };
    host.namespaces.network = refused(step, errno);
    host.namespaces.mount = after.clone();
    host.namespaces.composed_root = after.clone();
    host.namespaces.procfs = after;
    host
}

/// An attempt that was refused.
pub(crate) fn refused(step: &str, errno: i32) -> Attempt {
    Attempt::Refused { step: step.to_owned(), errno }
}

/// An ordinary project folder of an ordinary user.
pub(crate) fn placement() -> Placement {
    placement_at("/srv/proj")
}

/// Another work folder of the same user.
pub(crate) fn placement_at(workdir: &str) -> Placement {
    Placement::of_session(Path::new(workdir), Path::new("/home/u/.murmur"), Path::new("/tmp"))
}

/// A capsule that may run `programs`.
pub(crate) fn shell_policy(floor: ContainmentClass, programs: &[&str]) -> CapabilityPolicy {
    let allow = programs.iter().map(|&name| name.to_owned()).collect();
    CapabilityPolicy {
        shell: Some(ShellPolicy { allow, ..ShellPolicy::default() }),
        ..policy(floor)
    }
}

/// An artifact that declares nothing.
pub(crate) fn artifact(name: &str, role: ArtifactRole) -> ArtifactPolicy {
    ArtifactPolicy {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        role,
        scope: None,
        scope_path: None,
        records: false,
        network: ArtifactNetwork::Inherited,
        state_store: None,
        configured: false,
        gateway: None,
        reads_task: false,
        reads_conversation: false,
    }
}

/// An agent, by whether a harness is the process.
pub(crate) fn agent(process_harness: bool) -> AgentPolicy {
    AgentPolicy {
        process_harness,
        driver: "acme/driver@1.0.0".to_owned(),
        command: None,
        images: ImagePolicy { keep: 4, max_bytes: 5 << 20, max_per_turn: 8 },
    }
}

/// A decision that applies `tier`, where mounts work as far as the tier has any.
pub(crate) fn decision(tier: Tier) -> ContainmentDecision {
    let kernel = matches!(tier, Tier::SeccompOnly | Tier::Full | Tier::Sealed);
    ContainmentDecision {
        declared: ContainmentClass::Advisory.min(tier.class()),
        achieved: tier.class(),
        host: tier.class(),
        applied: tier,
        shortfall_reason: None,
        shortfall_cause: None,
        landlock_abi: matches!(tier, Tier::Full | Tier::Sealed).then_some(7),
        userns_grant: Some(UsernsGrant::ApparmorAbsent),
        private_proc: kernel,
        mount_namespace: kernel,
        temp: temp_mapping(tier, kernel, false),
        inside_workdir: false,
        network: NetworkOwner::Session,
    }
}
