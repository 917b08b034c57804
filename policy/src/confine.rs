//! What a decision installs, as plain data without paths: syscall filter, Landlock base, limits.

use serde::{Deserialize, Serialize};

use crate::landlock::LandlockBase;
use crate::{
    CapabilityPolicy, ContainmentDecision, NetworkOwner, NetworkPolicy, Resources, SyscallFilter,
    Tier,
};

/// The confinement of a capsule's processes. Capabilities are empty and `no_new_privs` is set wherever there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The syscall filter.
    pub syscalls: SyscallFilter,
    /// The Landlock domain without its paths; `None` below the Landlock tiers.
    pub landlock: Option<LandlockBase>,
}

/// One `setrlimit(2)` limit, by its kernel name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimit {
    /// `RLIMIT_NOFILE`, …
    pub name: String,
    /// Soft limit.
    pub soft: u64,
    /// Hard limit.
    pub hard: u64,
}

/// What is installed for a decision; `None` on the tiers without a kernel mechanism.
pub fn confinement(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
) -> Option<Confinement> {
    match decision.applied {
        Tier::Unconfined | Tier::EnvironmentOnly => None,
        Tier::SeccompOnly | Tier::Full | Tier::Sealed => Some(Confinement {
            syscalls: SyscallFilter::of_capsule(policy.network.unix_sockets),
            landlock: decision.landlock_abi.map(|abi| landlock_base(policy, decision, abi)),
        }),
    }
}

/// The domain at `abi`; port rules only where the namespace is not ours to shape.
fn landlock_base(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    abi: u32,
) -> LandlockBase {
    let base = LandlockBase::new(abi, policy.files.workdir_exec, policy.network.unix_sockets);
    match decision.network {
        NetworkOwner::Session => base,
        NetworkOwner::Engine => base.with_network_ports(connect_ports(&policy.network)),
    }
}

/// The ports the destinations imply: an entry without one stands for 80 and 443. Sorted, each once.
pub fn connect_ports(network: &NetworkPolicy) -> Vec<u16> {
    let mut ports: Vec<u16> = network
        .rules
        .iter()
        .flat_map(|rule| rule.port().map_or_else(|| vec![80, 443], |port| vec![port]))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The limits of `spec/containment.md` §8.1 as declared; whoever sets them lowers each to the inherited hard limit.
///
/// `RLIMIT_CPU` ends with a signal a second before the kill, so that the cause can be told. `RLIMIT_NPROC` is not here:
/// it is needed only without a control group, and then counts from the user's live tasks at the start.
pub fn rlimits(resources: &Resources) -> Vec<Rlimit> {
    let even = |name: &str, value| Rlimit { name: name.to_owned(), soft: value, hard: value };
    vec![
        even("RLIMIT_NOFILE", resources.max_open_files),
        even("RLIMIT_FSIZE", resources.max_file_size_bytes),
        Rlimit {
            name: "RLIMIT_CPU".to_owned(),
            soft: resources.cpu_seconds,
            hard: resources.cpu_seconds.saturating_add(1),
        },
        even("RLIMIT_AS", resources.memory_bytes),
        even("RLIMIT_CORE", 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{host, placement, policy, resources};
    use crate::landlock::NetAccess;
    use crate::{ContainmentClass, decide};

    fn decided(abi: Option<u32>) -> ContainmentDecision {
        decide(&policy(ContainmentClass::Advisory), &host(abi), &placement())
    }

    #[test]
    fn each_tier_installs_what_its_column_says() {
        let policy = policy(ContainmentClass::Advisory);
        let full = confinement(&policy, &decided(Some(6))).expect("a kernel tier");
        assert_eq!(full.landlock.expect("a domain").abi, 6);
        let seccomp_only = confinement(&policy, &decided(None)).expect("a kernel tier");
        assert_eq!(seccomp_only.landlock, None);
        for tier in [Tier::Unconfined, Tier::EnvironmentOnly] {
            let decision = ContainmentDecision { applied: tier, ..decided(Some(6)) };
            assert_eq!(confinement(&policy, &decision), None);
        }
    }

    #[test]
    fn port_rules_are_only_for_a_network_that_is_an_engines() {
        let mut policy = policy(ContainmentClass::Advisory);
        policy.network.rules =
            ["a.test", "a.test:8443", "http://a.test"].map(|rule| rule.parse().unwrap()).into();
        assert_eq!(connect_ports(&policy.network), [80, 443, 8443]);

        let own = confinement(&policy, &decided(Some(7))).expect("a kernel tier");
        assert!(own.landlock.expect("a domain").handled_access.net.is_empty());
        let decision = ContainmentDecision { network: NetworkOwner::Engine, ..decided(Some(7)) };
        let engines = confinement(&policy, &decision).expect("a kernel tier");
        let base = engines.landlock.expect("a domain");
        assert_eq!(base.handled_access.net, [NetAccess::ConnectTcp]);
        assert_eq!(base.network_port[0].ports, [80, 443, 8443]);
    }

    #[test]
    fn the_cpu_limit_warns_a_second_before_it_kills() {
        let limits = rlimits(&resources());
        let pairs: Vec<_> =
            limits.iter().map(|limit| (limit.name.as_str(), limit.soft, limit.hard)).collect();
        assert_eq!(
            pairs,
            [
                ("RLIMIT_NOFILE", 1024, 1024),
                ("RLIMIT_FSIZE", 4 << 30, 4 << 30),
                ("RLIMIT_CPU", 3600, 3601),
                ("RLIMIT_AS", 2 << 30, 2 << 30),
                ("RLIMIT_CORE", 0, 0),
            ]
        );
    }
}
