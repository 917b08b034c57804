//! `mur`: arguments in, one library call, rendering out. Floor 6.

mod args;
mod commands;
mod context;
mod document;
mod log;
mod narrow;
mod printer;
mod report;
mod review;

use std::process::ExitCode;

use clap::Parser;
use mur_runtime::engine;

use args::Cli;
use context::Context;
use report::{Exit, Reporter};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error).into(),
    };
    let makes = cli.command.makes_processes();
    let protected = if makes { engine::protect_own_binary() } else { Ok(()) };
    // Before anything is opened: the gaps are where our own descriptors would land.
    let missing = cli.command.missing_descriptor();
    let reporter = match Reporter::open(&cli.globals) {
        Ok(reporter) => reporter,
        Err(error) => {
            Reporter::plain().failure(&error);
            return Exit::Failure.into();
        }
    };
    log::install(&cli.globals, &reporter);
    let at_failure = cli.command.exit_at_failure();
    let done = match (protected, missing) {
        (Ok(()), None) => cli.command.run(&mut Context::new(cli.globals)),
        (Ok(()), Some(number)) => {
            Err(anyhow::anyhow!("`--preserve-fds`: descriptor {number} is not open"))
        }
        (Err(error), _) => Err(error.into()),
    };
    let exit = done.unwrap_or_else(|error| {
        reporter.failure(&error);
        if report::is_usage(&error) { Exit::Usage } else { at_failure }
    });
    exit.into()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
