//! `mur resume`: lets a frozen container go on.

use mur_runtime::id::ContainerId;
use mur_runtime::verb;

use crate::context::Context;
use crate::report::Exit;

/// Let a container that was paused go on
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    verb::resume(&context.store()?, &args.id)?;
    Ok(Exit::Success)
}
