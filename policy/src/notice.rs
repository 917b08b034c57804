//! Qualifications: what is weaker than a reader may think, each with its code and its place.

use std::fmt;

use mur_manifest::{Code, Location};
use serde::{Deserialize, Serialize};

use crate::report::{IoMaxStatus, RouteReport, ScopeReport};
use crate::{CapabilityPolicy, ContainmentDecision, Placement, Tier, UsernsGrant, shortfall};

/// One warning. It changes no exit code and refuses nothing.
///
/// Displays as `warning[W-SEC-011]: <text> (<reference>)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its code.
    pub code: Code,
    /// One sentence.
    pub text: String,
    /// Where it comes from: the key with its line, or the command that says more.
    pub reference: String,
    /// The place in the manifest behind the reference, where it comes from there; no part of its JSON.
    #[serde(skip)]
    pub at: Option<Location>,
}

impl Notice {
    /// A warning about this host; the code itself is what says more.
    pub(crate) fn of_host(code: Code, text: impl Into<String>) -> Self {
        let reference = format!("mur explain --code {code}");
        Self { code, text: text.into(), reference, at: None }
    }

    /// A warning about a place in the manifest.
    pub(crate) fn of_place(code: Code, at: &Location, text: String) -> Self {
        Self { code, text, reference: at.to_string(), at: Some(at.clone()) }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning[{}]: {} ({})", self.code, self.text, self.reference)
    }
}

/// The warnings that a decision and its report give rise to, beside those of lowering.
pub fn decision_notices(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    placement: &Placement,
    report: &ScopeReport,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !policy.shell_allow().is_empty() {
        notices.extend(shell_notices(policy, decision));
    }
    if decision.applied == Tier::EnvironmentOnly && policy.has_subprocess_route() {
        let text = "no limit holds for all programs together on this host";
        notices.push(Notice::of_host(Code::WSec010, text));
    }
    if decision.applied == Tier::Unconfined {
        let text = "the session is unconfined: its programs may do whatever you may";
        notices.push(Notice::of_host(Code::WSec202, text));
    }
    if decision.userns_grant == Some(UsernsGrant::RestrictionDisabledHostWide) {
        let text = "`kernel.apparmor_restrict_unprivileged_userns` is off for every program of this \
                    host, not for mur alone";
        notices.push(Notice::of_host(Code::WSec013, text));
    }
    notices.extend(report.read_only_advisory_for.iter().map(|name| {
        let text =
            format!("`filesystem.read_only` is advisory against `{name}`: no mount holds it");
        Notice::of_host(Code::WSec017, text)
    }));
    if report.io_max.status == IoMaxStatus::Unavailable {
        let reason = report.io_max.reason.as_deref().unwrap_or("no reason is known");
        let text = format!("disk traffic is not bounded: {reason}");
        notices.push(Notice::of_host(Code::WSec021, text));
    }
    notices.extend(host_root(decision, report));
    notices.extend(report.host_paths.iter().filter_map(|granted| {
        let places = granted.credential_locations.join(", ");
        let text = format!("the host folder `{}` reaches {places}", granted.path);
        (!places.is_empty()).then(|| Notice::of_host(Code::WSec201, text))
    }));
    if decision.inside_workdir && decision.floor_met() {
        let text = format!("the class is `advisory`: {}", shortfall::inside_reason(placement));
        notices.push(Notice::of_host(Code::WSec033, text));
    }
    notices.extend(uncovered_routes(&report.routes));
    notices
}

/// The capsule's user is the host's root, because nothing else could be had.
fn host_root(decision: &ContainmentDecision, report: &ScopeReport) -> Option<Notice> {
    let kernel = matches!(decision.applied, Tier::SeccompOnly | Tier::Full | Tier::Sealed);
    let uid = report.enforcement.identity.as_ref().map(|identity| identity.uid.host);
    (kernel && uid == Some(0)).then(|| {
        let text = "the capsule is user 0 of the host: no other id and no idmapped mount could be had; \
                    the control files of the kernel are read-only";
        Notice::of_host(Code::WSec200, text)
    })
}

/// What holds the programs of `shell.allow`, by tier.
fn shell_notices(policy: &CapabilityPolicy, decision: &ContainmentDecision) -> Vec<Notice> {
    let names_bash = policy.shell_allow().iter().any(|name| name == "bash");
    match decision.applied {
        Tier::Unconfined => Vec::new(),
        Tier::EnvironmentOnly => {
            let text =
                "this host has no kernel sandbox: the programs of `shell.allow` run as the user";
            let mut notices = vec![Notice::of_host(Code::WSec001, text)];
            if names_bash && !policy.network.allow.is_empty() {
                let text = "`network.allow` does not bind connections that `bash` itself makes";
                notices.push(Notice::of_host(Code::WSec003, text));
            }
            notices
        }
        Tier::SeccompOnly => {
            let text = "this host has no Landlock: which files and programs are reached is not \
                        enforced; network, sockets, system calls and capabilities are";
            vec![Notice::of_host(Code::WSec002, text)]
        }
        Tier::Full => {
            let text = "programs run on the host's own tree: what is not granted is denied, not \
                        hidden; network, sockets, system calls and capabilities are held as well";
            vec![Notice::of_host(Code::WSec005, text)]
        }
        Tier::Sealed => {
            let proc = if decision.private_proc {
                ""
            } else {
                "; `/proc` is the host's, and opening anything in it is refused"
            };
            let text =
                format!("programs run in a composed root: what is not granted is absent{proc}");
            vec![Notice::of_host(Code::WSec005, text)]
        }
    }
}

/// One warning for all routes that are present and not under the class.
fn uncovered_routes(routes: &[RouteReport]) -> Option<Notice> {
    let uncovered: Vec<String> = routes
        .iter()
        .filter(|row| row.present && !row.under_class)
        .map(|row| {
            let under = row.note.as_deref().unwrap_or(&row.mechanism);
            format!("`{}` ({under})", row.route.as_str())
        })
        .collect();
    (!uncovered.is_empty()).then(|| {
        let text = format!("not under the class: {}", uncovered.join(", "));
        Notice::of_host(Code::WSec034, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{decision, host, placement, placement_at, policy, shell_policy};
    use crate::{ContainmentClass, Outcomes, decide};

    fn codes(
        policy: &CapabilityPolicy,
        decision: &ContainmentDecision,
        change: impl FnOnce(&mut ScopeReport),
    ) -> Vec<Code> {
        let outcomes = Outcomes::new(placement(), &host(Some(7)));
        let mut report = ScopeReport::new(policy, decision, &outcomes);
        change(&mut report);
        let notices = decision_notices(policy, decision, &placement(), &report);
        notices.into_iter().map(|notice| notice.code).collect()
    }

    #[test]
    fn each_tier_says_what_holds_the_programs() {
        let mut bash = shell_policy(ContainmentClass::Advisory, &["bash"]);
        bash.network.allow = vec!["a.test".to_owned()];
        let git = shell_policy(ContainmentClass::Advisory, &["git"]);
        for (policy, tier, expected) in [
            (&bash, Tier::EnvironmentOnly, vec![Code::WSec001, Code::WSec003, Code::WSec010]),
            (&git, Tier::EnvironmentOnly, vec![Code::WSec001, Code::WSec010]),
            (&bash, Tier::SeccompOnly, vec![Code::WSec002]),
            (&bash, Tier::Full, vec![Code::WSec005]),
            (&bash, Tier::Sealed, vec![Code::WSec005]),
            (&bash, Tier::Unconfined, vec![Code::WSec202]),
        ] {
            assert_eq!(codes(policy, &decision(tier), |_| {}), expected, "{tier}");
        }
        let silent = policy(ContainmentClass::Advisory);
        assert_eq!(codes(&silent, &decision(Tier::EnvironmentOnly), |_| {}), []);
    }

    #[test]
    fn a_sealed_capsule_says_when_proc_is_the_hosts() {
        let policy = shell_policy(ContainmentClass::Sealed, &["bash"]);
        for private_proc in [true, false] {
            let mut decision = decision(Tier::Sealed);
            decision.private_proc = private_proc;
            let notices = shell_notices(&policy, &decision);
            assert_eq!(notices[0].text.contains("/proc"), !private_proc);
        }
    }

    #[test]
    fn what_is_weaker_on_this_host_is_said_once_each() {
        let mut policy = policy(ContainmentClass::Advisory);
        policy.files.read_only = vec!["fixtures".to_owned()];
        policy.shell = shell_policy(ContainmentClass::Advisory, &["python3", "git", "bash"]).shell;
        let mut decision = decision(Tier::Full);
        decision.mount_namespace = false;
        decision.userns_grant = Some(UsernsGrant::RestrictionDisabledHostWide);
        let expected = [
            Code::WSec005,
            Code::WSec013,
            Code::WSec017,
            Code::WSec017,
            Code::WSec021,
            Code::WSec034,
        ];
        let found = codes(&policy, &decision, |report| {
            report.io_max.status = IoMaxStatus::Unavailable;
            report.routes[0].under_class = false;
            report.routes[0].note = Some("the host".to_owned());
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn the_hosts_root_and_reached_credentials_are_said() {
        let mut policy = policy(ContainmentClass::Advisory);
        policy.host_paths = ["/home/u/src", "/home/u/.aws"]
            .map(|path| crate::HostPath { path: path.into(), writable: false })
            .into();
        for (host, expected) in
            [(0, vec![Code::WSec200, Code::WSec201]), (100_000, vec![Code::WSec201])]
        {
            let id = crate::report::IdMapping { inside: 0, host };
            let identity = crate::report::IdentityOutcome {
                uid: id,
                gid: id,
                idmapped: false,
                groups: Vec::new(),
            };
            let found = codes(&policy, &decision(Tier::Full), |report| {
                report.enforcement.identity = Some(identity);
            });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn folders_inside_the_work_folder_are_a_warning_only_where_the_floor_is_met() {
        for (floor, warned) in
            [(ContainmentClass::Advisory, true), (ContainmentClass::Scoped, false)]
        {
            let placement = placement_at("/home/u");
            let policy = policy(floor);
            let decision = decide(&policy, &host(Some(7)), &placement);
            let outcomes = Outcomes::new(placement.clone(), &host(Some(7)));
            let report = ScopeReport::new(&policy, &decision, &outcomes);
            let notices = decision_notices(&policy, &decision, &placement, &report);
            assert_eq!(notices.iter().any(|own| own.code == Code::WSec033), warned);
        }
    }

    #[test]
    fn a_notice_prints_code_text_and_reference() {
        let notice = Notice::of_host(Code::WSec010, "nothing bounds it");
        assert_eq!(
            notice.to_string(),
            "warning[W-SEC-010]: nothing bounds it (mur explain --code W-SEC-010)"
        );
    }
}
