//! `mur`: arguments in, one library call, rendering out. Floor 6.

mod args;
mod commands;
mod context;
mod log;
mod narrow;
mod printer;
mod report;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;
use context::Context;
use report::{Exit, Reporter};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error).into(),
    };
    // Before anything is opened: the gaps are where our own descriptors would land.
    let missing = cli.command.missing_descriptor();
    let reporter = match Reporter::open(&cli.globals) {
        Ok(reporter) => reporter,
        Err(error) => return Reporter::plain().failure(&error).into(),
    };
    log::install(&cli.globals, &reporter);
    if let Some(number) = missing {
        let error = anyhow::anyhow!("`--preserve-fds`: descriptor {number} is not open");
        return reporter.failure(&error).into();
    }
    let mut context = Context::new(cli.globals);
    let exit = match cli.command.run(&mut context) {
        Ok(exit) => exit,
        Err(error) => reporter.failure(&error),
    };
    exit.into()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
