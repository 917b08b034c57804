//! `mur create`: makes a container whose program waits for `start`.

use std::path::PathBuf;

use mur_runtime::engine::Stdio;
use mur_runtime::id::ContainerId;
use mur_runtime::plan::RootEntry;
use mur_runtime::verb::{self, Console, CreateRequest, Until};

use oci_spec::runtime::Process;

use super::bundle_arg;
use crate::context::Context;
use crate::report::Exit;

/// Create a container from a bundle; its program waits for `start`
///
/// The bundle is a folder with `config.json` (`mur spec` writes one to begin with) and a root file
/// system. The container's standard streams are the caller's.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the new container
    id: ContainerId,

    /// Folder of the bundle [default: the current one]
    #[arg(short, long, value_name = "DIR")]
    bundle: Option<PathBuf>,

    /// Unix socket that receives the master of the container's terminal
    #[arg(long, value_name = "SOCKET")]
    console_socket: Option<PathBuf>,

    /// File that gets the number of the container's first process
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,

    /// Do not use `pivot_root` (for a root on an initramfs)
    #[arg(long)]
    no_pivot: bool,

    /// Keep the caller's session keyring
    #[arg(long)]
    no_new_keyring: bool,

    /// Pass on this many descriptors from 3 on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) preserve_fds: u32,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let store = context.store()?;
    let group = context.group()?;
    let bundle = bundle_arg::open(args.bundle.as_deref(), context)?;
    let terminal = bundle.spec.process().as_ref().and_then(Process::terminal).unwrap_or(false);
    let console = Console::choose(terminal, args.console_socket.as_deref(), true)?;
    let root_entry = if args.no_pivot { RootEntry::Chroot } else { RootEntry::Pivot };
    let options = bundle_arg::options(&args.id, root_entry, args.no_new_keyring);
    let preserve_fds = args.preserve_fds + options.listen_fds;
    verb::create(
        &store,
        &context.engine,
        CreateRequest {
            id: &args.id,
            bundle: &bundle.folder,
            spec: &bundle.spec,
            options,
            group,
            stdio: Stdio::Inherit,
            console: console.as_ref().map(Console::engine_end),
            preserve_fds,
            until: Until::Created,
            pid_file: args.pid_file.as_deref(),
        },
    )?;
    Ok(Exit::Success)
}
