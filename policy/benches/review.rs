//! How long and how much memory it takes to read and lower manifests, as `mur check` does: hostile and large ones at most
//! 100 ms and 50 MB each, a typical one at most 1 ms. Run with `cargo bench -p mur-policy`; exits 1 where a bound is broken.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../manifest/benches/hostile/cases.rs"]
mod cases;
#[path = "../manifest/benches/hostile/measure.rs"]
mod measure;

use std::process::ExitCode;

use cases::HEAD;
use mur_policy::{Language, review};

/// `count` lines of a growing number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Manifests in which each entry of a list is to be compared with each of another.
#[expect(clippy::too_many_lines, reason = "one entry a case")]
fn crossed() -> Vec<(&'static str, Vec<u8>)> {
    let hosts = |indent: &str, count, name: &str| {
        lines(count, |i| format!("{indent}- https://{name}-{i}.example:8443\n"))
    };
    let network = "capabilities:\n  network:\n    allow:\n";
    let names = |count| lines(count, |i| format!("      - program-{i}\n"));
    let texts = [
        (
            "40 000 x 40 000 destinations",
            format!(
                "{HEAD}artifacts:\n  - name: acme/x\n    version: '1'\n    capabilities:\n      network:\n        \
                 allow:\n{}{network}{}",
                hosts("          ", 40_000, "b"),
                hosts("      ", 40_000, "a")
            ),
        ),
        (
            "40 000 ports of one host, twice",
            format!(
                "{HEAD}artifacts:\n  - name: acme/x\n    version: '1'\n    capabilities:\n      network:\n        \
                 allow:\n{}{network}{}",
                lines(20_000, |i| format!("          - a.example:{}\n", i + 1)),
                lines(40_000, |i| format!("      - a.example:{}\n", i + 20_001)),
            ),
        ),
        (
            "4 000 artifacts, 40 000 hosts",
            format!(
                "{HEAD}artifacts:\n{}{network}{}",
                lines(4_000, |i| format!(
                    "  - name: acme/t-{i}\n    version: '1'\n    capabilities: {{network: {{allow: [b-{i}.example]}}}}\n"
                )),
                hosts("      ", 40_000, "a")
            ),
        ),
        (
            "4 000 gateways, 40 000 hosts",
            format!(
                "{HEAD}artifacts:\n{}{network}{}",
                lines(4_000, |i| format!(
                    "  - name: acme/t-{i}\n    version: '1'\n    gateway: {{endpoint: 'https://g-{i}.example', keyless: true}}\n"
                )),
                hosts("      ", 40_000, "a")
            ),
        ),
        (
            "20 000 interpreters of programs",
            format!(
                "{HEAD}capabilities:\n  shell:\n    allow:\n{}    interpreter_runtime:\n{}",
                names(20_000),
                lines(6_000, |i| format!(
                    "      - {{binary: program-{}, dirs: [{{path: /o/{i}, list_dir: true}}]}}\n",
                    19_999 - i
                ))
            ),
        ),
        (
            "20 000 staged runtimes",
            format!(
                "{HEAD}capabilities:\n  containment: sealed\n  shell:\n    allow:\n{}    staged_runtime:\n{}",
                names(20_000),
                lines(8_000, |i| format!(
                    "      - {{binary: program-{}, source_path: /o/{i}, pin: x}}\n",
                    19_999 - i
                ))
            ),
        ),
        (
            "40 000 names, 40 000 patterns",
            format!(
                "{HEAD}capabilities:\n  env:\n    allow:\n{}  shell:\n    allow: [sh]\n    strip_env:\n{}",
                lines(40_000, |i| format!("      - VARIABLE_{i}\n")),
                lines(40_000, |i| format!("      - PATTERN_{i}_*\n"))
            ),
        ),
        (
            "40 000 names, 64 open patterns",
            format!(
                "{HEAD}capabilities:\n  env:\n    allow:\n{}  shell:\n    allow: [sh]\n    strip_env:\n{}",
                lines(40_000, |i| format!("      - VARIABLE_{i}\n")),
                lines(64, |i| format!("      - '*PATTERN_{i}*'\n"))
            ),
        ),
        (
            "80 000 read-only subtrees",
            format!(
                "{HEAD}capabilities:\n  filesystem:\n    read_only:\n{}",
                lines(80_000, |i| format!("      - folder-{i}/x\n"))
            ),
        ),
        (
            "40 000 children, each a copy",
            format!(
                "{HEAD}capabilities:\n  spawn:\n    allow:\n{}    workdir_snapshot:\n{}",
                lines(40_000, |i| format!("      - acme/c-{i}\n")),
                lines(40_000, |i| format!("      - acme/c-{}\n", 39_999 - i))
            ),
        ),
        (
            "80 000 variables of the process",
            format!(
                "{HEAD}capabilities: {{shell: {{allow: [sh]}}}}\nprocess:\n  args: [sh]\n  env:\n{}",
                lines(40_000, |i| format!("    VARIABLE_{i}: x\n"))
            ),
        ),
    ];
    texts.into_iter().map(|(name, yaml)| (name, yaml.into_bytes())).collect()
}

fn main() -> ExitCode {
    let typical = include_bytes!("../manifest/tests/accepted/test-runner.yaml").to_vec();
    let mut all = vec![("a typical manifest", typical)];
    all.extend(cases::cases());
    all.extend(crossed());
    measure::run(|yaml| drop(review(Language::Manifest, yaml)), all)
}
