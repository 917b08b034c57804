use serde_json::Value;

use super::*;
use crate::fixture::{
    agent, artifact, decision, host, placement, placement_at, policy, shell_policy,
};
use crate::{ArtifactRole, HostPath, ShellPolicy, decide};

/// The keys of `spec/scope-report.md` §2, then ours.
const KEYS: [&str; 52] = [
    "declared_containment",
    "achieved_containment",
    "host_containment",
    "floor_met",
    "shortfall_reason",
    "enforcement_tier",
    "routes",
    "userns_grant",
    "landlock_abi",
    "filesystem_scope",
    "workdir_exec",
    "read_only_paths",
    "read_only_advisory_for",
    "preopens",
    "network_allow",
    "unix_sockets",
    "shell_allow",
    "spawn_allow",
    "spawn_workdir_snapshot",
    "parent_workdir",
    "images",
    "env_allow",
    "plan_submit",
    "install_skill",
    "install_tool",
    "install_from",
    "interpreter_runtime_grants",
    "derived_interpreter_runtime",
    "trust_store",
    "declared_needs",
    "pinned_programs",
    "name_resolution",
    "host_paths",
    "exports_files",
    "peer_files",
    "peer_tasks",
    "peer_fetch_allow",
    "state_stores",
    "configured_artifacts",
    "staged_runtime_grants",
    "runtime_writes",
    "manifest_files",
    "io_max",
    "cgroup_scope",
    "filesystem_boundary",
    "runtime_dir",
    "records_dir",
    "temp_dir",
    "process_view",
    "unconfined",
    "harness",
    "enforcement",
];

const TIERS: [Tier; 5] =
    [Tier::Unconfined, Tier::EnvironmentOnly, Tier::SeccompOnly, Tier::Full, Tier::Sealed];

/// Outcomes of a host where nobody asked further.
fn outcomes() -> Outcomes {
    Outcomes::new(placement(), &host(Some(7)))
}

/// A capsule with something in every part of its policy.
fn rich() -> CapabilityPolicy {
    let mut policy = shell_policy(ContainmentClass::Scoped, &["bash", "python3", "git"]);
    policy.files.read_only = vec!["fixtures".to_owned()];
    policy.network.allow = vec!["https://packages.example.org".to_owned()];
    policy.env_allow = vec!["CI".to_owned()];
    policy.host_paths = vec![HostPath { path: "/home/u/.config".into(), writable: true }];
    let mut tool = artifact("acme/patch", ArtifactRole::Tool);
    tool.scope = Some("src".to_owned());
    tool.configured = true;
    let mut hook = artifact("acme/audit", ArtifactRole::Hook);
    hook.records = true;
    hook.state_store = Some("demo".to_owned());
    policy.carried.artifacts = vec![tool, hook];
    policy.carried.agent = Some(agent(true));
    policy
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn every_key_stands_in_its_place_and_only_a_met_floor_drops_the_reason() {
    for policy in [policy(ContainmentClass::Advisory), rich()] {
        for tier in TIERS {
            let met = decision(tier);
            let mut unmet = met.clone();
            unmet.shortfall_reason = Some("because".to_owned());
            for (decision, reason) in [(met, false), (unmet, true)] {
                let report = ScopeReport::new(&policy, &decision, &outcomes());
                let value = serde_json::to_value(&report).expect("a report is JSON");
                let mut expected = KEYS.to_vec();
                expected.retain(|key| reason || *key != "shortfall_reason");
                assert_eq!(keys(&value), expected, "{tier}");
            }
        }
    }
}

#[test]
fn sub_objects_keep_their_keys_in_order() {
    let report = ScopeReport::new(&rich(), &decision(Tier::Full), &outcomes());
    let value = serde_json::to_value(&report).expect("a report is JSON");
    for (at, expected) in [
        ("/routes/0", "route present under_class mechanism note artifacts"),
        ("/preopens/0", "artifact role scope surface runtime_dir_reach"),
        ("/images", "keep max_bytes max_per_turn keep_applies"),
        ("/host_paths/0", "path access mechanism credential_locations"),
        ("/state_stores/0", "artifact store host_path"),
        ("/runtime_writes/0", "path kind condition"),
        ("/io_max", "declared_bytes_per_sec status reason"),
        ("/cgroup_scope", "status reason"),
        ("/filesystem_boundary", "restriction not_protected"),
        ("/runtime_dir", "path read_only_to_commands enforced_by not_protected_because"),
        ("/records_dir", "path read_only_to_commands enforced_by not_protected_because"),
        ("/temp_dir", "path tmpdir tmp_mapped mapped_by not_mapped_because"),
        ("/process_view", "private mounted_by not_private_because"),
        ("/harness", "driver binary paths hosts env unresolved"),
    ] {
        let part = value.pointer(at).expect(at);
        assert_eq!(keys(part), expected.split(' ').collect::<Vec<_>>(), "{at}");
    }
}

#[test]
fn lists_are_never_null_and_nothing_declared_is_empty() {
    let report =
        ScopeReport::new(&policy(ContainmentClass::Advisory), &decision(Tier::Full), &outcomes());
    let value = serde_json::to_value(&report).expect("a report is JSON");
    let null: Vec<_> = KEYS.iter().filter(|key| value[**key].is_null()).collect();
    assert_eq!(
        null,
        [
            &"shortfall_reason",
            &"filesystem_scope",
            &"parent_workdir",
            &"images",
            &"exports_files",
            &"peer_files",
            &"unconfined",
            &"harness"
        ]
    );
}

#[test]
fn grants_never_change_class_or_tier() {
    for floor in [ContainmentClass::Advisory, ContainmentClass::Scoped, ContainmentClass::Sealed] {
        let bare = policy(floor);
        let full = CapabilityPolicy { floor, ..rich() };
        let of = |policy: &CapabilityPolicy| {
            let decision = decide(policy, &host(Some(7)), &placement());
            let report = ScopeReport::new(policy, &decision, &outcomes());
            (
                report.declared_containment,
                report.achieved_containment,
                report.host_containment,
                report.floor_met,
                report.shortfall_reason,
                report.enforcement_tier,
            )
        };
        assert_eq!(of(&bare), of(&full));
    }
}

#[test]
fn the_boundary_follows_the_tier_and_repeats_the_folders_reasons() {
    for tier in TIERS {
        for workdir in ["/srv/proj", "/home/u"] {
            let mut decision = decision(tier);
            decision.achieved = ContainmentClass::Advisory.min(decision.achieved);
            let outcomes = Outcomes::new(placement_at(workdir), &host(Some(7)));
            let report = ScopeReport::new(&rich(), &decision, &outcomes);
            let boundary = &report.filesystem_boundary;
            assert_eq!(boundary.restriction, boundary::restriction(tier));
            let reasons: Vec<_> = [&report.runtime_dir, &report.records_dir]
                .into_iter()
                .filter_map(|folder| folder.not_protected_because.clone())
                .collect();
            assert!(boundary.not_protected.ends_with(&reasons), "{tier} {workdir}");
        }
    }
}

#[test]
fn covered_routes_name_the_tier_as_their_mechanism() {
    for tier in TIERS {
        let report = ScopeReport::new(&rich(), &decision(tier), &outcomes());
        for row in report.routes.iter().filter(|row| row.under_class) {
            assert_eq!(row.mechanism, report.enforcement_tier.as_str());
        }
    }
}

#[test]
fn a_parents_restriction_is_the_boundarys() {
    let snapshot = WorkdirSnapshot {
        source: "/srv/parent".to_owned(),
        files: 3,
        dirs: 1,
        symlinks: 0,
        repointed_symlinks: 0,
        bytes: 12,
        skipped_count: 0,
        skipped: Vec::new(),
    };
    for tier in TIERS {
        let mut outcomes = outcomes();
        let plain = ScopeReport::new(&rich(), &decision(tier), &outcomes);
        outcomes.parent_workdir = Some(snapshot.clone());
        let report = ScopeReport::new(&rich(), &decision(tier), &outcomes);
        assert_eq!(report, plain.with_parent_workdir(snapshot.clone()));
        let parent = report.parent_workdir.expect("a parent");
        assert_eq!(parent.restriction, report.filesystem_boundary.restriction);
    }
}

#[test]
fn an_unconfined_session_says_who_and_by_which_routes() {
    let mut policy = rich();
    policy.resources.declared = vec!["cpu_seconds".to_owned()];
    let mut outcomes = outcomes();
    outcomes.account.user = Some("u".to_owned());
    let report = ScopeReport::new(&policy, &decision(Tier::Unconfined), &outcomes);
    let own = report.unconfined.expect("the block");
    assert_eq!((own.uid, own.user.as_deref()), (1000, Some("u")));
    assert_eq!(own.resource_limits, ["cpu_seconds"]);
    assert_eq!(
        own.applies_to,
        ["shell", "wasm-tools", "hooks", "process-harness", "harness-tools"]
    );
    assert_eq!(ScopeReport::new(&policy, &decision(Tier::Full), &outcomes).unconfined, None);
}

#[test]
fn grants_are_spelt_as_the_format_says() {
    let mut policy = rich();
    policy.shell = Some(ShellPolicy {
        allow: vec!["git".to_owned(), "python3".to_owned()],
        interpreter_runtime: vec![
            crate::InterpreterRuntime {
                binary: "git".to_owned(),
                path: "/usr/libexec/git-core".into(),
                list_dir: true,
            },
            crate::InterpreterRuntime {
                binary: "git".to_owned(),
                path: "/opt/x".into(),
                list_dir: false,
            },
        ],
        staged_runtime: vec![crate::StagedRuntime {
            binary: "python3".to_owned(),
            source_path: "/opt/py".into(),
            pin: "py-3.12".to_owned(),
        }],
        ..ShellPolicy::default()
    });
    policy.carried.manifest_files = [("inference.system_prompt_file", "a.md"), ("x", "/b.md")]
        .map(|(key, declared)| crate::DeclaredFile { key: key.into(), declared: declared.into() })
        .into();
    let mut outcomes = outcomes();
    outcomes.derived_imports = [("/usr/lib/python3", true), ("/usr/lib/p.zip", false)]
        .map(|(path, folder)| DerivedImport { binary: "python3".into(), path: path.into(), folder })
        .into();
    outcomes.trust_store = vec![FoundPath { path: "/etc/ssl/certs".into(), folder: true }];
    let report = ScopeReport::new(&policy, &decision(Tier::Full), &outcomes);
    assert_eq!(
        report.interpreter_runtime_grants,
        ["git: /usr/libexec/git-core (list_dir)", "git: /opt/x"]
    );
    assert_eq!(report.staged_runtime_grants, ["python3: /opt/py (pin: py-3.12)"]);
    assert_eq!(
        report.derived_interpreter_runtime,
        ["python3: /usr/lib/python3 (list_dir)", "python3: /usr/lib/p.zip"]
    );
    assert_eq!(report.trust_store, ["/etc/ssl/certs (list_dir)"]);
    assert_eq!(report.state_stores[0].host_path, "/home/u/.murmur/state/demo");
    assert_eq!(report.configured_artifacts, ["acme/patch"]);
    let files = report.manifest_files.iter().map(|file| (&*file.resolved, &*file.base));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [("/srv/proj/a.md", "manifest-folder"), ("/b.md", "host")]
    );
    policy.network.allow.clear();
    assert!(ScopeReport::new(&policy, &decision(Tier::Full), &outcomes).trust_store.is_empty());
}

#[test]
fn a_report_reads_back_as_it_was_written() {
    for tier in TIERS {
        let report = ScopeReport::new(&rich(), &decision(tier), &outcomes());
        let json = report.to_json().expect("a report is JSON");
        assert!(!json.contains('\n'));
        assert_eq!(serde_json::from_str::<ScopeReport>(&json).expect("it reads back"), report);
    }
}

#[test]
fn a_report_travels_between_threads() {
    fn travels<T: Clone + std::fmt::Debug + Eq + Serialize + Send + Sync>() {}
    travels::<ScopeReport>();
}

#[test]
fn the_text_reads_in_fixed_blocks() {
    let report = ScopeReport::new(&rich(), &decision(Tier::Full), &outcomes());
    insta::assert_snapshot!(report.render_text());
}

#[test]
fn text_and_json_tell_the_same_sentences() {
    for tier in TIERS {
        let outcomes = Outcomes::new(placement_at("/home/u"), &host(Some(7)));
        let report = ScopeReport::new(&rich(), &decision(tier), &outcomes);
        let text = report.render_text();
        for statement in &report.filesystem_boundary.not_protected {
            assert!(text.contains(&format!("  - {statement}\n")), "{tier}: {statement}");
        }
        assert_eq!(text.contains("a run would be refused"), !report.floor_met);
    }
}

#[test]
fn a_name_cannot_paint_the_terminal_or_begin_a_line() {
    let mut policy = rich();
    policy.files.read_only = vec!["a\u{1b}[31m\nachieved:  sealed".to_owned()];
    let text = ScopeReport::new(&policy, &decision(Tier::Full), &outcomes()).render_text();
    assert!(!text.contains('\u{1b}') && !text.contains("\nachieved"), "{text}");
}
