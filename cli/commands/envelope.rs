//! `mur envelope`: compares what two manifests may do.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Subcommand;
use mur_policy::SpawnEnvelope;

use crate::context::Context;
use crate::document::read_manifest;
use crate::report::Exit;

/// Compare what two manifests may do
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(CheckArgs),
}

/// Say whether a capsule may do nothing that the capsule which starts it may not
///
/// Compares thirteen axes in a fixed order, as they are declared, and names the first on which the
/// child exceeds its parent: network, sockets, peers, programs, children, variables, scope,
/// executing the work folder, state stores, installing, and the containment floor.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits 0 when the child fits and 1 when it does not.

Example:
  mur envelope check parent/murmur.yaml child/murmur.yaml")]
struct CheckArgs {
    /// The manifest of the capsule that starts the other
    parent: PathBuf,

    /// The manifest of the capsule that is started
    child: PathBuf,

    /// Print the violation as one line of JSON: axis, entry, `parent_entry`; null when there is none
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Check(args) => check(args, context),
    }
}

fn check(args: &CheckArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let parent = read_envelope(&args.parent)?;
    let child = read_envelope(&args.child)?;
    let violation = parent.contains(&child).err();
    if args.json {
        context.out.json_line(&violation)?;
    } else {
        let (parent, child) = (args.parent.display(), args.child.display());
        context.out.text(&match &violation {
            None => format!("fits: `{child}` may do nothing that `{parent}` may not\n"),
            Some(violation) => format!("exceeds: {violation}\n"),
        })?;
    }
    Ok(if violation.is_some() { Exit::Failure } else { Exit::Success })
}

fn read_envelope(path: &Path) -> anyhow::Result<SpawnEnvelope> {
    let manifest = read_manifest(path)?;
    mur_policy::envelope(&manifest)
        .with_context(|| format!("`{}` has no envelope that can be compared", path.display()))
}
