//! `mur explain`: what a capsule would be allowed to do on this host; nothing is done.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mur_policy::ScopeReport;
use mur_runtime::layout::IdentityChoice;
use mur_shim::session::explain::explain;
use mur_shim::session::prepare::Prepared;

use super::{explain_code, launch_arg};
use crate::context::Context;
use crate::report::{Exit, warn};

/// Say what a capsule would really be allowed to do on this host
///
/// Everything is decided as a run decides it, limits are tried on a throw-away control group, and
/// nothing stays. Exits 0 also when the floor is not met: the report says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    launch: launch_arg::Args,

    /// Read the report that a bundle carries
    #[arg(short, long, value_name = "DIR", conflicts_with_all = ["manifest", "code"])]
    bundle: Option<PathBuf>,

    /// Explain an error or warning code instead, as E-CAP-003; `all` lists them
    #[arg(long, value_name = "CODE", conflicts_with = "manifest")]
    code: Option<String>,

    /// Print the report as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    if let Some(code) = &args.code {
        return explain_code::run(code, args.json, context);
    }
    if let Some(bundle) = &args.bundle {
        let report = read_report(bundle)?;
        return print(&report, args.json, context);
    }
    print_report(&args.launch.prepare(&[])?, args.json, context)
}

/// Prints the report of a launch that does not take place.
pub(crate) fn print_report(
    prepared: &Prepared,
    json: bool,
    context: &mut Context,
) -> anyhow::Result<Exit> {
    let explained = explain(prepared, IdentityChoice::Natural)?;
    warn(&prepared.unknown_keys, &prepared.notices(&explained.report, &explained.layout));
    print(&explained.report, json, context)
}

fn print(report: &ScopeReport, json: bool, context: &mut Context) -> anyhow::Result<Exit> {
    if json {
        context.out.text(&(report.to_json()? + "\n"))?;
    } else {
        context.out.text(&report.render_text())?;
    }
    Ok(Exit::Success)
}

fn read_report(bundle: &Path) -> anyhow::Result<ScopeReport> {
    let path = bundle.join("murmur-scope.json");
    let text = std::fs::read(&path)
        .with_context(|| format!("cannot read the report `{}`", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("`{}` is no report", path.display()))
}
