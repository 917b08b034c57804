use super::*;
use crate::fixture::{decision, host, placement, policy, shell_policy};
use crate::landlock::RightSet;
use crate::{ContainmentClass, HostPath};

const READ: PathAccess = PathAccess::Read;
const LIST: PathAccess = PathAccess::List;
const WRITE: PathAccess = PathAccess::Write;
const EXECUTE: PathAccess = PathAccess::Execute;
const EACCES: Verdict = Verdict::Refused { errno: 13 };
const EROFS: Verdict = Verdict::Refused { errno: 30 };

fn ask(question: &Question, policy: &CapabilityPolicy, tier: Tier) -> Answer {
    let outcomes = Outcomes::new(placement(), &host(Some(7)));
    why(question, policy, &decision(tier), &outcomes, &[])
}

fn ask_path(policy: &CapabilityPolicy, tier: Tier, path: &str, access: PathAccess) -> Answer {
    ask(&Question::Path { path: path.into(), access }, policy, tier)
}

/// A capsule with a read-only subtree, a host folder and two programs.
fn rich() -> CapabilityPolicy {
    let mut policy = shell_policy(ContainmentClass::Scoped, &["bash", "python3"]);
    policy.files.read_only_paths = vec!["fixtures".into()];
    policy.host_paths = vec![HostPath { path: "/srv/cache".into(), writable: true }];
    policy
}

#[test]
fn a_path_is_judged_by_grants_mounts_and_tier() {
    let allowed = Verdict::Allowed;
    for (path, access, scoped, sealed) in [
        ("/srv/proj/a", WRITE, allowed, allowed),
        ("/srv/proj/a", EXECUTE, EACCES, EACCES),
        ("/srv/proj/fixtures/x", WRITE, EROFS, EROFS),
        ("/srv/proj/fixtures/x", READ, allowed, allowed),
        ("/srv/proj/fixtures2", WRITE, allowed, allowed),
        ("/srv/cache/x", WRITE, allowed, allowed),
        ("/srv/cache/x", EXECUTE, EACCES, EACCES),
        ("/srv", LIST, EACCES, EACCES),
        ("/etc/shadow", READ, EACCES, Verdict::Absent),
        ("/root", LIST, EACCES, Verdict::Absent),
        ("/etc/hosts", READ, allowed, allowed),
        ("/etc/hosts", WRITE, EACCES, EACCES),
        ("/usr/share/x", READ, EACCES, allowed),
        ("/usr/share/x", EXECUTE, EACCES, EACCES),
        ("/proc/self/maps", READ, allowed, allowed),
        ("/proc/sys/kernel/core_pattern", WRITE, EACCES, EACCES),
        ("/dev/null", WRITE, allowed, allowed),
        ("/dev/zero", WRITE, EACCES, EACCES),
        ("/dev/kmsg", WRITE, EACCES, Verdict::Absent),
        ("/tmp/x", WRITE, allowed, allowed),
        ("/tmp/x", EXECUTE, EACCES, EACCES),
    ] {
        for (tier, verdict) in [(Tier::Full, scoped), (Tier::Sealed, sealed)] {
            let answer = ask_path(&rich(), tier, path, access);
            assert_eq!(answer.verdict, verdict, "{path} {access:?} {tier}: {answer:?}");
        }
        // Without Landlock only what a mount refuses is refused.
        let answer = ask_path(&rich(), Tier::SeccompOnly, path, access);
        let writable = ["/srv/proj", "/srv/cache", "/tmp"].iter().any(|own| path.starts_with(own));
        let noexec = access == EXECUTE && writable;
        assert_eq!(answer.verdict == EROFS, scoped == EROFS, "{path} {access:?}");
        assert_eq!(answer.verdict == EACCES, noexec, "{path} {access:?}");
    }
}

#[test]
fn the_deciding_line_and_the_one_that_would_change_it_are_named() {
    let mut scoped = rich();
    scoped.files.scope_path = Some("src".into());
    for (policy, path, access, key, change) in [
        (
            &rich(),
            "/srv/proj/fixtures/x",
            WRITE,
            Some("capabilities.filesystem.read_only"),
            "take `fixtures` off",
        ),
        (&rich(), "/srv/proj/run.sh", EXECUTE, None, "workdir_exec"),
        (&rich(), "/usr/bin/curl", EXECUTE, None, "add `curl` to `capabilities.shell.allow`"),
        (&rich(), "/home/u/.ssh/id", READ, None, "`/home/u/.ssh` with access `read`"),
        (&rich(), "/var/lib/x", WRITE, None, "`/var/lib` with access `read-write`"),
        (&scoped, "/srv/proj/src/a", WRITE, Some("capabilities.filesystem.scope"), "change"),
        (&scoped, "/srv/proj/other", READ, Some("capabilities.filesystem.scope"), "widen"),
    ] {
        let answer = ask_path(policy, Tier::Full, path, access);
        assert_eq!(answer.because.key.as_deref(), key, "{path}: {answer:?}");
        assert!(
            answer.change.as_deref().unwrap_or_default().contains(change),
            "{path}: {answer:?}"
        );
    }
}

#[test]
fn a_read_only_subtree_that_no_mount_holds_is_writable() {
    let outcomes = Outcomes::new(placement(), &host(Some(7)));
    let mut loose = decision(Tier::Full);
    loose.mount_namespace = false;
    let question = Question::Path { path: "/srv/proj/fixtures/x".into(), access: WRITE };
    assert_eq!(why(&question, &rich(), &loose, &outcomes, &[]).verdict, Verdict::Allowed);
}

#[test]
fn a_program_is_judged_by_its_name_then_by_what_is_executable_at_its_path() {
    let outcomes = Outcomes::new(placement(), &host(Some(7)));
    let helper = PathGrant::new(
        "/usr/lib/gcc/cc1",
        RightSet::ReadExecute,
        Line::of_key("capabilities.shell.allow[0]", "`gcc` starts it"),
    );
    for (name, verdict, key) in [
        ("bash", Verdict::Allowed, Some("capabilities.shell.allow[0]")),
        ("/usr/bin/python3", Verdict::Allowed, Some("capabilities.shell.allow[1]")),
        ("curl", EACCES, Some("capabilities.shell.allow")),
        ("/usr/bin/curl", EACCES, None),
        ("/usr/lib/gcc/cc1", Verdict::Allowed, Some("capabilities.shell.allow[0]")),
    ] {
        let question = Question::Program(name.to_owned());
        let answer = why(
            &question,
            &rich(),
            &decision(Tier::Full),
            &outcomes,
            std::slice::from_ref(&helper),
        );
        assert_eq!(answer.verdict, verdict, "{name}: {answer:?}");
        assert_eq!(answer.because.key.as_deref(), key, "{name}: {answer:?}");
    }
    let anything = ask(&Question::Program("curl".to_owned()), &rich(), Tier::SeccompOnly);
    assert_eq!(anything.verdict, Verdict::Allowed);
}

#[test]
fn a_host_is_judged_by_the_first_rule_that_matches() {
    let mut policy = policy(ContainmentClass::Scoped);
    policy.network.allow = vec!["https://a.test".to_owned(), "b.test:22".to_owned()];
    policy.network.rules =
        policy.network.allow.iter().map(|entry| entry.parse().unwrap()).collect();
    let refused = Verdict::Refused { errno: 101 };
    for (scheme, name, port, verdict, key, change) in [
        (
            Some(Scheme::Https),
            "a.test",
            None,
            Verdict::Allowed,
            Some("[0]"),
            "take `https://a.test` off",
        ),
        (None, "b.test", Some(22), Verdict::Allowed, Some("[1]"), "take"),
        (Some(Scheme::Http), "a.test", None, refused, None, "add `http://a.test`"),
        (None, "c.test", Some(5432), refused, None, "add `c.test:5432`"),
    ] {
        let request = NetworkRequest { scheme, host: name.parse().unwrap(), port };
        let answer = ask(&Question::Host(request), &policy, Tier::Full);
        assert_eq!(answer.verdict, verdict, "{name}: {answer:?}");
        let suffix = format!("capabilities.network.allow{}", key.unwrap_or_default());
        assert_eq!(answer.because.key.as_deref(), Some(suffix.as_str()));
        assert!(answer.change.unwrap_or_default().contains(change), "{name}");
    }
    let own = NetworkRequest { scheme: None, host: "127.0.0.1".parse().unwrap(), port: Some(80) };
    assert_eq!(ask(&Question::Host(own), &policy, Tier::Sealed).verdict, Verdict::Allowed);
}

#[test]
fn a_system_call_is_judged_by_the_filter_that_is_installed() {
    for (name, args, tier, verdict) in [
        ("openat", vec![], Tier::Full, Verdict::Allowed),
        ("mount", vec![], Tier::Full, Verdict::Refused { errno: 1 }),
        ("io_uring_setup", vec![], Tier::SeccompOnly, Verdict::Refused { errno: 38 }),
        ("socket", vec![1], Tier::Sealed, EACCES),
        ("mount", vec![], Tier::Unconfined, Verdict::Allowed),
    ] {
        let question = Question::Syscall { name: name.to_owned(), args };
        let answer = ask(&question, &policy(ContainmentClass::Scoped), tier);
        assert_eq!(answer.verdict, verdict, "{name} {tier}");
        let unix = name == "socket";
        assert_eq!(answer.because.key.is_some(), unix, "{name}");
    }
}

#[test]
fn an_answer_is_flat_json() {
    let answer = ask_path(&rich(), Tier::Sealed, "/root", READ);
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["verdict"], "absent");
    assert_eq!(serde_json::from_value::<Answer>(json).unwrap(), answer);
}
