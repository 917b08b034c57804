//! `mur delete`: removes what a container left.

use mur_runtime::id::ContainerId;
use mur_runtime::verb::{self, Force};

use crate::context::Context;
use crate::report::Exit;

/// Delete a container that has stopped
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Kill it first if it has not; a container that does not exist is fine
    #[arg(short, long)]
    force: bool,

    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let force = if args.force { Force::Yes } else { Force::No };
    verb::delete(&context.store()?, &args.id, force)?;
    Ok(Exit::Success)
}
