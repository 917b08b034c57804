//! `mur run`: decides whether a capsule or a container of a bundle is meant.

use anyhow::bail;
use mur_runtime::id::ContainerId;

use super::{run_capsule, run_oci};
use crate::context::Context;
use crate::report::Exit;

/// Run a capsule (`--manifest M -- CMD`), or a container of a bundle (`ID --bundle DIR`)
///
/// A capsule is staged, confined, run, reported and recorded. Without a command the manifest's own
/// `process:` runs. Exits as the command in it does: with its number, or 128 and the number of the
/// signal that ended it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the new container: then a bundle is run, as by runc
    #[arg(conflicts_with_all = ["manifest", "workdir", "containment", "explain_scope", "json"])]
    id: Option<ContainerId>,

    #[command(flatten)]
    capsule: run_capsule::Args,

    #[command(flatten)]
    pub(crate) oci: run_oci::Args,

    /// The command to run in the capsule
    #[arg(last = true, value_name = "CMD", conflicts_with = "id")]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    match &args.id {
        Some(id) => run_oci::run(id, &args.oci, context),
        None if args.oci.bundle.is_some() => {
            bail!("`run --bundle` needs the name of the new container")
        }
        None => run_capsule::run(&args.capsule, &args.command, context),
    }
}
