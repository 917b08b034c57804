//! How long and how much memory hostile and large manifests take: each at most 100 ms and 50 MB, a
//! typical one at most 1 ms. Run with `cargo bench -p mur-manifest`; exits 1 where a bound is broken.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use mur_manifest::parse;

const MIB: usize = 1 << 20;
const HEAD: &str = "name: demo\nversion: '1'\n";

/// A manifest of about a mebibyte: `begin`, then lines made of a growing number.
fn grown(begin: &str, line: impl Fn(usize) -> String) -> String {
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

fn cases() -> Vec<(&'static str, Vec<u8>)> {
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

/// Peak resident memory since the last reset, in kibibytes.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Time this process has been on a processor, in nanoseconds: what others do beside it does not
/// count. The clock's, where the kernel does not say.
fn spent(since: Instant) -> u64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let running = schedstat.split_whitespace().next().and_then(|field| field.parse().ok());
    running.unwrap_or_else(|| u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// Parses what is on standard input a few times; prints the time of each in nanoseconds and the
/// memory above what the process had before, in kibibytes.
fn measure_here() {
    let mut yaml = Vec::with_capacity(2 * MIB);
    std::io::stdin().read_to_end(&mut yaml).expect("the case can be read");
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
    let before = peak_kib();
    let begin = Instant::now();
    let (start, mut runs) = (spent(begin), 0);
    while runs < 3 || (spent(begin) - start < 50_000_000 && begin.elapsed().as_secs() < 5) {
        drop(parse(&yaml));
        runs += 1;
    }
    let each = (spent(begin) - start) / runs;
    println!("{each} {}", peak_kib().saturating_sub(before));
}

/// Measures in a process of its own, so that no case uses memory that another one left.
fn measure(yaml: &[u8]) -> (f64, f64) {
    let program = std::env::current_exe().expect("the benchmark knows its own path");
    let mut child = Command::new(program)
        .arg("--here")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the benchmark can start itself");
    let mut input = child.stdin.take().expect("the input is piped");
    input.write_all(yaml).expect("the case can be handed over");
    drop(input);
    let output = child.wait_with_output().expect("the child ends");
    let text = String::from_utf8(output.stdout).expect("the child prints numbers");
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [nanoseconds, kib] = numbers[..] else { panic!("the child printed `{text}`") };
    (nanoseconds / 1e6, kib)
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--here") {
        measure_here();
        return ExitCode::SUCCESS;
    }
    let typical = include_bytes!("../../tests/accepted/test-runner.yaml").to_vec();
    let mut broken = 0;
    let all = std::iter::once(("a typical manifest", typical)).chain(cases());
    for (index, (name, yaml)) in all.enumerate() {
        let limit = if index == 0 { 1.0 } else { 100.0 };
        let (milliseconds, kib) = measure(&yaml);
        let holds = milliseconds <= limit && kib <= 50.0 * 1024.0;
        broken += usize::from(!holds);
        let verdict = if holds { "" } else { "  above its bound" };
        println!("{name:26} {:9} B {milliseconds:8.2} ms {kib:6.0} KiB{verdict}", yaml.len());
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
