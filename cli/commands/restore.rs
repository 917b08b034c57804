//! `mur restore`: makes a container of processes on disk.

use std::path::PathBuf;

use anyhow::bail;
use mur_runtime::id::ContainerId;
use mur_runtime::verb::{self, RestoreRequest, Supervisor};

use super::bundle_arg;
use super::criu_arg::CriuArgs;
use crate::context::Context;
use crate::report::Exit;

/// Make a container of processes that `checkpoint` wrote to disk (needs criu)
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one bool a flag")]
pub(crate) struct Args {
    #[command(flatten)]
    criu: CriuArgs,

    /// Folder of the bundle [default: the current one]
    #[arg(short, long, value_name = "DIR")]
    bundle: Option<PathBuf>,

    /// Return when the processes run
    #[arg(short, long)]
    detach: bool,

    /// File that gets the number of the container's first process
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,

    /// Refused: a terminal is not restored
    #[arg(long, value_name = "SOCKET")]
    console_socket: Option<PathBuf>,

    /// Accepted for runc's sake: orphans are never taken over
    #[arg(long)]
    no_subreaper: bool,

    /// Accepted for runc's sake: criu enters the root in its own way
    #[arg(long)]
    no_pivot: bool,

    /// Do not delete the container when it has ended
    #[arg(long)]
    keep: bool,

    /// Name of the new container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    if args.console_socket.is_some() {
        bail!("`--console-socket`: the terminal of a container cannot be restored");
    }
    let store = context.store()?;
    let bundle = bundle_arg::open(args.bundle.as_deref(), context)?;
    let options = args.criu.options()?;
    let supervisor = if args.detach { None } else { Some(Supervisor::new()?) };
    let restored = verb::restore(
        &store,
        RestoreRequest {
            id: &args.id,
            bundle: &bundle.folder,
            spec: &bundle.spec,
            group: context.group()?,
            options: &options,
            pid_file: args.pid_file.as_deref(),
        },
    )?;
    let Some(supervisor) = supervisor else { return Ok(Exit::Success) };
    let waited = supervisor.wait(&restored.init, None);
    if !args.keep {
        verb::destroy(restored.container)?;
    }
    Ok(Exit::Command(waited?.code()))
}
