use std::collections::BTreeSet;

use mur_manifest::schema;
use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};
use serde_json::Value;

use super::*;
use crate::{ArtifactNetwork, SpawnEnvelope};
use ContainmentClass::{Advisory, Scoped, Sealed, Unconfined};

/// A manifest of `demo` with these lines behind its identity.
fn manifest(lines: &str) -> Manifest {
    let yaml = format!("name: demo\nversion: \"1.0.0\"\n{lines}\n");
    mur_manifest::parse(yaml.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{yaml}"))
}

fn lowered(lines: &str) -> Lowered {
    let operator = OperatorGrants::default();
    lower(&manifest(lines), &operator).unwrap_or_else(|errors| panic!("{errors}\n{lines}"))
}

/// The codes, key paths and lines of the faults, in order.
fn faults(lines: &str, operator: &OperatorGrants) -> Vec<(Code, String, u32)> {
    let errors = lower(&manifest(lines), operator).expect_err(lines);
    errors.into_iter().map(|fault| (fault.code, fault.at.path, fault.at.line)).collect()
}

fn fault(lines: &str) -> (Code, String, u32) {
    let mut found = faults(lines, &OperatorGrants::default());
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn codes(lines: &str) -> Vec<Code> {
    lowered(lines).notices.into_iter().map(|notice| notice.code).collect()
}

#[test]
fn nothing_declared_grants_nothing() {
    let Lowered { policy, notices } = lowered("");
    assert_eq!(notices, []);
    assert_eq!(
        (policy.floor, policy.manifest_floor, policy.unconfined),
        (Advisory, Advisory, false)
    );
    assert_eq!(policy.files, crate::FilePolicy::default());
    assert_eq!(policy.network, crate::NetworkPolicy::default());
    assert_eq!(policy.shell, None);
    assert_eq!(policy.resources, crate::fixture::resources());
    assert_eq!(policy.capsule.manifest_digest.len(), 64);
    assert!(!policy.has_subprocess_route());
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row a refusal")]
fn each_refusal_names_its_code_key_and_line() {
    for (lines, code, path, line) in [
        (
            "capabilities: { filesystem: { scope: /x } }",
            Code::ECap002,
            "capabilities.filesystem.scope",
            3,
        ),
        (
            "capabilities:\n  filesystem:\n    scope: a/../..",
            Code::ECap002,
            "capabilities.filesystem.scope",
            5,
        ),
        (
            "capabilities:\n  filesystem:\n    read_only: [ok, ../x]",
            Code::ECap012,
            "capabilities.filesystem.read_only[1]",
            5,
        ),
        (
            "capabilities: { filesystem: { read_only: [.] } }",
            Code::ECap012,
            "capabilities.filesystem.read_only[0]",
            3,
        ),
        (
            "capabilities:\n  peer_fetch:\n    allow: [a.test, 'http://a.test/x']",
            Code::ECap001,
            "capabilities.peer_fetch.allow[1]",
            5,
        ),
        (
            "capabilities:\n  shell:\n    allow: [python3]\n    staged_runtime:\n      - { binary: python3, source_path: /opt/py, pin: x }",
            Code::ECap004,
            "capabilities.shell.staged_runtime[0].source_path",
            7,
        ),
        (
            "capabilities: { env: { allow: [GH_TOKEN] } }",
            Code::ECap016,
            "capabilities.env.allow[0]",
            3,
        ),
        (
            "capabilities: { env: { allow: [TMPDIR] } }",
            Code::ECap016,
            "capabilities.env.allow[0]",
            3,
        ),
        (
            "capabilities:\n  shell: { allow: [sh], strip_env: ['CI_*'] }\n  env: { allow: [CI_JOB] }",
            Code::ECap016,
            "capabilities.env.allow[0]",
            5,
        ),
        ("context: { record_store: a/b }", Code::ECap011, "context.record_store", 3),
        ("process: { args: [bash] }", Code::ECap201, "process.args[0]", 3),
        (
            "capabilities: { shell: { allow: [bash] } }\nprocess: { args: [./bash] }",
            Code::ECap201,
            "process.args[0]",
            4,
        ),
        (
            "capabilities: { shell: { allow: [bash] } }\nprocess: { args: [bash], env: { HOME: /x } }",
            Code::ECap207,
            "process.env.HOME",
            4,
        ),
        (
            "capabilities: { shell: { allow: [bash] } }\nprocess: { args: [bash], env: { ACME_API_KEY: x } }",
            Code::ECap207,
            "process.env.ACME_API_KEY",
            4,
        ),
        (
            "capabilities: { network: { allow: [a.test] } }",
            Code::ECap200,
            "capabilities.network.allow",
            3,
        ),
        ("capabilities: { containment: unconfined }", Code::ECap202, "capabilities.containment", 3),
        (
            "artifacts:\n  - { name: acme/x, version: '1', runtime: hook, capabilities: { state: { store: .x } } }",
            Code::ECap009,
            "artifacts[0].capabilities.state.store",
            4,
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', capabilities: { filesystem: { scope: .. } } }",
            Code::ECap002,
            "artifacts[0].capabilities.filesystem.scope",
            4,
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', capabilities: { network: { allow: ['*.test'] } } }",
            Code::ECap001,
            "artifacts[0].capabilities.network.allow[0]",
            4,
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', config: [1] }",
            Code::ECap010,
            "artifacts[0].config",
            4,
        ),
    ] {
        assert_eq!(fault(lines), (code, path.to_owned(), line), "{lines}");
    }
}

#[test]
fn faults_come_all_at_once_in_file_order() {
    let lines = "capabilities:\n  env: { allow: [NPM_TOKEN] }\n  filesystem: { read_only: [/a], scope: .. }\n  network: { allow: ['x y'] }\ncontext: { record_store: . }";
    let found = faults(lines, &OperatorGrants::default());
    let codes: Vec<_> = found.iter().map(|(code, ..)| *code).collect();
    assert_eq!(
        codes,
        [Code::ECap016, Code::ECap012, Code::ECap002, Code::ECap200, Code::ECap001, Code::ECap011]
    );
    let errors = lower(&manifest(lines), &OperatorGrants::default()).expect_err("faults");
    assert_eq!(errors.to_string().lines().count(), 6);
    assert_eq!(errors.code(), Code::ECap016);
}

#[test]
fn the_floor_is_the_maximum_of_its_sources() {
    let classes = [None, Some(Advisory), Some(Scoped), Some(Sealed)];
    for manifest_floor in classes {
        for config_floor in classes {
            for flag in classes {
                let lines = manifest_floor.map_or_else(String::new, |own| {
                    format!("capabilities: {{ containment: {own} }}")
                });
                let operator = OperatorGrants { config_floor, flag, ..OperatorGrants::default() };
                let policy = lower(&manifest(&lines), &operator).expect("it lowers").policy;
                let strongest = [manifest_floor, config_floor, flag].into_iter().flatten().max();
                assert_eq!(policy.floor, strongest.unwrap_or(Advisory));
                assert_eq!(policy.manifest_floor, manifest_floor.unwrap_or(Advisory));
                assert!(!policy.unconfined);
            }
        }
    }
}

#[test]
fn unconfined_needs_both_words_and_no_config() {
    let asks = "capabilities: { containment: unconfined }";
    let with =
        |config_floor, flag| OperatorGrants { config_floor, flag, ..OperatorGrants::default() };
    let policy = lower(&manifest(asks), &with(None, Some(Unconfined))).expect("both").policy;
    assert_eq!((policy.floor, policy.unconfined), (Unconfined, true));
    for (lines, operator) in [
        (asks, with(None, None)),
        (asks, with(None, Some(Scoped))),
        (asks, with(Some(Scoped), Some(Unconfined))),
        (asks, with(Some(Advisory), Some(Unconfined))),
        ("", with(None, Some(Unconfined))),
        ("capabilities: { containment: sealed }", with(None, Some(Unconfined))),
    ] {
        let found = faults(lines, &operator);
        assert_eq!(found[0].0, Code::ECap202, "{lines} {operator:?}");
    }
}

#[test]
fn host_folders_are_refused_by_index_and_path() {
    let folder = |path: &str| HostPath { path: path.into(), writable: false };
    for (paths, index, words) in [
        (vec![folder("/srv"), folder("/")], 1, "whole host"),
        (vec![folder("srv")], 0, "relative"),
        (vec![folder("/srv"), folder("/opt"), folder("/srv")], 2, "twice"),
    ] {
        let operator = OperatorGrants { host_paths: paths, ..OperatorGrants::default() };
        let errors = lower(&manifest(""), &operator).expect_err("a bad folder");
        let fault = &errors.faults()[0];
        assert_eq!(fault.code, Code::ECap205);
        assert!(fault.to_string().contains(&format!("host_paths[{index}]")), "{fault}");
        assert!(fault.message.contains(words), "{fault}");
    }
}

#[test]
fn the_operators_files_and_flag_come_in_as_they_are_resolved() {
    let global = b"containment: scoped\nhost_paths: [{path: ~/.cache, access: read-write}, {path: /srv/a, access: read}]\n";
    let files = mur_manifest::OperatorFiles { global: Some(global), ..Default::default() };
    let config = OperatorConfig::parse(files).expect("it parses");
    let grants =
        OperatorGrants::new(&config, Some(ContainmentFloor::Sealed), Path::new("/home/ann"));
    assert_eq!((grants.config_floor, grants.flag), (Some(Scoped), Some(Sealed)));
    let folders: Vec<_> =
        grants.host_paths.iter().map(|own| (own.path.to_str().unwrap(), own.writable)).collect();
    assert_eq!(folders, [("/home/ann/.cache", true), ("/srv/a", false)]);
}

#[test]
fn each_warning_has_its_trigger() {
    for (lines, expected) in [
        ("capabilities: { filesystem: { workdir_exec: true } }", vec![Code::WSec011]),
        ("capabilities: { state: {} }", vec![Code::WSec014]),
        ("capabilities: { conversation: { read: true } }", vec![Code::WSec016]),
        ("capabilities: { limits: { instances: 3 } }", vec![Code::WSec008]),
        ("capabilities: { env: { allow: [DEPLOY_KEY, CI] } }", vec![Code::WSec024]),
        (
            "capabilities:\n  shell:\n    allow: [git, perl]\n    interpreter_runtime:\n      - { binary: git, dirs: [{ path: /a, list_dir: true }, { path: /b, list_dir: false }] }\n      - { binary: perl, dirs: [{ path: /c, list_dir: true }] }",
            vec![Code::WSec009, Code::WSec009],
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', runtime: hook, capabilities: { shell: { allow: [sh] }, env: {} } }",
            vec![Code::WSec006],
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', capabilities: { filesystem: { read_only: [a] } } }",
            vec![Code::WSec008],
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', capabilities: { network: { allow: [a.test] } } }",
            vec![Code::WSec007],
        ),
        (
            "artifacts:\n  - { name: acme/x, version: '1', gateway: { endpoint: 'https://a.test', keyless: true } }",
            vec![Code::WSec030],
        ),
    ] {
        assert_eq!(codes(lines), expected, "{lines}");
    }
}

#[test]
fn a_gateways_host_that_is_reached_directly_as_well_is_said() {
    let gateway = "artifacts:\n  - { name: acme/x, version: '1', gateway: { endpoint: 'https://a.test', keyless: true } }";
    for (entry, warned) in
        [("a.test", true), ("'https://A.test'", true), ("b.test", false), ("a.test.example", false)]
    {
        let lines = format!("{gateway}\ncapabilities: {{ network: {{ allow: [{entry}] }} }}");
        let (lowered, _) = lower_all(&manifest(&lines), &OperatorGrants::default());
        let direct = lowered.notices.iter().any(|notice| notice.code == Code::WSec025);
        assert_eq!(direct, warned, "{entry}");
    }
}

#[test]
fn a_warning_names_its_place_in_the_file() {
    let Lowered { notices, .. } = lowered("capabilities:\n  filesystem:\n    workdir_exec: true");
    assert_eq!(notices[0].reference, "capabilities.filesystem.workdir_exec (line 5, column 5)");
}

#[test]
fn a_credential_in_a_sleeping_capsule_gets_one_more_sentence() {
    let lines = "capabilities: { env: { allow: [DEPLOY_KEY] } }";
    let text = |lines: &str| lowered(lines).notices[0].text.clone();
    assert!(!text(lines).contains("sleeps"));
    assert!(text(&format!("{lines}\nlifecycle: {{ after_task: sleep }}")).contains("sleeps"));
}

#[test]
fn read_only_subtrees_are_sorted_without_one_beneath_another() {
    let lines = "capabilities: { filesystem: { read_only: [vendor/x, fixtures, ' vendor ', fixtures, fix] } }";
    let files = lowered(lines).policy.files;
    assert_eq!(files.read_only, ["vendor/x", "fixtures", "vendor", "fixtures", "fix"]);
    let paths: Vec<_> = files.read_only_paths.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(paths, ["fix", "fixtures", "vendor"]);
}

#[test]
fn a_scope_of_the_whole_work_folder_is_no_scope_and_is_reported_as_written() {
    for (scope, path) in
        [(".", None), ("./", None), ("a/../b", Some("b")), ("data/in/", Some("data/in"))]
    {
        let lines = format!("capabilities: {{ filesystem: {{ scope: {scope} }} }}");
        let files = lowered(&lines).policy.files;
        assert_eq!(files.scope.as_deref(), Some(scope));
        assert_eq!(files.scope_path.as_deref(), path.map(std::path::Path::new));
    }
}

#[test]
fn an_artifacts_network_is_narrowed_by_the_same_predicate() {
    for (ceiling, candidate, covered) in [
        ("example.com", "https://example.com", true),
        ("https://example.com", "example.com", false),
        ("example.com", "example.com", true),
        ("https://example.com", "https://example.com", true),
        ("https://example.com", "http://example.com", false),
        ("example.com:8443", "example.com:8443", true),
        ("example.com:8443", "example.com:9000", false),
        ("example.com", "other.example.com", false),
    ] {
        let mut policy = crate::fixture::policy(Scoped);
        policy.network.rules = vec![ceiling.parse().unwrap()];
        let lines = format!(
            "artifacts:\n  - {{ name: acme/x, version: '1', capabilities: {{ network: {{ allow: ['{candidate}'] }} }} }}"
        );
        let manifest = manifest(&lines);
        let mut findings =
            Findings { source: &manifest.source, faults: Vec::new(), notices: Vec::new() };
        let own = artifact::lower(&manifest.artifacts, &policy, &mut findings).remove(0);
        let kept = matches!(own.network, ArtifactNetwork::Rules(rules) if rules.len() == 1);
        assert_eq!(kept, covered, "{ceiling} {candidate}");
        assert_eq!(findings.notices.len(), usize::from(!covered), "{ceiling} {candidate}");
    }
}

#[test]
fn an_artifact_begins_with_what_its_role_says() {
    let lines = "artifacts:
  - { name: acme/t, version: '1' }
  - { name: acme/n, version: '1', capabilities: { network: { allow: [] }, filesystem: { scope: src } } }
  - { name: acme/h, version: '1', runtime: hook }
  - { name: acme/g, version: '1', runtime: hook, capabilities: { network: { allow: [a.test] }, filesystem: { records: true }, state: {}, task_io: { read: true } } }
  - { name: acme/d, version: '2', runtime: driver, capabilities: { state: { store: x } }, config: { a: 1 } }";
    let artifacts = lowered(lines).policy.carried.artifacts;
    let none = ArtifactNetwork::Rules(Vec::new());
    assert_eq!(artifacts[0].network, ArtifactNetwork::Inherited);
    assert_eq!((&artifacts[1].network, artifacts[1].scope.as_deref()), (&none, Some("src")));
    assert_eq!(artifacts[2].network, none);
    assert!(matches!(&artifacts[3].network, ArtifactNetwork::Rules(rules) if rules.len() == 1));
    assert!(artifacts[3].records && artifacts[3].reads_task);
    assert_eq!(artifacts[3].state_store.as_deref(), Some("demo"));
    assert_eq!((artifacts[4].state_store.as_deref(), artifacts[4].configured), (Some("x"), true));
}

#[test]
fn a_config_must_fit_one_variable() {
    for (length, fits) in [(100_000, true), (131_060, false)] {
        let lines = format!(
            "artifacts:\n  - {{ name: acme/x, version: '1', config: {{ a: {} }} }}",
            "x".repeat(length)
        );
        assert_eq!(lower(&manifest(&lines), &OperatorGrants::default()).is_ok(), fits, "{length}");
    }
}

#[test]
fn no_value_of_a_config_or_key_enters_a_policy() {
    let lines = "artifacts:\n  - { name: acme/d, version: '2', runtime: driver, config: { a: sesame }, gateway: { endpoint: 'https://llm.test', api_key: sesame } }";
    let policy = lowered(lines).policy;
    assert!(!serde_json::to_string(&policy).unwrap().contains("sesame"));
    assert!(!format!("{policy:?}").contains("sesame"));
}

#[test]
fn a_policy_reads_back_as_it_was_written() {
    let lines = "capabilities:\n  containment: sealed\n  shell: { allow: [bash], strip_env: ['A_*'] }\n  filesystem: { scope: data, read_only: [x] }\n  resources: { cpu_seconds: 7 }\nprocess: { args: [bash, -c, 'true'], cwd: sub, env: { A: b } }\ninference: { driver: { artifact: acme/d }, transport: process }";
    let policy = lowered(lines).policy;
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<CapabilityPolicy>(&json).unwrap(), policy);
    assert_eq!(policy.resources.declared, ["cpu_seconds"]);
    assert_eq!(policy.process.as_ref().unwrap().cwd.as_deref(), Some("sub".as_ref()));
    assert!(policy.carried.process_harness());
}

#[test]
fn the_envelope_is_made_from_the_lowered_policy() {
    let lines = "artifacts:\n  - { name: acme/h, version: '1', runtime: hook, capabilities: { state: {} } }\ncapabilities:\n  containment: scoped\n  shell: { allow: [bash] }\n  install: { tool: ['acme/*'], from: [sources, stores] }";
    let own = SpawnEnvelope::of(&lowered(lines).policy);
    assert_eq!((own.containment_floor, own.install_from_sources), (Scoped, true));
    assert_eq!(own.state_stores, BTreeSet::from(["demo".to_owned()]));
    assert_eq!(
        (own.shell_allow, own.install_tool),
        (vec!["bash".to_owned()], vec!["acme/*".to_owned()])
    );
}

#[test]
fn an_envelope_counts_what_is_declared_though_a_launch_would_refuse_it() {
    let lines = "capabilities:\n  containment: unconfined\n  network: { allow: [a.test] }\n  shell: { allow: [sh], staged_runtime: [{ binary: sh, source_path: /a, pin: x }] }";
    let own = envelope(&manifest(lines)).expect("an envelope");
    assert_eq!((own.network_allow, own.containment_floor), (vec!["a.test".to_owned()], Unconfined));
    let broken = "capabilities: { network: { allow: ['*.test'] } }";
    let errors = envelope(&manifest(broken)).expect_err("a bad entry");
    assert_eq!(errors.code(), Code::ECap001);
}

#[test]
fn a_program_is_allowed_by_its_name_or_by_a_path_that_ends_with_it() {
    let policy = crate::fixture::shell_policy(Advisory, &["bash"]);
    for (program, allowed) in [
        ("bash", true),
        ("/usr/bin/bash", true),
        ("/usr/bin/sh", false),
        ("./bash", false),
        ("bin/bash", false),
        ("/", false),
        ("", false),
    ] {
        assert_eq!(allows_program(&policy, program), allowed, "{program}");
    }
}

/// Every leaf below a schema, as the key table spells it.
fn leaves(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (key, below) in properties {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            leaves(below, &path, found);
        }
        return;
    }
    match schema.get("items") {
        Some(items) if items.get("properties").is_some() => {
            leaves(items, &format!("{path}[]"), found);
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn every_capability_key_of_the_manifest_is_decided_in_the_table() {
    let mut found = BTreeSet::new();
    leaves(&schema()["properties"]["capabilities"], "", &mut found);
    let listed = KEYS.iter().map(|(key, _)| (*key).to_owned());
    let listed: BTreeSet<_> = listed.filter(|key| !key.starts_with("artifacts[]")).collect();
    assert_eq!(found, listed);
}

fn floor_word() -> impl Strategy<Value = ContainmentClass> {
    prop_oneof![Just(Advisory), Just(Scoped), Just(Sealed)]
}

proptest! {
    #[test]
    fn the_floor_never_depends_on_which_source_says_it(a in floor_word(), b in floor_word(), c in floor_word()) {
        let of = |own: ContainmentClass, config, flag| {
            let operator = OperatorGrants {
                config_floor: Some(config), flag: Some(flag), ..OperatorGrants::default()
            };
            lower(&manifest(&format!("capabilities: {{ containment: {own} }}")), &operator)
                .expect("it lowers").policy.floor
        };
        let strongest = a.max(b).max(c);
        for (own, config, flag) in [(a, b, c), (b, c, a), (c, a, b), (c, b, a)] {
            prop_assert_eq!(of(own, config, flag), strongest);
        }
    }
}

/// The small and the large example of the format.
const SUMMARISER: &str = "artifacts:
  - { name: acme/llm-driver, version: '2.1.0', runtime: driver, gateway: { endpoint: 'https://llm.example.net', api_key: '${LLM_KEY}' } }
inference: { model: small-1, driver: { artifact: acme/llm-driver } }
capabilities: { containment: advisory, filesystem: { read_only: [notes] } }";

const BUILDER: &str = "artifacts:
  - { name: acme/code-harness-driver, version: '3.2.0', runtime: driver }
inference: { transport: process, model: large-3, driver: { artifact: acme/code-harness-driver } }
capabilities:
  containment: sealed
  network: { allow: [], unix_sockets: false }
  shell:
    allow: [python3, make]
    staged_runtime: [{ binary: python3, source_path: /opt/pinned/py-3.12.4, pin: py-3.12.4/build-7 }]
  resources: { max_open_files: 4096, cgroup_io_bytes_per_sec: 52428800 }
exports: { peer_tasks: { accept: false }, files: { root: out, mode: read-only, max_bytes: 5Mi } }";

#[test]
fn a_summariser_has_no_process_and_counts_its_one_gateway() {
    let Lowered { policy, notices } = lowered(SUMMARISER);
    assert_eq!(notices, []);
    assert!(!policy.has_subprocess_route());
    let agent = policy.carried.agent.expect("an agent");
    assert_eq!((agent.driver.as_str(), agent.process_harness), ("acme/llm-driver@2.1.0", false));
}

#[test]
fn a_sealed_build_keeps_its_staged_runtime_and_is_refused_below_sealed() {
    let policy = lowered(BUILDER).policy;
    assert!(policy.has_subprocess_route());
    assert_eq!(policy.resources.declared, ["max_open_files", "cgroup_io_bytes_per_sec"]);
    assert_eq!(policy.carried.exports_files.expect("exports").max_bytes, 5 << 20);
    assert_eq!(policy.shell.expect("programs").staged_runtime[0].pin, "py-3.12.4/build-7");
    let scoped = BUILDER.replace("containment: sealed", "containment: scoped");
    assert_eq!(fault(&scoped).0, Code::ECap004);
    // Another source may raise the floor to what the grant needs.
    let operator = OperatorGrants { flag: Some(Sealed), ..OperatorGrants::default() };
    assert!(lower(&manifest(&scoped), &operator).is_ok());
}

#[test]
fn each_key_that_is_refused_or_warned_about_says_so() {
    for (key, handling) in KEYS {
        let written = match key {
            "network.allow" => "network: { allow: [a.test] }",
            "harness.paths[].path" => "harness: { paths: [{ path: /a, access: read }] }",
            "harness.paths[].access" => "harness: { paths: [{ path: /b, access: read-write }] }",
            "state.store" => "state: { store: x }",
            "conversation.read" => "conversation: { read: true }",
            "limits.memory_bytes" => "limits: { memory_bytes: 1 }",
            "limits.table_elements" => "limits: { table_elements: 1 }",
            "limits.instances" => "limits: { instances: 1 }",
            "limits.deadline_seconds" => "limits: { deadline_seconds: 1 }",
            _ => {
                assert!(!matches!(handling, Handling::Refused | Handling::Warned), "{key}");
                continue;
            }
        };
        let lines = format!(
            "capabilities: {{ {written} }}\ninference: {{ transport: process, driver: {{ artifact: a/d }} }}"
        );
        let answer = lower(&manifest(&lines), &OperatorGrants::default());
        match handling {
            Handling::Refused => assert_eq!(answer.expect_err(key).code(), Code::ECap200),
            Handling::Warned => assert_eq!(answer.expect(key).notices.len(), 1, "{key}"),
            Handling::Enforced | Handling::Carried | Handling::Misplaced => panic!("{key}"),
        }
    }
}
