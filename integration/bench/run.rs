//! `run` to its end: warm, cold, as a capsule, and under strace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mur_integration::{Bundle, Kind, Run, Runtime, Scratch};

use crate::measure::{Cost, cost_of};
use crate::report::Comparison;
use crate::subject::Subject;

/// Long enough without a start that the kernel has gone quiet, as between two steps of an agent.
const IDLE: Duration = Duration::from_millis(120);

/// One run after another.
pub(crate) fn warm(name: &str, bundle: &Bundle, subjects: &[Subject], rounds: usize) -> Comparison {
    rounds_of(name, bundle, subjects, rounds, Duration::ZERO)
}

/// Each run after a pause.
pub(crate) fn cold(bundle: &Bundle, subjects: &[Subject], rounds: usize) -> Comparison {
    rounds_of("run, cold", bundle, subjects, rounds, IDLE)
}

fn rounds_of(
    name: &str,
    bundle: &Bundle,
    subjects: &[Subject],
    rounds: usize,
    pause: Duration,
) -> Comparison {
    let names = subjects.iter().map(|subject| subject.name.clone()).collect();
    let yardstick = subjects.iter().position(|subject| subject.is_yardstick);
    let mut comparison = Comparison::new(name, names, yardstick);
    interleave(&mut comparison, rounds, |which, round| {
        std::thread::sleep(pause);
        cost_of(subjects[which].begin(
            "run",
            bundle,
            &format!("bench-{}-{round}", std::process::id()),
        ))
    });
    comparison
}

/// Calls every subject once a round, each round beginning with another; the first round warms up. A subject that
/// fails there is left out.
pub(crate) fn interleave(
    comparison: &mut Comparison,
    rounds: usize,
    once: impl Fn(usize, usize) -> Option<Cost>,
) {
    let count = comparison.names.len();
    let able: Vec<usize> = (0..count).filter(|which| once(*which, 0).is_some()).collect();
    for round in 1..=rounds {
        let costs: Vec<(usize, Option<Cost>)> = (0..able.len())
            .map(|step| able[(round + step) % able.len()])
            .map(|which| (which, once(which, round)))
            .collect();
        comparison.add_round(&costs);
    }
}

/// A capsule of the manifest `hello`, beside crun with the capsule's bundle and bubblewrap with the host's root.
pub(crate) fn capsule(scratch: &Scratch, rounds: usize) -> Comparison {
    let mur = Runtime::of(Kind::Mur).unwrap();
    let work = scratch.folder("work");
    let manifest = scratch.file(
        "work/murmur.yaml",
        "name: bench\nversion: 0.1.0\ncapabilities:\n  containment: sealed\n  shell:\n    allow: [\"true\"]\n",
    );
    let home = scratch.folder("home");
    let bundle = scratch.path().join("capsule");
    let _ = mur
        .command(["bundle", "--manifest"])
        .arg(&manifest)
        .arg("-o")
        .arg(&bundle)
        .args(["--workdir"])
        .arg(&work)
        .args(["--", "true"])
        .env("HOME", &home)
        .finish();
    let crun = Runtime::of(Kind::Crun).map(|runtime| runtime.plain_program());
    let state = scratch.folder("state-capsule");
    let names = ["mur run", "crun run of its bundle", "bwrap"].map(str::to_owned).into();
    let mut comparison = Comparison::new("capsule", names, Some(1));
    interleave(&mut comparison, rounds, |which, round| {
        cost_of(match which {
            0 => run_capsule(mur.program(), &manifest, &work, &home),
            1 => run_bundle(crun.clone()?, &state, &bundle, round),
            _ => bubblewrap(),
        })
    });
    comparison
}

fn run_capsule(mur: &Path, manifest: &Path, work: &Path, home: &Path) -> Command {
    let mut command = Command::new(mur);
    command
        .args(["run", "--manifest"])
        .arg(manifest)
        .arg("--workdir")
        .arg(work)
        .args(["--", "true"])
        .env("HOME", home);
    command
}

fn run_bundle(crun: PathBuf, state: &Path, bundle: &Path, round: usize) -> Command {
    let mut command = Command::new(crun);
    command.arg("--root").arg(state).args(["run", "--bundle"]).arg(bundle);
    command.arg(format!("capsule-{}-{round}", std::process::id()));
    command
}

fn bubblewrap() -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--unshare-all",
        "--",
        "/bin/true",
    ]);
    command
}

/// How many system calls one warm `run` makes, in all its processes together.
pub(crate) fn system_calls(bundle: &Bundle, subjects: &[Subject]) -> Vec<(String, Option<u64>)> {
    subjects.iter().map(|subject| (subject.name.clone(), count_calls(subject, bundle))).collect()
}

fn count_calls(subject: &Subject, bundle: &Bundle) -> Option<u64> {
    let summary = bundle.folder().join("strace");
    for _ in 0..2 {
        let run = subject.begin("run", bundle, &format!("strace-{}", std::process::id()));
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-o"]).arg(&summary).arg(run.get_program()).args(run.get_args());
        if command.finish().code != 0 {
            return None;
        }
    }
    // The last line: `100.00 seconds usecs/call calls errors total`
    let text = std::fs::read_to_string(summary).ok()?;
    let total = text.lines().rev().find(|line| line.ends_with("total"))?;
    total.split_whitespace().nth(3)?.parse().ok()
}
