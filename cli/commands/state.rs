//! `mur state`: prints what a container is.

use mur_runtime::id::ContainerId;

use crate::context::Context;
use crate::report::Exit;

/// Print the state of a container as JSON
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let container = context.store()?.load(&args.id)?;
    context.out.json(&container.view())?;
    Ok(Exit::Success)
}
