//! `mur ps`: the processes of a container, or without one the sessions.

use anyhow::bail;
use mur_runtime::id::ContainerId;

use super::ps_oci;
use crate::context::Context;
use crate::report::Exit;

/// List the processes of a container, or without one the sessions
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shape of the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    format: ps_oci::Format,

    /// Name of the container
    id: Option<ContainerId>,

    /// Arguments for ps(1)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PS-ARGS")]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    match &args.id {
        Some(id) => ps_oci::run(id, args.format, &args.arguments, context),
        None => bail!("listing sessions is not in this build; `mur ps ID` and `mur list` are"),
    }
}
