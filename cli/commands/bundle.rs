//! `mur bundle`: writes a capsule as an OCI bundle.

use std::path::PathBuf;

use clap::ValueEnum;
use mur_runtime::layout::IdentityChoice;
use mur_shim::session::bundle::plan_bundle;

use super::launch_arg;
use crate::context::Context;
use crate::report::{Exit, warn};

/// Write a capsule as an OCI bundle: config.json, rootfs/ and its report
///
/// Any OCI runtime runs it; `mur` enforces it in full, and the report says what others ignore. The
/// same input gives the same bytes. The folder must not exist.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    launch: launch_arg::Args,

    /// The folder to make
    #[arg(short, long, value_name = "DIR", required_unless_present = "print")]
    output: Option<PathBuf>,

    /// Print config.json and write nothing
    #[arg(long, conflicts_with = "output")]
    print: bool,

    /// The runtime that shall run it
    #[arg(long = "for", value_name = "RUNTIME")]
    runtime: Option<Runtime>,

    /// Print what was written as JSON
    #[arg(long, conflicts_with = "print")]
    json: bool,

    /// The command of the bundle, in place of the manifest's process
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Values of `--for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Runtime {
    /// Maps container user 0, which runc insists on when an ordinary user calls it
    Runc,
    /// crun and mur take the caller's own number
    Crun,
}

impl Runtime {
    fn identity(self) -> IdentityChoice {
        match self {
            Self::Runc => IdentityChoice::ContainerRoot,
            Self::Crun => IdentityChoice::Natural,
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let prepared = args.launch.prepare(&args.command)?;
    let identity = args.runtime.map_or(IdentityChoice::Natural, Runtime::identity);
    let planned = plan_bundle(&prepared, identity)?;
    warn(&prepared.unknown_keys, &prepared.notices(&planned.report, &planned.layout));
    let config = planned.config_json()?;
    let Some(output) = &args.output else {
        context.out.text(&String::from_utf8_lossy(&config))?;
        return Ok(Exit::Success);
    };
    let bundle = planned.write(output)?;
    if args.json {
        context.out.json_line(&serde_json::json!({
            "bundle": bundle.dir(),
            "config_digest": mur_bundle::digest(&config),
            "report": planned.report,
        }))?;
    }
    Ok(Exit::Success)
}
