//! `mur checkpoint`: writes a container's processes to disk.

use std::path::PathBuf;

use anyhow::Context as _;
use mur_runtime::id::ContainerId;
use mur_runtime::verb::{self, AfterDump};

use super::criu_arg::CriuArgs;
use crate::context::Context;
use crate::report::Exit;

/// Write the processes of a running container to disk, and end them (needs criu)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    criu: CriuArgs,

    /// Folder of the images of an earlier dump, relative to these
    #[arg(long, value_name = "DIR")]
    parent_path: Option<PathBuf>,

    /// Let the processes run on
    #[arg(long)]
    leave_running: bool,

    /// Write memory only, for a quicker dump later; the processes run on
    #[arg(long)]
    pre_dump: bool,

    /// Send memory to this server
    #[arg(long, value_name = "ADDRESS:PORT")]
    page_server: Option<String>,

    /// Descriptor that gets a byte when the page server is ready
    #[arg(long, value_name = "FD")]
    status_fd: Option<i32>,

    /// Name of the container
    id: ContainerId,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let mut options = args.criu.options()?;
    options.parent.clone_from(&args.parent_path);
    options.status_fd = args.status_fd;
    if let Some(text) = &args.page_server {
        let (address, port) =
            text.rsplit_once(':').context("`--page-server` is not `address:port`")?;
        options.page_server = Some((address.to_owned(), port.to_owned()));
    }
    let after = match (args.pre_dump, args.leave_running) {
        (true, _) => AfterDump::RunOnWithMemoryWritten,
        (false, true) => AfterDump::Run,
        (false, false) => AfterDump::End,
    };
    verb::checkpoint(&context.store()?, &args.id, &options, after)?;
    Ok(Exit::Success)
}
