//! `mur exec`: starts one more process in a container.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use mur_runtime::engine::Stdio;
use mur_runtime::id::ContainerId;
use mur_runtime::plan::RootEntry;
use mur_runtime::store::{Container, TenantRecord};
use mur_runtime::verb::{self, Console, ExecFlags, ExecRequest, Paused, Supervisor};
use mur_shim::capsule_of_engine::narrow_exec;
use oci_spec::runtime::Process;

use super::bundle_arg;
use crate::context::Context;
use crate::report::Exit;

/// Start one more process in a running container
///
/// Without flags it is like the container's own process: its user, folder, environment and
/// privileges.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one bool a flag")]
pub(crate) struct Args {
    /// File with the process as in `config.json`, instead of the flags and CMD
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["command", "env", "cwd", "user"])]
    process: Option<PathBuf>,

    /// Working folder in the container
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Add a variable
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,

    /// Give it a terminal
    #[arg(short, long)]
    tty: bool,

    /// User and group in the container
    #[arg(short, long, value_name = "UID[:GID]")]
    user: Option<String>,

    /// Further groups
    #[arg(short = 'g', long, value_name = "GID")]
    additional_gids: Vec<u32>,

    /// Return when the process runs
    #[arg(short, long)]
    detach: bool,

    /// File that gets the number of the process
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,

    /// Unix socket that receives the master of the terminal
    #[arg(long, value_name = "SOCKET")]
    console_socket: Option<PathBuf>,

    /// Label of `SELinux`
    #[arg(long, value_name = "LABEL")]
    process_label: Option<String>,

    /// Profile of `AppArmor`
    #[arg(long, value_name = "PROFILE")]
    apparmor: Option<String>,

    /// Forbid it to gain privileges
    #[arg(long)]
    no_new_privs: bool,

    /// Add a capability
    #[arg(short, long, value_name = "CAP")]
    cap: Vec<String>,

    /// Pass on this many descriptors from 3 on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) preserve_fds: u32,

    /// Start it in this group below the container's, which must exist
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,

    /// Allow it in a paused container, where it waits
    #[arg(long)]
    ignore_paused: bool,

    /// Accepted for runc's sake: orphans are never taken over
    #[arg(long)]
    no_subreaper: bool,

    /// Name of the container
    id: ContainerId,

    /// Program and arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let container = context.store()?.load(&args.id)?;
    let tenant = container.tenant()?;
    let policy = container.record().annotations.get(mur_bundle::POLICY).map(String::as_str);
    let process = narrow_exec(&process_of(args, &tenant)?, policy)?;
    let terminal = process.terminal().unwrap_or(false);
    let console = Console::choose(terminal, args.console_socket.as_deref(), args.detach)?;
    if matches!(console, Some(Console::Pair { .. })) {
        Supervisor::require_terminal()?;
    }
    start(args, &container, &tenant, &process, console, context)
}

fn start(
    args: &Args,
    container: &Container,
    tenant: &TenantRecord,
    process: &Process,
    console: Option<Console>,
    context: &Context,
) -> anyhow::Result<Exit> {
    let options = bundle_arg::options(&args.id, RootEntry::Pivot, true);
    let supervisor = if args.detach { None } else { Some(Supervisor::new()?) };
    let preserve_fds = args.preserve_fds + options.listen_fds;
    let mut started = verb::exec(
        container,
        &context.engine,
        &ExecRequest {
            process,
            tenant,
            options,
            paused: if args.ignore_paused { Paused::Ignore } else { Paused::Refuse },
            group: args.cgroup.as_deref(),
            stdio: Stdio::Inherit,
            console: console.as_ref().map(Console::engine_end),
            preserve_fds,
            pid_file: args.pid_file.as_deref(),
        },
    )?;
    started.keep();
    let Some(supervisor) = supervisor else { return Ok(Exit::Success) };
    let master = console.map(Console::into_master).transpose()?.flatten();
    Ok(Exit::Command(supervisor.wait(&started, master)?.code()))
}

/// The process that is asked for.
fn process_of(args: &Args, tenant: &TenantRecord) -> anyhow::Result<Process> {
    if let Some(path) = &args.process {
        let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let mut process: Process = serde_json::from_slice(&bytes)
            .with_context(|| format!("cannot understand `{}`", path.display()))?;
        if args.tty {
            process.set_terminal(Some(true));
        }
        return Ok(process);
    }
    let flags = ExecFlags {
        args: args.command.clone(),
        cwd: args.cwd.clone(),
        env: args.env.clone(),
        terminal: args.tty,
        user: args.user.clone(),
        additional_gids: args.additional_gids.clone(),
        selinux_label: args.process_label.clone(),
        apparmor: args.apparmor.clone(),
        no_new_privileges: args.no_new_privs,
        capabilities: args.cap.clone(),
    };
    Ok(flags.apply(tenant.process.clone())?)
}
