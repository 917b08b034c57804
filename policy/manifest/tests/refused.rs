//! What is refused, table by table of the language: each case is a few lines of a manifest and the
//! faults that are found in it, code first.

use mur_manifest::parse;

/// The faults of a manifest, one a line.
fn faults(yaml: &str) -> String {
    match parse(yaml.as_bytes()) {
        Ok(_) => String::new(),
        Err(errors) => {
            let line = |fault: &mur_manifest::Fault| format!("{} {fault}", fault.code);
            errors.faults().iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Checks lines that follow an identity of two lines, so the first of them is line 3.
fn check(cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (lines, expected) in cases {
        let found = faults(&format!("name: demo\nversion: '1'\n{lines}\n"));
        if found != expected.join("\n") {
            wrong.push(format!(
                "{lines}\n--- found\n{found}\n--- expected\n{}",
                expected.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n=====\n"));
}

#[test]
fn identity_is_required_and_text() {
    for (yaml, expected) in [
        ("", "E-MAN-001 line 1, column 1: the document is empty; write its keys"),
        (
            "{}",
            "E-MAN-001 name (line 1, column 1): the key is missing\nE-MAN-001 version (line 1, column 1): the key is missing",
        ),
        (
            "name: ' '\nversion:\n",
            "E-MAN-001 name (line 1, column 7): the value is missing\nE-MAN-001 version (line 2, column 1): the value is missing",
        ),
        (
            "name: 7\nversion: 1.10\n",
            "E-MAN-003 name (line 1, column 7): found the number `7`; write text in quotes, as `\"7\"`\nE-MAN-003 version (line 2, column 10): found the number `1.10`; write text in quotes, as `\"1.10\"`",
        ),
        (
            "name: [a]\nversion: {b: c}\n",
            "E-MAN-003 name (line 1, column 7): found a list; write text\nE-MAN-003 version (line 2, column 10): found a mapping; write text",
        ),
        ("- name\n", "E-MAN-003 line 1, column 1: found a list; write a mapping of keys"),
        ("hello", "E-MAN-003 line 1, column 1: found the text `hello`; write a mapping of keys"),
        (
            "name: a\nversion: '1'\nname: b\n",
            "E-MAN-002 name (line 3, column 1): the key `name` is written a second time",
        ),
        (
            "name: a\n\tversion: '1'\n",
            "E-MAN-002 name (line 2, column 1): a tab stands where YAML wants blanks; indent with blanks alone",
        ),
    ] {
        assert_eq!(faults(yaml), expected, "{yaml}");
    }
}

#[test]
fn retired_keys_are_refused_with_what_replaces_them() {
    check(&[
        (
            "registry: x",
            &[
                "E-MAN-003 registry (line 3, column 1): the key is refused: registries stand in the operator's `config.yaml`",
            ],
        ),
        (
            "mur_version:",
            &[
                "E-MAN-003 mur_version (line 3, column 1): the key is refused: it is `deploy.mur_version`",
            ],
        ),
        (
            "config: {}",
            &[
                "E-MAN-003 config (line 3, column 1): the key is refused: settings stand on an artifact's entry, `artifacts[].config`",
            ],
        ),
        (
            "inference:\n  driver: {artifact: a/b}\n  endpoint: x\n  api_key: y\n  max_task_reopens: 1",
            &[
                "E-MAN-003 inference.endpoint (line 5, column 3): the key is refused: the address stands on the driver's entry, `artifacts[].gateway.endpoint`",
                "E-MAN-003 inference.api_key (line 6, column 3): the key is refused: the key stands on the driver's entry, `artifacts[].gateway.api_key`",
                "E-MAN-003 inference.max_task_reopens (line 7, column 3): the key is refused: it is `lifecycle.max_task_reopens`",
            ],
        ),
        (
            "capabilities: &c {}\nlifecycle:\n  <<: *c",
            &[
                "E-MAN-003 lifecycle.<< (line 5, column 3): the key is refused: YAML 1.2 has no merge keys; write the keys out",
            ],
        ),
    ]);
}

#[test]
fn files_and_networks_have_their_types() {
    check(&[
        (
            "capabilities: sealed",
            &[
                "E-MAN-003 capabilities (line 3, column 15): found the text `sealed`; write a mapping of keys",
            ],
        ),
        (
            "capabilities: {containment: strict}",
            &[
                "E-MAN-003 capabilities.containment (line 3, column 29): found the text `strict`; write `unconfined`, `advisory`, `scoped` or `sealed`",
            ],
        ),
        ("capabilities: {containment: ' sealed '}", &[]),
        ("capabilities: {containment: ' '}", &[]),
        (
            "capabilities: {filesystem: {workdir_exec: yes}}",
            &[
                "E-MAN-003 capabilities.filesystem.workdir_exec (line 3, column 43): found the text `yes`; write `true` or `false`",
            ],
        ),
        (
            "capabilities: {filesystem: {scope: [a]}}",
            &[
                "E-MAN-003 capabilities.filesystem.scope (line 3, column 36): found a list; write text",
            ],
        ),
        ("capabilities: {filesystem: {scope: /etc, read_only: [../x, ' ']}}", &[]),
        (
            "capabilities: {filesystem: {read_only: notes}}",
            &[
                "E-MAN-003 capabilities.filesystem.read_only (line 3, column 40): found the text `notes`; write a list, as `[a, b]`, or `[]` for none",
            ],
        ),
        (
            "capabilities:\n  filesystem:\n    read_only:",
            &[
                "E-MAN-003 capabilities.filesystem.read_only (line 5, column 5): found nothing; write a list, as `[a, b]`, or `[]` for none",
            ],
        ),
        (
            "capabilities: {filesystem: {records: true}}",
            &[
                "E-MAN-003 capabilities.filesystem.records (line 3, column 29): the grant is for hooks alone",
            ],
        ),
        ("capabilities: {network: {allow: ['', '*', 'http://x/y']}}", &[]),
        (
            "capabilities: {network: {allow: [443, ~]}}",
            &[
                "E-MAN-003 capabilities.network.allow[0] (line 3, column 34): found the number `443`; write text in quotes, as `\"443\"`",
                "E-MAN-003 capabilities.network.allow[1] (line 3, column 39): the entry is empty",
            ],
        ),
        (
            "capabilities: {network: {unix_sockets: 1}}",
            &[
                "E-MAN-003 capabilities.network.unix_sockets (line 3, column 40): found the number `1`; write `true` or `false`",
            ],
        ),
    ]);
}

#[test]
fn shell_grants_hold_together() {
    check(&[
        (
            "capabilities: {shell: {}}",
            &["E-MAN-001 capabilities.shell.allow (line 3, column 23): the key is missing"],
        ),
        (
            "capabilities: {shell: {allow: []}}",
            &[
                "E-MAN-003 capabilities.shell.allow (line 3, column 31): the list is empty; write the name of a program, or drop `shell`",
            ],
        ),
        (
            "capabilities: {shell: {allow: ['', a/b, ., .., 'a b', \"a\\0b\"]}}",
            &[
                "E-MAN-003 capabilities.shell.allow[0] (line 3, column 32): the entry is empty",
                "E-MAN-003 capabilities.shell.allow[1] (line 3, column 36): `a/b` has the character `/`; write the name of a program, without `/` and blanks, as `python3`",
                "E-MAN-003 capabilities.shell.allow[2] (line 3, column 41): `.` is reserved; write the name of a program, without `/` and blanks, as `python3`",
                "E-MAN-003 capabilities.shell.allow[3] (line 3, column 44): `..` is reserved; write the name of a program, without `/` and blanks, as `python3`",
                "E-MAN-003 capabilities.shell.allow[4] (line 3, column 48): `a b` has the character ` `; write the name of a program, without `/` and blanks, as `python3`",
                "E-MAN-003 capabilities.shell.allow[5] (line 3, column 55): `a\\u{0}b` has the character `\\0`; write the name of a program, without `/` and blanks, as `python3`",
            ],
        ),
        (
            "capabilities: {shell: {allow: [a], strip_env: ['A*B'], baseline_env: ['A=B']}}",
            &[
                "E-MAN-003 capabilities.shell.strip_env[0] (line 3, column 48): `A*B` has a `*` that is neither first nor last; write a variable's name, or a part of it with `*` first or last, as `CI_*`",
                "E-MAN-003 capabilities.shell.baseline_env[0] (line 3, column 71): `A=B` cannot name an environment variable; write the name of a variable, without `=`, `*` and blanks, as `LANG`",
            ],
        ),
        (
            "capabilities:\n  shell:\n    allow: [a]\n    interpreter_runtime:\n      - {}\n      - {binary: b, dirs: []}\n      - {binary: a, dirs: [{path: x}, {path: /y, list_dir: ~}]}",
            &[
                "E-MAN-001 capabilities.shell.interpreter_runtime[0].binary (line 7, column 9): the key is missing",
                "E-MAN-001 capabilities.shell.interpreter_runtime[0].dirs (line 7, column 9): the key is missing",
                "E-MAN-003 capabilities.shell.interpreter_runtime[1].binary (line 8, column 18): `b` is not in `shell.allow`; write a name that `shell.allow` has",
                "E-MAN-003 capabilities.shell.interpreter_runtime[1].dirs (line 8, column 27): the list is empty; write at least one folder, as `{path: /opt/x, list_dir: true}`",
                "E-MAN-001 capabilities.shell.interpreter_runtime[2].dirs[0].list_dir (line 9, column 28): the key is missing",
                "E-MAN-003 capabilities.shell.interpreter_runtime[2].dirs[0].path (line 9, column 35): `x` is relative; write an absolute path without `..`, as `/opt/runtime`",
                "E-MAN-001 capabilities.shell.interpreter_runtime[2].dirs[1].list_dir (line 9, column 60): the value is missing",
            ],
        ),
        (
            "capabilities:\n  shell:\n    allow: [a]\n    interpreter_runtime: [{binary: a, dirs: [{path: /x, list_dir: true}]}]\n    staged_runtime:\n      - {binary: a, source_path: /x, pin: p}\n      - {binary: c, source_path: x, pin: ' '}",
            &[
                "E-MAN-003 capabilities.shell.staged_runtime[0].binary (line 8, column 18): `a` has an `interpreter_runtime` as well; write one of the two grants",
                "E-MAN-003 capabilities.shell.staged_runtime[1].source_path (line 9, column 34): `x` is relative; write an absolute path without `..`, as `/opt/runtime`",
                "E-MAN-001 capabilities.shell.staged_runtime[1].pin (line 9, column 42): the value is missing",
            ],
        ),
    ]);
}

#[test]
fn the_other_grants_hold_together() {
    check(&[
        (
            "capabilities: {spawn: {allow: [child, a/x, b/x], workdir_snapshot: [a/x]}}",
            &[
                "E-MAN-003 capabilities.spawn.allow[0] (line 3, column 32): `child` has no scope; it may be meant as `murmur/child`, `<owner>/child` or `local/child`; write a full name `<scope>/<name>`, each of `a-z`, `0-9` and inner `-`, as `acme/patch-tool`",
                "E-MAN-003 capabilities.spawn.allow[2] (line 3, column 44): `b/x` and `a/x` share the name `x`, by which the model calls them; write one of the two",
            ],
        ),
        (
            "capabilities: {spawn: {allow: [a/x], workdir_snapshot: [a/y]}}",
            &[
                "E-MAN-003 capabilities.spawn.workdir_snapshot[0] (line 3, column 57): `a/y` is not in `spawn.allow`; write a name that `spawn.allow` has",
            ],
        ),
        (
            "capabilities: {spawn: {allow: [a/x]}}\nnetwork: {authentication: {scheme: bearer}}",
            &[
                "E-MAN-003 capabilities.spawn.allow (line 3, column 24): a capsule whose door has `network.authentication` cannot start others",
            ],
        ),
        (
            "capabilities: {env: {allow: ['']}}",
            &["E-MAN-003 capabilities.env.allow[0] (line 3, column 30): the entry is empty"],
        ),
        (
            "capabilities: {plan: {}}",
            &["E-MAN-001 capabilities.plan.submit (line 3, column 22): the key is missing"],
        ),
        (
            "capabilities: {install: {}}",
            &[
                "E-MAN-003 capabilities.install (line 3, column 25): neither `skill` nor `tool` has an entry; write an entry in one of them, or drop `install`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*/x']}}",
            &[
                "E-MAN-003 capabilities.install.tool[0] (line 3, column 33): `*/x` reaches over scopes, which only `*` does; write `*`, `<scope>/*`, `<scope>/<prefix>*` or a full name, as `acme/style-*`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*'], from: [sources]}}",
            &[
                "E-MAN-003 capabilities.install.from (line 3, column 45): found `[sources]`; write `[stores]` or `[stores, sources]`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*'], from: []}}",
            &[
                "E-MAN-003 capabilities.install.from (line 3, column 45): found `[]`; write `[stores]` or `[stores, sources]`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*'], from: [stores, stores]}}",
            &[
                "E-MAN-003 capabilities.install.from (line 3, column 45): found `[stores, stores]`; write `[stores]` or `[stores, sources]`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*'], from: [web]}}",
            &[
                "E-MAN-003 capabilities.install.from[0] (line 3, column 46): found the text `web`; write `stores` or `sources`",
            ],
        ),
        (
            "capabilities: {install: {tool: ['*']}}\ninference: {transport: process, driver: {artifact: a/b}}",
            &[
                "E-MAN-003 capabilities.install (line 3, column 16): under `inference.transport: process` the runtime offers no tool that installs",
            ],
        ),
        (
            "capabilities: {peer_fetch: {}}",
            &["E-MAN-001 capabilities.peer_fetch.allow (line 3, column 28): the key is missing"],
        ),
        (
            "capabilities: {peer_fetch: {allow: []}}",
            &[
                "E-MAN-003 capabilities.peer_fetch.allow (line 3, column 36): the list is empty; write a destination, or drop `peer_fetch`",
            ],
        ),
        (
            "capabilities: {task_io: {read: true}}",
            &["E-MAN-003 capabilities.task_io (line 3, column 16): the grant is for hooks alone"],
        ),
        ("capabilities: {conversation: {read: true}, state: {store: ''}}", &[]),
        (
            "capabilities: {harness: {paths: [{path: x, access: rw}, {}]}}",
            &[
                "E-MAN-003 capabilities.harness.paths[0].path (line 3, column 41): `x` is relative; write an absolute path or `~/…`, without `..` and not `/`, as `/srv/cache`",
                "E-MAN-003 capabilities.harness.paths[0].access (line 3, column 52): found the text `rw`; write `read` or `read-write`",
                "E-MAN-001 capabilities.harness.paths[1].path (line 3, column 57): the key is missing",
                "E-MAN-001 capabilities.harness.paths[1].access (line 3, column 57): the key is missing",
            ],
        ),
    ]);
}

#[test]
fn bounds_are_whole_numbers_above_zero() {
    for (block, keys) in [
        ("limits", &["memory_bytes", "table_elements", "instances", "deadline_seconds"][..]),
        (
            "resources",
            &[
                "max_processes",
                "max_open_files",
                "max_file_size_bytes",
                "cpu_seconds",
                "memory_bytes",
                "cgroup_memory_bytes",
                "cgroup_pids_max",
                "cgroup_cpu_percent",
                "cgroup_io_bytes_per_sec",
                "workdir_max_bytes",
            ],
        ),
    ] {
        for key in keys {
            for (value, found) in [
                ("0", "the number `0`"),
                ("-1", "the number `-1`"),
                ("1.0", "the number `1.0`"),
                ("1Gi", "the text `1Gi`"),
                ("18446744073709551616", "the number `18446744073709551616`"),
                ("[1]", "a list"),
            ] {
                let yaml = format!(
                    "name: a\nversion: '1'\ncapabilities: {{{block}: {{{key}: {value}}}}}\n"
                );
                let column = 15 + 1 + block.len() + 3 + key.len() + 2;
                let expected = format!(
                    "E-MAN-003 capabilities.{block}.{key} (line 3, column {column}): found {found}; write a whole number above 0"
                );
                assert_eq!(faults(&yaml), expected);
            }
            for value in ["1", "18446744073709551615", "0x10", "~"] {
                let yaml = format!(
                    "name: a\nversion: '1'\ncapabilities: {{{block}: {{{key}: {value}}}}}\n"
                );
                assert_eq!(faults(&yaml), "", "{key}: {value}");
            }
        }
    }
}

#[test]
fn artifacts_have_an_identity_that_fits_their_source() {
    check(&[
        (
            "artifacts:\n  - {}",
            &["E-MAN-001 artifacts[0].name (line 4, column 5): the key is missing"],
        ),
        (
            "artifacts:\n  - {name: acme/x}",
            &["E-MAN-001 artifacts[0].version (line 4, column 5): the key is missing"],
        ),
        (
            "artifacts:\n  - {name: acme/x, version: ' '}",
            &["E-MAN-001 artifacts[0].version (line 4, column 29): the value is missing"],
        ),
        (
            "artifacts:\n  - {name: murmur-grep, version: '1'}",
            &[
                "E-MAN-003 artifacts[0].name (line 4, column 12): `murmur-grep` has no scope; it may be meant as `murmur/grep`, `<owner>/murmur-grep` or `local/murmur-grep`; write a full name `<scope>/<name>`, each of `a-z`, `0-9` and inner `-`, as `acme/patch-tool`",
            ],
        ),
        (
            "artifacts:\n  - {name: acme/x, source: ./x, local_source: true}",
            &[
                "E-MAN-003 artifacts[0].name (line 4, column 12): `acme/x` has a scope, and beside `source` a name has none; write `x`",
            ],
        ),
        (
            "artifacts:\n  - {name: x, source: ./x}",
            &[
                "E-MAN-003 artifacts[0].source (line 4, column 23): a local `source` needs the operator's word; write `local_source: true` beside it",
            ],
        ),
        (
            "artifacts:\n  - {name: x, source: ./x, runtime: skill, local_source: false}",
            &[
                "E-MAN-003 artifacts[0].source (line 4, column 23): a local `source` needs the operator's word; write `local_source: true` beside it",
            ],
        ),
        ("artifacts:\n  - {name: x, source: ./x, runtime: skill}", &[]),
        (
            "artifacts:\n  - {name: Acme/x, version: '1'}",
            &[
                "E-MAN-003 artifacts[0].name (line 4, column 12): `Acme/x` has the character `A`; write a full name `<scope>/<name>`, or beside `source` a bare one, as `acme/patch-tool`",
            ],
        ),
        (
            "artifacts:\n  - {name: a/x, version: '1', runtime: wasm}",
            &[
                "E-MAN-003 artifacts[0].runtime (line 4, column 40): found the text `wasm`; write `tool`, `driver`, `hook` or `skill`",
            ],
        ),
        (
            "artifacts:\n  - {name: a/x, version: '1'}\n  - {name: b/x, version: '1'}",
            &[
                "E-CAP-020 artifacts[1].name (line 5, column 12): `b/x` and `a/x` share the tool name `x`; write one of the two",
            ],
        ),
        (
            "artifacts:\n  - {name: a/session-status, version: '1'}",
            &[
                "E-CAP-013 artifacts[0].name (line 4, column 12): the runtime keeps the name `session-status` for itself, as it does `share-file`, `fetch-peer-file`, `delegate-task`, `submit-plan`, `switch-driver`, `call-member`, `end-without-answer`, `pull-artifact`, `remove-artifact`, `session-status` or `background-command`; write another name",
            ],
        ),
    ]);
}

#[test]
fn artifacts_have_the_keys_of_their_role() {
    let hooks_only = "the grant is for hooks alone";
    check(&[
        (
            "artifacts:\n  - {name: a/x, version: '1', runtime: skill, capabilities: {}, config: {}, gateway: {endpoint: 'https://x.example', keyless: true}}",
            &[
                "E-MAN-003 artifacts[0].capabilities (line 4, column 61): a skill has no such key: nothing of it runs",
                "E-MAN-003 artifacts[0].config (line 4, column 73): a skill has no such key: nothing of it runs",
                "E-MAN-003 artifacts[0].gateway (line 4, column 86): a skill has no such key: nothing of it runs",
            ],
        ),
        (
            "artifacts:\n  - {name: a/x, version: '1', on_overflow: block}",
            &["E-MAN-003 artifacts[0].on_overflow (line 4, column 44): the key is for hooks alone"],
        ),
        (
            "artifacts:\n  - {name: a/x, version: '1', runtime: hook, on_overflow: wait}",
            &[
                "E-MAN-003 artifacts[0].on_overflow (line 4, column 59): found the text `wait`; write `drop` or `block`",
            ],
        ),
        (
            "artifacts:\n  - name: a/x\n    version: '1'\n    capabilities:\n      filesystem: {records: true}\n      task_io: {read: true}\n      conversation: {read: false}\n      install: {tool: ['*']}",
            &[
                &format!(
                    "E-MAN-003 artifacts[0].capabilities.filesystem.records (line 7, column 20): {hooks_only}"
                ),
                &format!(
                    "E-MAN-003 artifacts[0].capabilities.task_io (line 8, column 7): {hooks_only}"
                ),
                &format!(
                    "E-MAN-003 artifacts[0].capabilities.conversation (line 9, column 7): {hooks_only}"
                ),
                "E-MAN-003 artifacts[0].capabilities.install (line 10, column 7): installing is granted to the capsule, never to one of its artifacts",
            ],
        ),
        (
            "artifacts:\n  - name: a/x\n    version: '1'\n    runtime: hook\n    capabilities:\n      filesystem: {records: true, scope: a}\n      task_io: {}",
            &[
                "E-MAN-003 artifacts[0].capabilities.filesystem.records (line 8, column 20): `scope` is written as well, and a hook has one folder",
                "E-MAN-001 artifacts[0].capabilities.task_io.read (line 9, column 16): the key is missing",
            ],
        ),
        (
            "artifacts:\n  - {name: a/x, version: '1', config: ~}\n  - {name: a/y, version: '1', config: [1]}\n  - {name: a/z, version: '1', config: {1: .inf}}",
            &[],
        ),
    ]);
}

#[test]
fn gateways_are_safe_to_hand_a_key_to() {
    let form = "write an absolute address without user, query and fragment, `https://host[:port][/path]`, or `http://` to the loopback";
    let one = "write `api_key: ${NAME}`, or `keyless: true`";
    let entry =
        |gateway: &str| format!("artifacts:\n  - {{name: a/x, version: '1', gateway: {gateway}}}");
    let cases = [
        ("{}", String::new()),
        ("{endpoint: 'https://x.example'}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
        ("{endpoint: 'https://x.example', keyless: false}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
        ("{endpoint: 'https://x.example', keyless: true, api_key: k}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): `api_key` and `keyless: true` are both written; {one}")),
        ("{endpoint: 'https://x.example', keyless: false, api_key: k}", String::new()),
        ("{endpoint: 'http://x.example', keyless: true}", format!("E-MAN-003 artifacts[0].gateway.endpoint (line 4, column 51): `http://x.example` is plain `http` to another machine; the key would travel in the clear; {form}")),
        ("{endpoint: 'https://*.example', keyless: true}", format!("E-MAN-003 artifacts[0].gateway.endpoint (line 4, column 51): `https://*.example` does not name a host: the host of `https://*.example` is not one: `*.example` has a wildcard; write each host out; {form}")),
        ("{endpoint: 'https://x.example', api_key: 12345}", "E-MAN-003 artifacts[0].gateway.api_key (line 4, column 81): found something other than text; write text in quotes".to_owned()),
        ("{endpoint: 'https://x.example', api_key: '${A B}'}", "E-MAN-003 artifacts[0].gateway.api_key (line 4, column 81): what stands between `${` and `}` names no variable; write `${NAME}` or the key itself".to_owned()),
    ];
    for (gateway, expected) in cases {
        let found = faults(&format!("name: demo\nversion: '1'\n{}\n", entry(gateway)));
        let found: Vec<&str> = found.lines().filter(|line| !line.contains("E-MAN-001")).collect();
        assert_eq!(found.join("\n"), expected, "{gateway}");
    }
}

#[test]
fn inference_fits_its_transport() {
    check(&[
        ("inference: {}", &["E-MAN-001 inference.driver (line 3, column 12): the key is missing"]),
        (
            "inference: {driver: {}}",
            &["E-MAN-001 inference.driver.artifact (line 3, column 21): the key is missing"],
        ),
        (
            "inference: {transport: grpc, driver: {artifact: a/b}}",
            &[
                "E-MAN-003 inference.transport (line 3, column 24): found the text `grpc`; write `http` or `process`",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, command: x}",
            &[
                "E-MAN-003 inference.command (line 3, column 47): the key needs `transport: process`",
            ],
        ),
        (
            "inference: {transport: process, driver: {artifact: a/b}, max_tokens: 1, tool_refresh: immediate, alternates: []}",
            &[
                "E-MAN-003 inference.max_tokens (line 3, column 70): the key needs `transport: http`",
                "E-MAN-003 inference.tool_refresh (line 3, column 87): the key needs `transport: http`",
                "E-MAN-003 inference.alternates (line 3, column 110): the key needs `transport: http`",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, system_prompt: a, system_prompt_file: b}",
            &[
                "E-MAN-003 inference.system_prompt_file (line 3, column 76): `system_prompt` is written as well; write one of the two",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, system_prompt_artifact: a/style}",
            &[
                "E-MAN-003 inference.system_prompt_artifact (line 3, column 62): `a/style` is not in `artifacts`; write an entry with `prompt_payload: true`",
            ],
        ),
        (
            "artifacts: [{name: a/style, version: '1'}]\ninference: {driver: {artifact: a/b}, system_prompt_artifact: a/style}",
            &[
                "E-MAN-003 inference.system_prompt_artifact (line 4, column 62): `a/style` is no `prompt_payload`; write an entry with `prompt_payload: true`",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, max_turns: 0, max_tokens: 0, max_session_tokens: 0}",
            &[
                "E-MAN-003 inference.max_turns (line 3, column 49): found the number `0`; write a whole number above 0",
                "E-MAN-003 inference.max_tokens (line 3, column 64): found the number `0`; write a whole number above 0",
                "E-MAN-003 inference.max_session_tokens (line 3, column 87): found the number `0`; write a whole number above 0",
            ],
        ),
        (
            "inference:\n  driver: {artifact: a/b}\n  alternates:\n    - {name: primary, model: m, driver: {artifact: a/b}}\n    - {name: x, model: m, driver: {artifact: a/b}}\n    - {name: x, model: m, driver: {artifact: a/b}}",
            &[
                "E-MAN-003 inference.alternates[0].name (line 6, column 14): `primary` is reserved; write a letter and up to 62 more of `a-z`, `0-9` and `-`, not `primary`",
                "E-MAN-003 inference.alternates[2].name (line 8, column 14): the name `x` is used twice; write another name",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, retry: {max_retries: 21, initial_delay_ms: 0, max_delay_ms: 3600001}}",
            &[
                "E-MAN-003 inference.retry.max_retries (line 3, column 59): found the number `21`; write a whole number from 0 to 20",
                "E-MAN-003 inference.retry.initial_delay_ms (line 3, column 81): found the number `0`; write a whole number from 1 to 60000",
                "E-MAN-003 inference.retry.max_delay_ms (line 3, column 98): found the number `3600001`; write a whole number from 1 to 3600000",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}, compaction: {threshold: 0, system_prompt: a, system_prompt_file: b}}",
            &[
                "E-MAN-003 inference.compaction.threshold (line 3, column 62): found the number `0`; write a number above 0 and at most 1",
                "E-MAN-003 inference.compaction.system_prompt_file (line 3, column 103): `system_prompt` is written as well; write one of the two",
            ],
        ),
    ]);
}

#[test]
fn context_lifecycle_and_trace_keep_their_bounds() {
    check(&[
        (
            "context: {max_tokens: 0, record: true, seed_budget: 1.5, seed_overflow_margin: -0.1, retain: {max_messages: 0, max_age: 1w}, images: {keep: 4294967296}}",
            &[
                "E-MAN-003 context.max_tokens (line 3, column 23): found the number `0`; write a whole number above 0",
                "E-MAN-003 context.record (line 3, column 34): found `true`; write `on` or `off`",
                "E-MAN-003 context.seed_budget (line 3, column 53): found the number `1.5`; write a number from 0 to 1",
                "E-MAN-003 context.seed_overflow_margin (line 3, column 80): found the number `-0.1`; write a number from 0 to 1",
                "E-MAN-003 context.retain.max_messages (line 3, column 109): found the number `0`; write a whole number above 0",
                "E-MAN-003 context.retain.max_age (line 3, column 121): `w` in `1w` is no unit; write a number of seconds with an optional unit `s`, `m`, `h` or `d`, as `15m`",
                "E-MAN-003 context.images.keep (line 3, column 141): found the number `4294967296`; write a whole number from 0 to 4294967295",
            ],
        ),
        (
            "lifecycle: {task_acceptance: many, after_task: stop}",
            &[
                "E-MAN-003 lifecycle.task_acceptance (line 3, column 30): found the text `many`; write `none`, `single` or `queue`",
                "E-MAN-003 lifecycle.after_task (line 3, column 48): found the text `stop`; write `exit` or `sleep`",
            ],
        ),
        ("lifecycle: {queue_depth: 0}", &[]),
        (
            "lifecycle: {task_acceptance: queue, queue_depth: 0}",
            &[
                "E-MAN-003 lifecycle.queue_depth (line 3, column 50): a queue of depth 0 takes no task; write a depth above 0, or another `task_acceptance`",
            ],
        ),
        (
            "lifecycle: {keep_working: {message: go, limit: 0}}",
            &[
                "E-MAN-003 lifecycle.keep_working.limit (line 3, column 48): found the number `0`; write a whole number above 0",
            ],
        ),
        (
            "lifecycle: {done_check: {command: make test}}",
            &[
                "E-MAN-003 lifecycle.done_check.command (line 3, column 35): the program `make` is not in `capabilities.shell.allow`; write a command that begins with a granted program",
            ],
        ),
        (
            "capabilities: {shell: {allow: [make]}}\nlifecycle: {done_check: {command: make test}}",
            &[],
        ),
        (
            "trace: {capture: all}",
            &[
                "E-MAN-003 trace.capture (line 3, column 18): found the text `all`; write `none`, `meta` or `content`",
            ],
        ),
        (
            "trace: {retain: {}}",
            &[
                "E-MAN-003 trace.retain (line 3, column 17): the block is empty; write `max_sessions` or `max_age`, or drop `retain`",
            ],
        ),
        (
            "trace: {retain: {max_sesions: 3}}",
            &[
                "E-MAN-003 trace.retain (line 3, column 17): the block is empty; write `max_sessions` or `max_age`, or drop `retain`",
                "E-MAN-003 trace.retain.max_sesions (line 3, column 18): the key is not known; write `max_sessions` or `max_age`",
            ],
        ),
        (
            "trace: {retain: {max_sessions: 0}}",
            &[
                "E-MAN-003 trace.retain.max_sessions (line 3, column 32): found the number `0`; write a whole number above 0",
            ],
        ),
    ]);
}

#[test]
fn exports_are_disclosures_within_the_work_folder() {
    check(&[
        (
            "exports: {files: {}}",
            &[
                "E-MAN-001 exports.files.root (line 3, column 18): the key is missing",
                "E-MAN-001 exports.files.mode (line 3, column 18): the key is missing",
            ],
        ),
        (
            "exports: {files: {root: /out, mode: read-write, max_bytes: 0}}",
            &[
                "E-MAN-003 exports.files.root (line 3, column 25): `/out` is absolute; write a relative path that stays in the work folder, as `src/data`",
                "E-MAN-003 exports.files.mode (line 3, column 37): found the text `read-write`; write `read-only`",
            ],
        ),
        (
            "exports: {files: {root: out, mode: read-only, max_bytes: 0}}",
            &[
                "E-MAN-003 exports.files.max_bytes (line 3, column 58): found zero; write a size above 0, as `10Mi`",
            ],
        ),
        (
            "exports: {peer_files: {root: a, max_ttl: 0, max_bytes: 10MB}}",
            &[
                "E-MAN-003 exports.peer_files.max_ttl (line 3, column 42): found zero; write a duration above 0, as `15m`",
                "E-MAN-003 exports.peer_files.max_bytes (line 3, column 56): `MB` in `10MB` is no unit; write a number of bytes with an optional unit `Ki`, `Mi` or `Gi`, as `10Mi`",
            ],
        ),
        (
            "exports: {peer_files: {root: a}}\nlifecycle: {after_task: sleep}",
            &[
                "E-CAP-008 exports.peer_files (line 3, column 11): the key `max_ttl` is missing, and the capsule sleeps after a task; write `max_ttl: 15m` or less, or drop the export",
            ],
        ),
        (
            "exports: {peer_files: {root: a, max_ttl: 901}}\nlifecycle: {after_task: sleep}",
            &[
                "E-CAP-008 exports.peer_files.max_ttl (line 3, column 42): `901s` is above 900 seconds, and the capsule sleeps after a task; write `max_ttl: 15m` or less, or drop the export",
            ],
        ),
        ("exports: {peer_files: {root: a, max_ttl: 15m}}\nlifecycle: {after_task: sleep}", &[]),
        ("exports: {peer_files: {root: a, max_ttl: 2h}}", &[]),
        (
            "exports: {peer_tasks: {}}",
            &["E-MAN-001 exports.peer_tasks.accept (line 3, column 23): the key is missing"],
        ),
    ]);
}

#[test]
fn door_control_and_process_hold_together() {
    check(&[
        (
            "network: {internal_port: 0}",
            &[
                "E-MAN-003 network.internal_port (line 3, column 26): found the number `0`; write a whole number from 1 to 65535",
            ],
        ),
        (
            "network: {authentication: {scheme: basic, credentials: {Bob: {}}}}",
            &[
                "E-MAN-003 network.authentication.scheme (line 3, column 36): found the text `basic`; write `bearer`",
                "E-MAN-003 network.authentication.credentials.Bob (line 3, column 57): the key is wrong: `Bob` has the character `B`; write a letter and up to 31 more of `a-z`, `0-9`, `_` and `-`, not `operator`",
            ],
        ),
        (
            "network: {authentication: {scheme: bearer, credentials: {ci: ~}}}",
            &[
                "E-MAN-003 network.authentication.credentials.ci (line 3, column 62): the value is missing",
            ],
        ),
        (
            "control: {settings: [inference.model]}",
            &[
                "E-MAN-003 control (line 3, column 1): there is no `inference` whose settings could change",
                "E-MAN-003 control.settings[0] (line 3, column 22): found the text `inference.model`; write `inference.max_tokens` or `inference.driver`",
            ],
        ),
        (
            "inference: {driver: {artifact: a/b}}\ncontrol: {secrets: [KEY], agent_settings: [inference.max_tokens]}",
            &[
                "E-MAN-003 control.secrets[0] (line 4, column 21): no gateway has `api_key: ${KEY}`; write a name that a gateway's `api_key` uses",
                "E-MAN-003 control.agent_settings[0] (line 4, column 44): found the text `inference.max_tokens`; write `inference.driver`",
            ],
        ),
        ("process: {}", &["E-MAN-001 process.args (line 3, column 10): the key is missing"]),
        (
            "process: {args: []}",
            &[
                "E-MAN-003 process.args (line 3, column 17): the list is empty; write the program and its arguments, as `[python3, main.py]`",
            ],
        ),
        (
            "process: {args: [' ', x]}",
            &[
                "E-MAN-003 process.args[0] (line 3, column 18): the program has no name; write the program and its arguments, as `[python3, main.py]`",
            ],
        ),
        (
            "process: {args: sh -c true, env: [A], terminal: 1}",
            &[
                "E-MAN-003 process.args (line 3, column 17): found the text `sh -c true`; write a list, as `[a, b]`, or `[]` for none",
                "E-MAN-003 process.env (line 3, column 34): found a list; write a mapping",
                "E-MAN-003 process.terminal (line 3, column 49): found the number `1`; write `true` or `false`",
            ],
        ),
        (
            "process: {args: [sleep, 5], env: {A=B: x, PORT: 80}}",
            &[
                "E-MAN-003 process.args[1] (line 3, column 25): found the number `5`; write text in quotes, as `\"5\"`",
                "E-MAN-003 process.env.A=B (line 3, column 35): the key is wrong: `A=B` cannot name an environment variable; write the name of a variable, without `=`, `*` and blanks, as `LANG`",
                "E-MAN-003 process.env.PORT (line 3, column 49): found the number `80`; write text in quotes, as `\"80\"`",
            ],
        ),
        (
            "deploy: {mur_version: 0.1}",
            &[
                "E-MAN-003 deploy.mur_version (line 3, column 23): found the number `0.1`; write text in quotes, as `\"0.1\"`",
            ],
        ),
    ]);
}

#[test]
fn faults_come_in_file_order_and_beside_what_was_ignored() {
    let yaml = "trace: {capture: x}\nnaem: demo\nexports: {peer_tasks: {}}\nversion: 2\n";
    let errors = parse(yaml.as_bytes()).unwrap_err();
    let places: Vec<(&str, u32)> =
        errors.faults().iter().map(|fault| (fault.at.path.as_str(), fault.at.line)).collect();
    assert_eq!(
        places,
        [("name", 1), ("trace.capture", 1), ("exports.peer_tasks.accept", 3), ("version", 4)]
    );
    assert_eq!(errors.warnings().len(), 1);
    assert!(errors.warnings()[0].to_string().ends_with("meant may be `name`"));
}

#[test]
fn a_thousand_faults_are_kept_and_the_rest_is_counted() {
    let yaml = format!(
        "name: a\nversion: '1'\ncapabilities: {{shell: {{allow: [{}]}}}}",
        "a/b, ".repeat(1500)
    );
    let errors = parse(yaml.as_bytes()).unwrap_err();
    assert_eq!((errors.faults().len(), errors.omitted()), (1000, 500));
    assert!(errors.to_string().ends_with("\nand 500 more"));
}
