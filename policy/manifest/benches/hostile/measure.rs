//! Time and memory of one answer, each case in a process of its own.

use std::io::{Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

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

/// Answers what is on standard input a few times; prints the time of each in nanoseconds and the
/// memory above what the process had before, in kibibytes.
fn measure_here(answer: fn(&[u8])) {
    let mut yaml = Vec::with_capacity(2 << 20);
    std::io::stdin().read_to_end(&mut yaml).expect("the case can be read");
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
    let before = peak_kib();
    let begin = Instant::now();
    let (start, mut runs) = (spent(begin), 0);
    while runs < 3 || (spent(begin) - start < 50_000_000 && begin.elapsed().as_secs() < 5) {
        answer(&yaml);
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

/// Prints what each case costs; fails where the first takes more than 1 ms, another more than 100 ms, or one more than
/// 50 MiB.
pub(crate) fn run(answer: fn(&[u8]), cases: Vec<(&str, Vec<u8>)>) -> ExitCode {
    if std::env::args().any(|argument| argument == "--here") {
        measure_here(answer);
        return ExitCode::SUCCESS;
    }
    let mut broken = 0;
    for (index, (name, yaml)) in cases.into_iter().enumerate() {
        let limit = if index == 0 { 1.0 } else { 100.0 };
        let (milliseconds, kib) = measure(&yaml);
        let holds = milliseconds <= limit && kib <= 50.0 * 1024.0;
        broken += usize::from(!holds);
        let verdict = if holds { "" } else { "  above its bound" };
        println!("{name:32} {:9} B {milliseconds:8.2} ms {kib:6.0} KiB{verdict}", yaml.len());
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
