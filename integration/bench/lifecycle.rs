//! `create start exec state kill delete`, each by itself.

use std::process::Command;
use std::time::{Duration, Instant};

use mur_integration::{Bundle, Run};

use crate::measure::{Cost, cost_of};
use crate::report::Comparison;
use crate::subject::Subject;

const VERBS: [&str; 6] = ["create", "start", "exec", "state", "kill", "delete"];

/// A comparison for each verb.
pub(crate) fn steps(
    name: &str,
    bundle: &Bundle,
    subjects: &[Subject],
    rounds: usize,
) -> Vec<Comparison> {
    let names: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    let yardstick = subjects.iter().position(|subject| subject.is_yardstick);
    let short = name.replace("verbs, ", "");
    let mut comparisons: Vec<Comparison> = VERBS
        .iter()
        .map(|verb| Comparison::new(&format!("{verb}, {short}"), names.clone(), yardstick))
        .collect();
    let able: Vec<usize> =
        (0..subjects.len()).filter(|which| life(&subjects[*which], bundle, 0).is_some()).collect();
    for round in 1..=rounds {
        let lives: Vec<(usize, Option<[Cost; 6]>)> = (0..able.len())
            .map(|step| able[(round + step) % able.len()])
            .map(|which| (which, life(&subjects[which], bundle, round)))
            .collect();
        for (index, comparison) in comparisons.iter_mut().enumerate() {
            let costs: Vec<_> =
                lives.iter().map(|(which, life)| (*which, life.map(|life| life[index]))).collect();
            comparison.add_round(&costs);
        }
    }
    comparisons
}

/// One container from `create` to `delete`; what each verb cost.
fn life(subject: &Subject, bundle: &Bundle, round: usize) -> Option<[Cost; 6]> {
    let id = format!("life-{}-{round}", std::process::id());
    let costs = measured(subject, bundle, &id);
    if costs.is_none() {
        subject.command(["delete", "--force", &id]).finish();
    }
    costs
}

fn measured(subject: &Subject, bundle: &Bundle, id: &str) -> Option<[Cost; 6]> {
    let create = cost_of(subject.begin("create", bundle, id))?;
    let start = cost_of(subject.command(["start", id]))?;
    let exec = cost_of(subject.command(["exec", id, "/bin/true"]))?;
    let state = cost_of(subject.command(["state", id]))?;
    let kill = cost_of(subject.command(["kill", id, "KILL"]))?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_stopped(subject.command(["state", id])) {
        if Instant::now() > deadline {
            return None;
        }
    }
    let delete = cost_of(subject.command(["delete", id]))?;
    Some([create, start, exec, state, kill, delete])
}

fn is_stopped(mut state: Command) -> bool {
    state.finish().stdout.contains("\"stopped\"")
}
