//! `mur events`: what a container uses, once or again and again.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::bail;
use mur_runtime::id::ContainerId;
use mur_runtime::state::Status;
use mur_runtime::store::Container;
use serde_json::json;

use crate::context::Context;
use crate::report::Exit;

/// How often the state is looked at between two readings.
const TICK: Duration = Duration::from_millis(100);

/// Print what a container uses, and when memory runs out, as one JSON object a line
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Time between two readings: 5s, 500ms, 1m
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = interval)]
    interval: Duration,

    /// Print one reading and end
    #[arg(long)]
    stats: bool,

    /// Name of the container
    id: ContainerId,
}

fn interval(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let number: u64 = digits.parse().map_err(|_| "it begins with a number".to_owned())?;
    let duration = match unit {
        "ms" => Duration::from_millis(number),
        "s" | "" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.saturating_mul(60)),
        "h" => Duration::from_secs(number.saturating_mul(3600)),
        other => return Err(format!("`{other}` is no unit; `ms`, `s`, `m` and `h` are")),
    };
    if duration.is_zero() { Err("it is above zero".to_owned()) } else { Ok(duration) }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let container = context.store()?.load(&args.id)?;
    if container.status() == Status::Stopped {
        bail!("container not running: `{}` is stopped", args.id);
    }
    print_stats(&container, context)?;
    if args.stats {
        return Ok(Exit::Success);
    }
    let mut killed = container.record().placement.counters().oom_kill;
    let mut next = Instant::now() + args.interval;
    while container.status() != Status::Stopped {
        sleep(TICK.min(args.interval));
        let now = container.record().placement.counters().oom_kill;
        if now > killed {
            killed = now;
            context.out.json_line(&json!({"type": "oom", "id": args.id}))?;
        }
        if Instant::now() >= next && container.status() != Status::Stopped {
            next += args.interval;
            print_stats(&container, context)?;
        }
    }
    Ok(Exit::Success)
}

fn print_stats(container: &Container, context: &mut Context) -> anyhow::Result<()> {
    let stats = container.record().placement.stats();
    context.out.json_line(&json!({"type": "stats", "id": container.id(), "data": stats}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_number_with_a_unit() {
        for (text, seconds) in [("5s", 5.0), ("500ms", 0.5), ("2m", 120.0), ("3", 3.0)] {
            assert_eq!(interval(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "s", "0s", "5x", "-1s"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
