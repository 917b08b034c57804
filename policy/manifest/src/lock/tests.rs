use super::*;
use crate::parse;

const HASH: &str = "9f2c5a0d9f2c5a0d9f2c5a0d9f2c5a0d9f2c5a0d9f2c5a0d9f2c5a0d9f2c5a0d";

fn faults(yaml: &str) -> Vec<String> {
    match Lock::parse(yaml.as_bytes()) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            errors.faults().iter().map(|fault| format!("{} {fault}", fault.code)).collect()
        }
    }
}

#[test]
fn a_lock_reads_and_renders_to_the_same() {
    let yaml = format!(
        "lock_version: 3\nartifacts:\n  -\n    name: acme/patch-tool\n    resolved_version: \"0.9.2\"\n    \
         sha256:\n      any: \"{HASH}\"\n  -\n    name: acme/jq\n    resolved_version: \"1\"\n    sha256:\n      \
         platforms:\n        linux-x86_64: \"{HASH}\"\n    origin: runtime\n    session: ses_1\n    owner_id: 7\n"
    );
    let lock = Lock::parse(yaml.as_bytes()).unwrap();
    assert_eq!(lock.render(), yaml);
    let pin = lock.pin(&"acme/jq".parse().unwrap()).unwrap();
    assert_eq!((pin.origin, pin.owner_id), (Origin::Runtime, Some(7)));
    assert!(lock.pin(&"acme/other".parse().unwrap()).is_none());
}

#[test]
fn json_is_read_as_well() {
    let json = format!(
        r#"{{"lock_version":3,"artifacts":[{{"name":"a/b","resolved_version":"1","sha256":{{"any":"{HASH}"}},"origin":"operator"}}]}}"#
    );
    assert_eq!(Lock::parse(json.as_bytes()).unwrap().artifacts.len(), 1);
}

#[test]
fn each_broken_lock_is_refused_for_its_own_reason() {
    let pin = |rest: &str| {
        format!("lock_version: 3\nartifacts:\n  - {{name: a/b, resolved_version: '1', {rest}}}\n")
    };
    let hash = format!("sha256: {{any: {HASH}}}");
    let kinds = "write `{any: <hash>}` or `{platforms: {<platform>: <hash>}}`";
    for (yaml, expected) in [
        (String::new(), "E-RUN-212 line 1, column 1: the document is empty; write its keys".to_owned()),
        ("artifacts: []\n".to_owned(), "E-RUN-212 lock_version (line 1, column 1): the key is missing".to_owned()),
        ("lock_version: 2\n".to_owned(), "E-RUN-212 lock_version (line 1, column 15): the lock has version 2, and only 3 is read; write a new lock, by installing again".to_owned()),
        ("lock_version: '3'\n".to_owned(), "E-RUN-212 lock_version (line 1, column 15): found the text `3`; write `3`".to_owned()),
        ("lock_version: [3\n".to_owned(), "E-RUN-212 lock_version[1] (line 2, column 1): the list is not closed with `]`, or a comma is missing".to_owned()),
        (pin("sha256: {}"), format!("E-RUN-212 artifacts[0].sha256 (line 3, column 48): neither `any` nor `platforms` has a hash; {kinds}")),
        (pin(&format!("sha256: {{any: {HASH}, platforms: {{linux-x86_64: {HASH}}}}}")), format!("E-RUN-212 artifacts[0].sha256 (line 3, column 48): both `any` and `platforms` are written; {kinds}")),
        (pin("sha256: {any: abc}"), "E-RUN-212 artifacts[0].sha256.any (line 3, column 54): `abc` is no SHA-256 hash; write 64 hexadecimal digits in lower case".to_owned()),
        (pin(&format!("{hash}, origin: runtime")), "E-RUN-212 artifacts[0].session (line 3, column 5): the key is missing".to_owned()),
        (pin(&format!("{hash}, session: s")), "E-RUN-212 artifacts[0].session (line 3, column 130): the key needs `origin: runtime`".to_owned()),
    ] {
        assert_eq!(faults(&yaml), [expected], "{yaml}");
    }
    let twice = format!(
        "lock_version: 3\nartifacts:\n  - &p {{name: a/b, resolved_version: '1', {hash}}}\n  - *p\n"
    );
    assert_eq!(faults(&twice).len(), 1);
    assert!(faults(&twice)[0].contains("`a/b` is pinned twice"));
}

#[test]
fn a_manifest_and_its_lock_are_compared() {
    let manifest = parse(
        b"name: demo
version: '1'
artifacts:
  - {name: a/same, version: '1'}
  - {name: a/absent, version: '1'}
  - {name: a/other, version: '2'}
  - {name: a/pulled, version: '1', runtime: hook}
  - {name: a/prompt, version: '1', prompt_payload: true}
  - {name: a/keyed, version: '1', gateway: {endpoint: 'https://x.example', keyless: true}}
  - {name: a/fine, version: '1'}
  - {name: here, source: ./here, local_source: true}
inference: {driver: {artifact: a/d}, system_prompt_artifact: a/prompt}
",
    )
    .unwrap();
    let mut yaml = String::from("lock_version: 3\nartifacts:\n");
    for (name, origin) in [
        ("same", "operator"),
        ("other", "operator"),
        ("pulled", "runtime, session: s"),
        ("prompt", "runtime, session: s"),
        ("keyed", "runtime, session: s"),
        ("fine", "runtime, session: s"),
    ] {
        yaml.push_str("  - {name: a/");
        yaml.push_str(name);
        yaml.push_str(", resolved_version: '1', origin: ");
        yaml.push_str(origin);
        yaml.push_str(", sha256: {any: ");
        yaml.push_str(HASH);
        yaml.push_str("}}\n");
    }
    let lock = Lock::parse(yaml.as_bytes()).unwrap();
    let found: Vec<String> = lock
        .disagreements(&manifest)
        .iter()
        .map(|fault| format!("{} {}", fault.code, fault.message))
        .collect();
    assert_eq!(
        found,
        [
            "E-RUN-003 `a/absent` is not in the lock file",
            "E-RUN-003 `a/other` is pinned to version `1`, not `2`",
            "E-RUN-043 `a/pulled` was pulled by a session and may not be a hook",
            "E-RUN-043 `a/prompt` was pulled by a session and may not be the system prompt",
            "E-RUN-043 `a/keyed` was pulled by a session and may not be an artifact with a gateway",
        ]
    );
}
