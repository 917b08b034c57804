//! `mur kill`: sends a signal to a container.

use mur_runtime::id::ContainerId;
use mur_runtime::verb::{self, Reach, SignalNumber};

use crate::context::Context;
use crate::report::Exit;

/// Send a signal to a container's first process
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Send it to every process of the container
    #[arg(short, long)]
    all: bool,

    /// Name of the container
    id: ContainerId,

    /// Name or number: TERM, SIGTERM, 15, RTMIN+1
    #[arg(default_value = "TERM", allow_hyphen_values = true)]
    signal: SignalNumber,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let reach = if args.all { Reach::All } else { Reach::Init };
    verb::kill(&context.store()?, &args.id, args.signal, reach)?;
    Ok(Exit::Success)
}
