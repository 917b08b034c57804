//! `mur run ID`: creates a container from a bundle, starts it, and stays with it until it ends.

use std::path::PathBuf;

use mur_runtime::engine::Stdio;
use mur_runtime::id::ContainerId;
use mur_runtime::plan::RootEntry;
use mur_runtime::verb::{self, Console, CreateRequest, Created, Supervisor, Until};

use oci_spec::runtime::Process;

use super::bundle_arg;
use crate::context::Context;
use crate::report::Exit;

/// Arguments of the OCI verb.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "one bool a flag")]
pub(crate) struct Args {
    /// Folder of the bundle [default: the current one]
    #[arg(short, long, value_name = "DIR", help_heading = "Containers")]
    pub(crate) bundle: Option<PathBuf>,

    /// Return when the program runs; the container stays
    #[arg(short, long, help_heading = "Containers")]
    detach: bool,

    /// Do not delete the container when it has ended
    #[arg(long, help_heading = "Containers")]
    keep: bool,

    /// Unix socket that receives the master of the container's terminal
    #[arg(long, value_name = "SOCKET", help_heading = "Containers")]
    console_socket: Option<PathBuf>,

    /// File that gets the number of the container's first process
    #[arg(long, value_name = "FILE", help_heading = "Containers")]
    pid_file: Option<PathBuf>,

    /// Accepted for runc's sake: orphans are never taken over
    #[arg(long, help_heading = "Containers")]
    no_subreaper: bool,

    /// Do not use `pivot_root` (for a root on an initramfs)
    #[arg(long, help_heading = "Containers")]
    no_pivot: bool,

    /// Keep the caller's session keyring
    #[arg(long, help_heading = "Containers")]
    no_new_keyring: bool,

    /// Pass on this many descriptors from 3 on
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Containers")]
    pub(crate) preserve_fds: u32,
}

pub(crate) fn run(id: &ContainerId, args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let store = context.store()?;
    let bundle = bundle_arg::open(args.bundle.as_deref(), context)?;
    let terminal = bundle.spec.process().as_ref().and_then(Process::terminal).unwrap_or(false);
    let console = Console::choose(terminal, args.console_socket.as_deref(), args.detach)?;
    let shown = matches!(console, Some(Console::Pair { .. }));
    if shown {
        Supervisor::require_terminal()?;
    }
    let root_entry = if args.no_pivot { RootEntry::Chroot } else { RootEntry::Pivot };
    let options = bundle_arg::options(id, root_entry, args.no_new_keyring);
    let supervisor = if args.detach { None } else { Some(Supervisor::new()?) };
    let preserve_fds = args.preserve_fds + options.listen_fds;
    let created = verb::create(
        &store,
        &context.engine,
        CreateRequest {
            id,
            bundle: &bundle.folder,
            spec: &bundle.spec,
            options,
            group: context.group()?,
            stdio: Stdio::Inherit,
            console: console.as_ref().map(Console::engine_end),
            preserve_fds,
            until: Until::Running,
            pid_file: args.pid_file.as_deref(),
        },
    )?;
    let Some(supervisor) = supervisor else { return Ok(Exit::Success) };
    let waited = attend(supervisor, console, &created);
    if !args.keep {
        // With whatever its program left running.
        verb::destroy(created.container)?;
    }
    waited
}

/// Stays with the first process until it ends.
fn attend(
    supervisor: Supervisor,
    console: Option<Console>,
    created: &Created,
) -> anyhow::Result<Exit> {
    let master = console.map(Console::into_master).transpose()?.flatten();
    let status = supervisor.wait(&created.init, master)?;
    Ok(Exit::Command(status.code()))
}
