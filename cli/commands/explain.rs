//! `mur explain`: what a capsule would be allowed to do on this host; nothing is done.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mur_manifest::Code;
use mur_policy::ScopeReport;
use mur_runtime::layout::IdentityChoice;
use mur_shim::session::explain::explain;
use mur_shim::session::prepare::Prepared;

use super::launch_arg;
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

    /// Explain an error or warning code instead, as E-CAP-003
    #[arg(long, value_name = "CODE", conflicts_with = "manifest")]
    code: Option<String>,

    /// Print the report as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    if let Some(code) = &args.code {
        return explain_code(code, args.json, context);
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
    let report = explain(prepared, IdentityChoice::Natural)?.report;
    warn(&prepared.unknown_keys, &prepared.notices(&report));
    print(&report, json, context)
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

fn explain_code(text: &str, json: bool, context: &mut Context) -> anyhow::Result<Exit> {
    let code: Code = text.parse()?;
    let info = code.info();
    if json {
        context.out.json(&serde_json::json!({
            "code": code.to_string(),
            "title": info.title,
            "meaning": info.meaning,
            "cause": info.cause,
            "fix": info.fix,
        }))?;
        return Ok(Exit::Success);
    }
    let text = format!(
        "{code}: {}\n\n  meaning: {}\n  cause:   {}\n  fix:     {}\n",
        info.title, info.meaning, info.cause, info.fix
    );
    context.out.text(&text)?;
    Ok(Exit::Success)
}
