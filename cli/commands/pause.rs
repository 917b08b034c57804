//! `mur pause`: freezes a container.

use mur_runtime::id::ContainerId;
use mur_runtime::verb;

use crate::context::Context;
use crate::report::Exit;

/// Freeze every process of a container
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    verb::pause(&context.store()?, &args.id)?;
    Ok(Exit::Success)
}
