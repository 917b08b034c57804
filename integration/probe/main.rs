//! Tries what a confined process may not do, one thing after another, and says how each ended.
//!
//! `mur-probe WHAT[=ARG[,ARG]]…` prints a line each: what was tried, `ok` or the errno's name or `signal N`,
//! and a detail, separated by tabs. Each attempt runs in a child of its own, since some end it. The exit
//! code is 0 when every attempt could be made, whatever came of it. `mur-probe --list` names them all.
#![allow(clippy::print_stdout, reason = "the output is the purpose")]

mod act;
mod attempts;
mod sys;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--list") {
        for (name, _) in attempts::ALL {
            println!("{name}");
        }
        return ExitCode::SUCCESS;
    }
    let mut all_known = true;
    for word in &words {
        let (name, arguments) = word.split_once('=').unwrap_or((word, ""));
        let arguments: Vec<&str> = arguments.split(',').filter(|part| !part.is_empty()).collect();
        if let Some((_, attempt)) = attempts::ALL.iter().find(|(known, _)| *known == name) {
            let (result, detail) = act::in_a_child(|| attempt(&arguments));
            println!("{word}\t{result}\t{detail}");
        } else {
            println!("{word}\tunknown\t");
            all_known = false;
        }
    }
    if all_known { ExitCode::SUCCESS } else { ExitCode::from(2) }
}
