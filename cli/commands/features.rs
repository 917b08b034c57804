//! `mur features`: what of a config this runtime understands.

use mur_runtime::verb;

use crate::context::Context;
use crate::report::Exit;

/// Print what of a config this runtime understands, as JSON
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    context.out.json(&verb::features(env!("CARGO_PKG_VERSION")))?;
    Ok(Exit::Success)
}
