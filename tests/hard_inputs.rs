//! Hard inputs: each gets a clear answer from `mur check`, soon, within little memory, and never a panic.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const MIB: usize = 1 << 20;
const HEAD: &str = "name: demo\nversion: '1'\n";

/// Address space of the checking process, in kibibytes: the program itself and what it may need besides.
const MEMORY_KIB: usize = 160 * 1024;
/// An unoptimised build beside other tests; benchmarks hold the release build to 100 ms.
const TIME: Duration = Duration::from_secs(20);

/// What is to be said of an input: the first code, and a part of its message; nothing for one that is accepted.
type Answer = Option<(&'static str, &'static str)>;

/// Exit code and answer of `mur check --json -`.
fn check(input: &[u8]) -> (Option<i32>, Value, Duration) {
    let begin = Instant::now();
    let script = format!("ulimit -v {MEMORY_KIB} && exec \"$0\" check --json -");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_mur")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let written = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    written.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap(), begin.elapsed())
}

/// Compares the answer to one input with what it should be.
fn judge(name: &str, input: &[u8], expected: Answer) {
    let (exit, answer, took) = check(input);
    assert!(took < TIME, "{name} took {took:?}");
    let errors: Vec<&Value> = answer["files"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .collect();
    let first = errors.first();
    let found = first.map(|own| (own["code"].as_str().unwrap(), own["message"].as_str().unwrap()));
    match (found, expected) {
        (None, None) => assert_eq!(exit, Some(0), "{name}"),
        (Some((code, message)), Some((wanted, part))) => {
            assert_eq!((exit, code), (Some(1), wanted), "{name}: {message}");
            assert!(message.contains(part), "{name}: {message}");
            assert!(message.len() < 1000, "{name}: the message has {} bytes", message.len());
            assert!(first.unwrap()["line"].as_u64().is_some_and(|line| line > 0), "{name}");
        }
        (found, expected) => panic!("{name}: {found:?}, not {expected:?}"),
    }
}

fn repeated(begin: &str, line: &str) -> Vec<u8> {
    format!("{HEAD}{begin}{}", line.repeat(MIB / line.len())).into_bytes()
}

#[test]
fn what_editors_and_other_systems_write_is_read() {
    judge("byte order mark", format!("\u{feff}{HEAD}").as_bytes(), None);
    judge("CRLF", HEAD.replace('\n', "\r\n").as_bytes(), None);
    judge("no final line break", HEAD.trim_end().as_bytes(), None);
    judge("comments and blank lines", format!("# c\n\n{HEAD}\n\n# c\n").as_bytes(), None);
    judge("a document's marks", format!("%YAML 1.2\n---\n{HEAD}...\n").as_bytes(), None);
    judge("an alias", format!("{HEAD}capabilities: &a {{}}\ncontext: *a\n").as_bytes(), None);
}

#[test]
fn what_is_no_manifest_says_why_and_where() {
    let with = |lines: &str| format!("{HEAD}{lines}").into_bytes();
    for (name, input, expected) in [
        ("nothing", Vec::new(), ("E-MAN-001", "the document is empty")),
        ("a tab", with("capabilities:\n\tshell: {}\n"), ("E-MAN-002", "a tab stands where")),
        ("a key twice", with("name: other\n"), ("E-MAN-002", "a second time")),
        (
            "a nested key twice",
            with("trace: {capture: meta, capture: none}\n"),
            ("E-MAN-002", "a second time"),
        ),
        ("no UTF-8", b"name: caf\xe9\n".to_vec(), ("E-MAN-002", "UTF-8")),
        (
            "UTF-16",
            "\u{feff}name: a\n".encode_utf16().flat_map(u16::to_le_bytes).collect(),
            ("E-MAN-002", "UTF-"),
        ),
        ("NUL", b"name: a\0b\n".to_vec(), ("E-MAN-002", "")),
        (
            "two documents",
            format!("{HEAD}---\n{HEAD}").into_bytes(),
            ("E-MAN-002", "second document"),
        ),
        (
            "a merge key",
            with("capabilities: &a {}\ncontext: {<<: *a}\n"),
            ("E-MAN-003", "merge keys"),
        ),
        ("an unknown alias", with("context: *nowhere\n"), ("E-MAN-002", "not defined above")),
        ("an open quote", with("context: {record: 'on\n"), ("E-MAN-002", "")),
        (
            "beyond u64",
            with("capabilities: {resources: {cpu_seconds: 18446744073709551616}}\n"),
            ("E-MAN-003", "18446744073709551616"),
        ),
        (
            "beyond u128",
            with(&format!("capabilities: {{resources: {{cpu_seconds: 9{}}}}}\n", "9".repeat(50))),
            ("E-MAN-003", "999"),
        ),
        ("below zero", with("capabilities: {resources: {cpu_seconds: -1}}\n"), ("E-MAN-003", "-1")),
        ("not a number", with("context: {seed_budget: .nan}\n"), ("E-MAN-003", "")),
        (
            "a duration beyond u64",
            with("trace: {retain: {max_age: 99999999999999999999d}}\n"),
            ("E-MAN-003", ""),
        ),
        (
            "a size beyond u64",
            with("exports: {files: {root: o, mode: read-only, max_bytes: 99999999999999Gi}}\n"),
            ("E-MAN-003", ""),
        ),
    ] {
        judge(name, &input, Some(expected));
    }
}

#[test]
fn what_is_large_deep_or_made_to_grow_is_answered_as_well() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    let network = "capabilities:\n  network:\n    allow:\n";
    let hosts: String = (0..10_000).fold(String::new(), |mut text, index| {
        writeln!(text, "      - https://host-{index}.example:8443").unwrap();
        text
    });
    for (name, input, expected) in [
        ("a bomb of aliases", bomb.into_bytes(), ("E-MAN-002", "alias")),
        ("deep brackets", "[".repeat(MIB).into_bytes(), ("E-MAN-002", "")),
        ("deep mappings", "{a: ".repeat(MIB / 4).into_bytes(), ("E-MAN-002", "")),
        (
            "deep indentation",
            (0..1000)
                .fold(String::new(), |text, depth| text + &" ".repeat(depth) + "a:\n")
                .into_bytes(),
            ("E-MAN-002", ""),
        ),
        (
            "5 MB of blanks",
            format!("{HEAD}{}", " ".repeat(5 * MIB)).into_bytes(),
            ("E-MAN-002", "bytes"),
        ),
        (
            "200 000 values",
            format!("{HEAD}x: [{}]\n", "1,".repeat(200_000)).into_bytes(),
            ("E-MAN-002", "values"),
        ),
        (
            "1 MB of wrong names",
            repeated("capabilities:\n  shell:\n    allow:\n", "      - a/b\n"),
            ("E-MAN-003", "a/b"),
        ),
        ("1 MB of one key", repeated("", "name: x\n"), ("E-MAN-002", "a second time")),
        ("1 MB of bytes", vec![0xff; MIB], ("E-MAN-002", "UTF-8")),
        // The grammar is right; a launch that holds them is another matter.
        ("10 000 destinations", format!("{HEAD}{network}{hosts}").into_bytes(), ("E-CAP-200", "")),
    ] {
        judge(name, &input, Some(expected));
    }
}

#[test]
fn what_is_large_and_right_is_accepted() {
    let lines = |begin: &str, count, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..count).map(line).collect();
        format!("{HEAD}{begin}{lines}").into_bytes()
    };
    let programs = "capabilities:\n  shell:\n    allow:\n";
    judge("1 MB of comment", &repeated("", "# comment\n"), None);
    judge("45 000 unknown keys", &lines("", 45_000, &|i| format!("capabilitie{i}: 1\n")), None);
    judge("40 000 programs", &lines(programs, 40_000, &|i| format!("      - p-{i}\n")), None);
}
