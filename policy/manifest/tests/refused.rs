//! What is refused, topic by topic of the language.

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

/// Cases of one topic: lines that follow an identity of two lines (so their first is line 3), then
/// the faults that are found, each after `! `; none for lines that are accepted. `%%` ends a case.
const TOPICS: &[(&str, &str)] = &[
    ("artifact-identity", include_str!("cases/artifact-identity.cases")),
    ("artifact-roles", include_str!("cases/artifact-roles.cases")),
    ("context-lifecycle-trace", include_str!("cases/context-lifecycle-trace.cases")),
    ("door-control-process", include_str!("cases/door-control-process.cases")),
    ("exports", include_str!("cases/exports.cases")),
    ("files-and-networks", include_str!("cases/files-and-networks.cases")),
    ("inference", include_str!("cases/inference.cases")),
    ("other-grants", include_str!("cases/other-grants.cases")),
    ("retired-keys", include_str!("cases/retired-keys.cases")),
    ("shell", include_str!("cases/shell.cases")),
];

#[test]
fn each_case_has_the_faults_that_its_table_says() {
    let mut wrong = Vec::new();
    for (topic, cases) in TOPICS {
        for case in cases.split("%%\n").filter(|case| !case.is_empty()) {
            let (expected, lines): (Vec<&str>, Vec<&str>) =
                case.lines().partition(|line| line.starts_with("! "));
            let yaml = format!("name: demo\nversion: '1'\n{}\n", lines.join("\n"));
            let found: Vec<String> =
                faults(&yaml).lines().map(|line| format!("! {line}")).collect();
            if found != expected {
                wrong.push(format!("{topic}:\n{}\n{}", lines.join("\n"), found.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n%%\n"));
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
fn gateways_are_safe_to_hand_a_key_to() {
    let form = "write an absolute address without user, query and fragment, `https://host[:port][/path]`, or `http://` to the loopback";
    let one = "write `api_key: ${NAME}`, or `keyless: true`";
    let entry =
        |gateway: &str| format!("artifacts:\n  - {{name: a/x, version: '1', gateway: {gateway}}}");
    let cases = [
        ("{}", String::new()),
        ("{endpoint: 'https://x.example'}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
        ("{endpoint: 'https://x.example', keyless: false}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
        ("{endpoint: 'https://x.example', api_key: }", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
        ("{endpoint: 'https://x.example', api_key: ' '}", format!("E-CAP-018 artifacts[0].gateway (line 4, column 40): neither `api_key` nor `keyless: true` is written; {one}")),
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
fn patterns_with_two_stars_are_few() {
    let with = |count: usize| {
        let patterns: Vec<String> = (0..count).map(|i| format!("'*{i}*'")).collect();
        format!(
            "name: a\nversion: '1'\ncapabilities: {{shell: {{allow: [sh], strip_env: [{}]}}}}\n",
            patterns.join(", ")
        )
    };
    assert_eq!(faults(&with(64)), "");
    assert_eq!(
        faults(&with(65)),
        "E-MAN-003 capabilities.shell.strip_env (line 3, column 48): 65 patterns have `*` on both sides; write at most 64 of them"
    );
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
