//! How long and how much memory `mur envelope check` takes: to read and lower a manifest, and to compare its envelope with
//! itself; bounds as in `review.rs`. Run with `cargo bench -p mur-policy`; exits 1 where a bound is broken.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../manifest/benches/hostile/measure.rs"]
mod measure;

use std::fmt::Write as _;
use std::process::ExitCode;

use mur_policy::envelope;

/// A manifest whose list at `keys` has `count` entries.
fn listed(keys: &[&str], count: usize, entry: impl Fn(usize) -> String) -> Vec<u8> {
    let mut yaml = String::from("name: demo\nversion: '1'\ncapabilities:\n");
    for (depth, key) in keys.iter().enumerate() {
        let _ = writeln!(yaml, "{}{key}:", "  ".repeat(depth + 1));
    }
    for index in 0..count {
        let _ = writeln!(yaml, "      - {}", entry(index));
    }
    yaml.into_bytes()
}

/// The work of one comparison: the manifest is parent and child.
fn compare(yaml: &[u8]) {
    let manifest = mur_manifest::parse(yaml).expect("the case is a manifest");
    let envelope = envelope(&manifest).expect("the case has an envelope");
    assert!(envelope.contains(&envelope).is_ok(), "an envelope contains itself");
}

fn main() -> ExitCode {
    let typical = include_bytes!("../manifest/tests/accepted/sealed-build.yaml").to_vec();
    let cases = vec![
        ("a typical manifest", typical),
        (
            "40 000 destinations",
            listed(&["network", "allow"], 40_000, |i| format!("https://h-{i}.example:8443")),
        ),
        (
            "60 000 ports of one host",
            listed(&["network", "allow"], 60_000, |i| format!("a.example:{}", i + 1)),
        ),
        ("80 000 programs", listed(&["shell", "allow"], 80_000, |i| format!("p-{i}"))),
        ("60 000 tools", listed(&["install", "tool"], 60_000, |i| format!("acme/t-{i}"))),
        (
            "60 000 prefixes of tools",
            listed(&["install", "tool"], 60_000, |i| format!("acme/t-{i}-*")),
        ),
        ("60 000 children", listed(&["spawn", "allow"], 60_000, |i| format!("acme/c-{i}"))),
    ];
    measure::run(compare, cases)
}
