//! Paired, interleaved runs of runtimes on the same bundles: in each round every subject runs each step once, in
//! turn, so that what else the machine does strikes all alike. Prints medians and ratios, writes JSON.
//!
//! `mur-bench [--output FILE] [--rounds N] [--only PART-OF-A-NAME]`, as root; `MUR_BIN` names the binary.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool whose output is its purpose")]

mod bundles;
mod crowd;
mod lifecycle;
mod measure;
mod report;
mod run;
mod subject;

use std::process::ExitCode;

use mur_integration::Scratch;

use crate::report::Report;
use crate::subject::Subject;

/// What the command line asks for.
struct Options {
    output: Option<String>,
    rounds: usize,
    only: String,
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        println!("usage: mur-bench [--output FILE] [--rounds N] [--only PART-OF-A-NAME]");
        return ExitCode::from(2);
    };
    if !nix::unistd::geteuid().is_root() {
        println!("mur-bench starts containers as root");
        return ExitCode::FAILURE;
    }
    subject::make_the_host_plain();
    let scratch = Scratch::new();
    let subjects = Subject::all(&scratch);
    let mut report = Report::new(&subjects);
    let wanted = |name: &str| name.contains(&options.only);
    for (name, bundle) in bundles::all(&scratch) {
        if wanted(name) {
            report.add(run::warm(name, &bundle, &subjects, options.rounds));
        }
    }
    if wanted("run, cold") {
        report.add(run::cold(
            &bundles::plain(&scratch, "cold"),
            &subjects,
            options.rounds.div_ceil(3),
        ));
    }
    if wanted("capsule") {
        report.add(run::capsule(&scratch, options.rounds));
    }
    for (name, bundle) in bundles::sleeping(&scratch) {
        if wanted(name) {
            report.add_all(lifecycle::steps(name, &bundle, &subjects, options.rounds.div_ceil(2)));
        }
    }
    if wanted("8 at a time") {
        report.add(crowd::eight_at_a_time(&bundles::plain(&scratch, "crowd"), &subjects));
    }
    if wanted("system calls") {
        report.system_calls = run::system_calls(&bundles::plain(&scratch, "strace"), &subjects);
    }
    print!("{}", report.text());
    if let Some(file) = options.output {
        std::fs::write(&file, format!("{:#}\n", report.json())).unwrap();
        println!("\nwritten to {file}");
    }
    ExitCode::SUCCESS
}

fn options() -> Option<Options> {
    let mut options = Options { output: None, rounds: 60, only: String::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--output" => options.output = Some(words.next()?),
            "--rounds" => options.rounds = words.next()?.parse().ok()?,
            "--only" => options.only = words.next()?,
            _ => return None,
        }
    }
    Some(options)
}
