//! How far files outside the work folder are held, and what is not protected: `spec/scope-report.md` §3.13.

use serde::{Deserialize, Serialize};

use super::folder::RuntimeDirReport;
use super::part::Restriction;
use crate::{CapabilityPolicy, ContainmentDecision, Tier, program};

/// What the applied tier holds, and what it does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemBoundaryReport {
    /// How far.
    pub restriction: Restriction,
    /// Each a sentence, in order.
    pub not_protected: Vec<String>,
}

/// (a) What denying does not hide.
const DENIED_IS_NOT_ABSENT: &str = "a path that is not granted is denied, not absent: its existence, \
     size and times can still be read (stat)";

/// (b) What convention does not hold.
const NOTHING_HOLDS: &str =
    "nothing in the kernel restricts reads or writes outside the work folder";

/// (c) What a replaced home does not hold.
const HOME_IS_A_CONVENIENCE: &str = "replacing `HOME` is a convenience: a test through `~` proves \
     nothing, test with an absolute path";

/// What no confinement at all means.
const AS_THE_OPERATOR: &str =
    "the session is unconfined: its processes may do whatever the operator may";

/// The loader gap of an exec allow-list that Landlock alone holds.
const LOADER: &str = "the program loader is an allowed program: without a private mount namespace \
     it runs any program file a command can read";

/// What `workdir_exec` undoes.
const WORKDIR_EXEC: &str = "`filesystem.workdir_exec` lets a command run what it wrote into the work \
     folder, a copy of any program it can read included";

/// Named sockets, where no right of the kernel closes them.
const NAMED_SOCKETS: &str = "`unix_sockets` is granted and this kernel's Landlock (below ABI 9) does \
     not mediate named sockets: a command may connect to a socket of the host that its user may";

/// The restriction of a tier; follows what is applied, never the class.
pub(crate) const fn restriction(applied: Tier) -> Restriction {
    match applied {
        Tier::Sealed => Restriction::Absent,
        Tier::Full => Restriction::Enforced,
        Tier::SeccompOnly | Tier::EnvironmentOnly | Tier::Unconfined => Restriction::Advisory,
    }
}

/// The boundary: the tier's statements, what its exec allow-list leaves open, then the folders' reasons.
pub(crate) fn filesystem_boundary(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    folders: [&RuntimeDirReport; 2],
) -> FilesystemBoundaryReport {
    let mut not_protected: Vec<String> = match decision.applied {
        Tier::Sealed => Vec::new(),
        Tier::Full => vec![DENIED_IS_NOT_ABSENT.into(), HOME_IS_A_CONVENIENCE.into()],
        Tier::SeccompOnly | Tier::EnvironmentOnly => {
            vec![NOTHING_HOLDS.into(), HOME_IS_A_CONVENIENCE.into()]
        }
        Tier::Unconfined => vec![AS_THE_OPERATOR.into()],
    };
    not_protected.extend(exec_gaps(policy, decision));
    not_protected.extend(folders.iter().filter_map(|folder| folder.not_protected_because.clone()));
    FilesystemBoundaryReport { restriction: restriction(decision.applied), not_protected }
}

/// What a tier with an exec allow-list leaves open of it, and of the host's named sockets.
fn exec_gaps(policy: &CapabilityPolicy, decision: &ContainmentDecision) -> Vec<String> {
    let mut gaps = Vec::new();
    if !matches!(decision.applied, Tier::Full | Tier::Sealed) {
        return gaps;
    }
    if policy.files.workdir_exec {
        gaps.push(WORKDIR_EXEC.to_owned());
    }
    if !decision.mount_namespace && !policy.shell_allow().is_empty() {
        gaps.push(LOADER.to_owned());
    }
    let writers: Vec<String> = policy
        .shell_allow()
        .iter()
        .filter(|name| program::writes_code_into_memory(name))
        .map(|name| format!("`{name}`"))
        .collect();
    if !writers.is_empty() {
        gaps.push(format!(
            "{} may write code into anonymous memory and run it there: the exec allow-list is about \
             files",
            writers.join(", ")
        ));
    }
    let sockets_mediated = decision.landlock_abi.is_some_and(|abi| abi >= 9);
    if policy.network.unix_sockets && decision.applied == Tier::Full && !sockets_mediated {
        gaps.push(NAMED_SOCKETS.to_owned());
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::{decision, placement, policy, shell_policy};
    use crate::report::folder::{records_dir_report, runtime_dir_report};

    fn statements(policy: &CapabilityPolicy, decision: &ContainmentDecision) -> Vec<String> {
        let runtime = runtime_dir_report(decision, &placement());
        let records = records_dir_report(decision, &placement());
        filesystem_boundary(policy, decision, [&runtime, &records]).not_protected
    }

    #[test]
    fn each_tier_makes_its_statements_in_order() {
        let folders =
            ["the runtime folder is not protected", "the records folder is not protected"];
        let policy = policy(ContainmentClass::Advisory);
        for (tier, restriction, own) in [
            (Tier::Sealed, Restriction::Absent, vec![]),
            (Tier::Full, Restriction::Enforced, vec![DENIED_IS_NOT_ABSENT, HOME_IS_A_CONVENIENCE]),
            (
                Tier::SeccompOnly,
                Restriction::Advisory,
                [&[NOTHING_HOLDS, HOME_IS_A_CONVENIENCE][..], &folders].concat(),
            ),
            (
                Tier::EnvironmentOnly,
                Restriction::Advisory,
                [&[NOTHING_HOLDS, HOME_IS_A_CONVENIENCE][..], &folders].concat(),
            ),
            (Tier::Unconfined, Restriction::Advisory, [&[AS_THE_OPERATOR][..], &folders].concat()),
        ] {
            let said = statements(&policy, &decision(tier));
            assert_eq!(said.len(), own.len(), "{tier}: {said:?}");
            for (statement, start) in said.iter().zip(own) {
                assert!(statement.starts_with(start), "{tier}: {statement}");
            }
            assert_eq!(super::restriction(tier), restriction);
        }
    }

    #[test]
    fn the_loader_is_named_where_landlock_stands_alone() {
        let policy = shell_policy(ContainmentClass::Scoped, &["git"]);
        let mut decision = decision(Tier::Full);
        decision.mount_namespace = true;
        assert!(!statements(&policy, &decision).contains(&LOADER.to_owned()));
        decision.mount_namespace = false;
        assert!(statements(&policy, &decision).contains(&LOADER.to_owned()));
    }

    #[test]
    fn an_executable_work_folder_is_named_on_both_classes() {
        for tier in [Tier::Full, Tier::Sealed] {
            let mut policy = policy(ContainmentClass::Advisory);
            policy.files.workdir_exec = true;
            assert!(statements(&policy, &decision(tier)).contains(&WORKDIR_EXEC.to_owned()));
        }
    }

    #[test]
    fn interpreters_that_can_write_code_are_always_named() {
        let policy = shell_policy(ContainmentClass::Sealed, &["bash", "python3.12", "java"]);
        for tier in [Tier::Full, Tier::Sealed] {
            let said = statements(&policy, &decision(tier)).join("\n");
            assert!(said.contains("`python3.12`, `java` may write code"), "{said}");
            assert!(!said.contains("`bash`"), "{said}");
        }
    }

    #[test]
    fn named_sockets_are_an_open_route_below_abi_9_on_the_hosts_own_tree() {
        let mut policy = policy(ContainmentClass::Scoped);
        policy.network.unix_sockets = true;
        for (tier, abi, open) in
            [(Tier::Full, 8, true), (Tier::Full, 9, false), (Tier::Sealed, 6, false)]
        {
            let mut decision = decision(tier);
            decision.landlock_abi = Some(abi);
            let said = statements(&policy, &decision);
            assert_eq!(said.contains(&NAMED_SOCKETS.to_owned()), open, "{tier} {abi}");
        }
    }
}
