//! Manifests that are made to cost much: large, deep, repeated, broken.

use std::fmt::Write as _;

/// 1 MiB.
pub(crate) const MIB: usize = 1 << 20;
/// The identity that each case begins with.
pub(crate) const HEAD: &str = "name: demo\nversion: '1'\n";

/// A manifest of about a mebibyte: `begin`, then lines made of a growing number.
pub(crate) fn grown(begin: &str, line: impl Fn(usize) -> String) -> String {
    let mut yaml = format!("{HEAD}{begin}");
    for index in 0.. {
        if yaml.len() >= MIB {
            break;
        }
        yaml.push_str(&line(index));
    }
    yaml
}

/// Nine levels of nine aliases.
fn bomb() -> String {
    let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let item = format!("*a{}", level - 1);
        let _ = writeln!(yaml, "a{level}: &a{level} [{}]", vec![item; 9].join(", "));
    }
    yaml
}

/// Name and bytes of each case.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let network = "capabilities:\n  network:\n    allow:\n";
    let hosts: Vec<String> =
        (0..10_000).map(|i| format!("      - https://host-{i}.example:8443\n")).collect();
    let texts = [
        ("10 000 network entries", format!("{HEAD}{network}{}", hosts.concat())),
        ("1 MB of network entries", grown(network, |i| format!("      - h{i}.example\n"))),
        (
            "1 MB of wrong entries",
            grown("capabilities:\n  shell:\n    allow:\n", |_| "      - a/b\n".to_owned()),
        ),
        (
            "1 MB of artifacts",
            grown("artifacts:\n", |i| format!("  - name: acme/t-{i}\n    version: '1'\n")),
        ),
        (
            "1 MB of wrong artifacts",
            grown("artifacts:\n", |_| "  - nam: x\n    verion: '1'\n".to_owned()),
        ),
        ("1 MB of unknown keys", grown("", |i| format!("capabilitie{i}: 1\n"))),
        ("1 MB of one key", grown("", |_| "name: x\n".to_owned())),
        ("1 MB of explicit keys", grown("", |i| format!("? k{i}\n: v\n"))),
        (
            "1 MB of variables",
            grown("process:\n  args: [x]\n  env:\n", |i| format!("    V{i}: x\n")),
        ),
        ("1 MB of one name", format!("name: {}\nversion: '1'\n", "x ".repeat(MIB / 2))),
        ("1 MB of comment", grown("", |_| "# comment\n".to_owned())),
        ("1 MB of line breaks", format!("{HEAD}{}", "\r\n".repeat(MIB / 2))),
        ("1 MB of tabs", format!("{HEAD}{}", "\t".repeat(MIB))),
        ("1 MB of brackets", "[".repeat(MIB)),
        ("1 MB of braces", "{a: ".repeat(MIB / 4)),
        ("1 MB of dashes", "- ".repeat(MIB / 2)),
        ("1 MB of empty lists", format!("{HEAD}x: [{}]", "[],".repeat(MIB / 3))),
        ("1 MB of anchors", format!("{HEAD}x: [{}]", "&a a,".repeat(MIB / 5))),
        ("1 MB of aliases", format!("{HEAD}y: &a x\nx: [{}]", "*a,".repeat(MIB / 3))),
        ("1 MB of tags", format!("{HEAD}x: [{}]", "!a b,".repeat(MIB / 5))),
        ("1 MB of documents", "---\n".repeat(MIB / 4)),
        (
            "1 MB of digits",
            format!("{HEAD}capabilities: {{resources: {{max_processes: {}}}}}", "9".repeat(MIB)),
        ),
        ("alias bomb", bomb()),
    ];
    let mut cases: Vec<(&str, Vec<u8>)> =
        texts.into_iter().map(|(name, yaml)| (name, yaml.into_bytes())).collect();
    cases.push(("1 MB that is no UTF-8", vec![0xE9; MIB]));
    cases.push(("1 MB of NUL", vec![0; MIB]));
    cases
}
