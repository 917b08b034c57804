//! Many at once: what an orchestrator does to a node.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mur_integration::Bundle;

use crate::measure::{Cost, cost_of};
use crate::report::Comparison;
use crate::subject::Subject;

const AT_A_TIME: usize = 8;
const RUNS: usize = 80;
const ROUNDS: usize = 3;

/// Runs in eight at a time; the wall time of a round is divided by its runs.
pub(crate) fn eight_at_a_time(bundle: &Bundle, subjects: &[Subject]) -> Comparison {
    let names = subjects.iter().map(|subject| subject.name.clone()).collect();
    let yardstick = subjects.iter().position(|subject| subject.is_yardstick);
    let mut comparison = Comparison::new("run, 8 at a time (a run's share)", names, yardstick);
    crate::run::interleave(&mut comparison, ROUNDS, |which, round| {
        crowd(&subjects[which], bundle, round)
    });
    comparison
}

fn crowd(subject: &Subject, bundle: &Bundle, round: usize) -> Option<Cost> {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let costs: Vec<Option<Cost>> = std::thread::scope(|scope| {
        let work = || {
            let mut costs = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= RUNS {
                    return costs;
                }
                let id = format!("crowd-{}-{round}-{number}", std::process::id());
                costs.push(cost_of(subject.begin("run", bundle, &id)));
            }
        };
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let wall = began.elapsed() / u32::try_from(RUNS).unwrap();
    let costs: Vec<Cost> = costs.into_iter().collect::<Option<_>>()?;
    let cpu = costs.iter().map(|cost| cost.cpu).sum::<std::time::Duration>()
        / u32::try_from(RUNS).unwrap();
    Some(Cost { wall, cpu, peak_kib: costs.iter().map(|cost| cost.peak_kib).max().unwrap_or(0) })
}
