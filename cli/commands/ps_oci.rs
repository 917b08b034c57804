//! `mur ps ID`: the processes of a container.

use std::process::Command;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use mur_runtime::id::ContainerId;
use mur_runtime::state::Status;

use crate::context::Context;
use crate::report::Exit;

/// Shape of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As ps(1) prints it
    Table,
    /// An array of process numbers
    Json,
}

pub(crate) fn run(
    id: &ContainerId,
    format: Format,
    ps_args: &[String],
    context: &mut Context,
) -> anyhow::Result<Exit> {
    let container = context.store()?.load(id)?;
    if container.status() == Status::Stopped {
        bail!("container not running: `{id}` is stopped");
    }
    let record = container.record();
    let pids: Vec<i32> = if record.placement.is_empty() {
        // Without a group only the first process is known to be its.
        record.init.iter().map(|init| init.pid).collect()
    } else {
        record.placement.pids()?.iter().map(|pid| pid.as_raw()).collect()
    };
    match format {
        Format::Json => context.out.json_line(&pids)?,
        Format::Table => {
            let default = ["-ef".to_owned()];
            let arguments = if ps_args.is_empty() { &default[..] } else { ps_args };
            let output = Command::new("ps").args(arguments).output().context("cannot run `ps`")?;
            if !output.status.success() {
                bail!("`ps`: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            let text = String::from_utf8_lossy(&output.stdout);
            let lines = rows_of(&text, &pids).context("`ps` printed no column `PID`")?;
            context.out.text(&lines)?;
        }
    }
    Ok(Exit::Success)
}

/// The heading of a table and the rows whose `PID` is one of `pids`.
fn rows_of(table: &str, pids: &[i32]) -> Option<String> {
    let heading = table.lines().next()?;
    let column = heading.split_whitespace().position(|name| name == "PID")?;
    let wanted = |line: &&str| {
        let pid = line.split_whitespace().nth(column).and_then(|cell| cell.parse().ok());
        pid.is_some_and(|pid: i32| pids.contains(&pid))
    };
    let rows = table.lines().skip(1).filter(wanted);
    Some(std::iter::once(heading).chain(rows).map(|line| line.to_owned() + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rows_of_the_container_are_shown() {
        let table = "UID  PID  PPID CMD\nroot 1 0 init\nroot 7 1 sh 8\nroot 8 7 ls\n";
        assert_eq!(rows_of(table, &[7]).as_deref(), Some("UID  PID  PPID CMD\nroot 7 1 sh 8\n"));
        assert_eq!(rows_of("A B\n1 2\n", &[1]), None);
    }
}
