//! `mur start`: lets the program of a created container run.

use mur_runtime::id::ContainerId;
use mur_runtime::verb;

use crate::context::Context;
use crate::report::Exit;

/// Start the program of a created container
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    verb::start(&context.store()?, &args.id)?;
    Ok(Exit::Success)
}
