//! Medians and paired ratios, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::measure::Cost;
use crate::subject::Subject;

/// One step by several subjects, round by round.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// What was run.
    pub(crate) name: String,
    /// Who ran it.
    pub(crate) names: Vec<String>,
    yardstick: Option<usize>,
    /// A round's costs by subject; `None` where it failed or was not asked.
    rounds: Vec<Vec<Option<Cost>>>,
    failures: Vec<usize>,
}

impl Comparison {
    pub(crate) fn new(name: &str, names: Vec<String>, yardstick: Option<usize>) -> Self {
        let failures = vec![0; names.len()];
        Self { name: name.to_owned(), names, yardstick, rounds: Vec::new(), failures }
    }

    pub(crate) fn add_round(&mut self, costs: &[(usize, Option<Cost>)]) {
        let mut round = vec![None; self.names.len()];
        for (which, cost) in costs {
            round[*which] = *cost;
            self.failures[*which] += usize::from(cost.is_none());
        }
        self.rounds.push(round);
    }

    /// Every value of one subject.
    fn values(&self, which: usize, of: fn(&Cost) -> f64) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| round[which].as_ref().map(of)).collect()
    }

    /// The median of the rounds' own ratios: what disturbed a round disturbed both.
    fn ratio(&self, which: usize, of: fn(&Cost) -> f64) -> Option<f64> {
        let yardstick = self.yardstick?;
        let ratios: Vec<f64> = self
            .rounds
            .iter()
            .filter_map(|round| Some(of(round[which].as_ref()?) / of(round[yardstick].as_ref()?)))
            .collect();
        median(ratios)
    }

    fn rows(&self) -> Vec<Row> {
        (0..self.names.len())
            .map(|which| Row {
                name: self.names[which].clone(),
                runs: self.values(which, wall).len(),
                failures: self.failures[which],
                wall: median(self.values(which, wall)),
                cpu: median(self.values(which, cpu)),
                peak: median(self.values(which, peak)),
                wall_ratio: self.ratio(which, wall),
                cpu_ratio: self.ratio(which, cpu),
            })
            .collect()
    }
}

struct Row {
    name: String,
    runs: usize,
    failures: usize,
    wall: Option<f64>,
    cpu: Option<f64>,
    peak: Option<f64>,
    wall_ratio: Option<f64>,
    cpu_ratio: Option<f64>,
}

fn wall(cost: &Cost) -> f64 {
    cost.wall.as_secs_f64() * 1000.0
}

fn cpu(cost: &Cost) -> f64 {
    cost.cpu.as_secs_f64() * 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "a resident set is far below 2^52 KiB")]
fn peak(cost: &Cost) -> f64 {
    cost.peak_kib as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    subjects: Vec<String>,
    comparisons: Vec<Comparison>,
    /// By subject.
    pub(crate) system_calls: Vec<(String, Option<u64>)>,
}

impl Report {
    pub(crate) fn new(subjects: &[Subject]) -> Self {
        let subjects = subjects.iter().map(|subject| subject.name.clone()).collect();
        Self { subjects, comparisons: Vec::new(), system_calls: Vec::new() }
    }

    pub(crate) fn add(&mut self, comparison: Comparison) {
        self.comparisons.push(comparison);
    }

    pub(crate) fn add_all(&mut self, comparisons: Vec<Comparison>) {
        self.comparisons.extend(comparisons);
    }

    /// One table a step: milliseconds, KiB, and ratios to the yardstick.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("subjects: {}\n", self.subjects.join(", "));
        for comparison in &self.comparisons {
            let head = ["wall ms", "cpu ms", "peak KiB", "x wall", "x cpu", "runs"];
            let _ = write!(text, "\n{:<34}", comparison.name);
            for word in head {
                let _ = write!(text, "{word:>10}");
            }
            text.push('\n');
            for row in comparison.rows() {
                let cell = |value: Option<f64>, digits: usize| {
                    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
                };
                let _ = writeln!(
                    text,
                    "  {:<32}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{}",
                    row.name,
                    cell(row.wall, 2),
                    cell(row.cpu, 2),
                    cell(row.peak, 0),
                    cell(row.wall_ratio, 2),
                    cell(row.cpu_ratio, 2),
                    row.runs,
                    if row.failures > 0 {
                        format!("  {} FAILED", row.failures)
                    } else {
                        String::new()
                    },
                );
            }
        }
        if !self.system_calls.is_empty() {
            text.push_str("\nsystem calls of one warm run, in all processes together\n");
        }
        for (name, calls) in &self.system_calls {
            let calls = calls.map_or_else(|| "-".to_owned(), |calls| calls.to_string());
            let _ = writeln!(text, "  {name:<32}{calls:>10}");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let comparisons: Vec<Value> = self
            .comparisons
            .iter()
            .map(|comparison| {
                let rows: Vec<Value> = comparison
                    .rows()
                    .into_iter()
                    .map(|row| {
                        json!({
                            "subject": row.name, "runs": row.runs, "failures": row.failures,
                            "wall_ms": row.wall, "cpu_ms": row.cpu, "peak_kib": row.peak,
                            "wall_ratio": row.wall_ratio, "cpu_ratio": row.cpu_ratio,
                        })
                    })
                    .collect();
                json!({"step": comparison.name, "subjects": rows})
            })
            .collect();
        let calls: serde_json::Map<String, Value> =
            self.system_calls.iter().map(|(name, calls)| (name.clone(), json!(calls))).collect();
        json!({"kernel": kernel(), "steps": comparisons, "system_calls": calls})
    }
}

fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}
