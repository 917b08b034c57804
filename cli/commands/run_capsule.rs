//! `mur run --manifest M -- CMD`: runs a capsule and stays with it until it ends.

use std::io::{self, Write};
use std::path::Path;

use mur_manifest::Code;
use mur_shim::session::run::{Finished, RunOptions, Staged, Streams, run as run_session};

use super::{explain, launch_arg};
use crate::context::Context;
use crate::report::{Exit, warn};

/// Arguments of the capsule's verb.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) launch: launch_arg::Args,

    /// Say what would be allowed, and run nothing
    #[arg(long, help_heading = "Capsules")]
    explain_scope: bool,

    /// Print JSON alone on standard output; the command's own output goes to standard error
    #[arg(long, help_heading = "Capsules")]
    json: bool,
}

pub(crate) fn run(args: &Args, command: &[String], context: &mut Context) -> anyhow::Result<Exit> {
    let prepared = args.launch.prepare(command)?;
    if args.explain_scope {
        return explain::print_report(&prepared, args.json, context);
    }
    let options = RunOptions {
        streams: if args.json { Streams::OutputToError } else { Streams::Caller },
        state_root: context.globals.root.as_deref(),
    };
    let staged = |session: &Staged<'_>| {
        warn(&prepared.unknown_keys, session.notices);
        if !args.json {
            let report = session.report;
            let (class, tier) = (report.achieved_containment, report.enforcement_tier);
            say(&format!("session: {} ({class}, {tier})\n", session.id));
        }
    };
    let finished = run_session(&prepared, &options, staged)?;
    report_limits(&finished);
    if args.json {
        print_json(&prepared, &finished, context)?;
    } else {
        say(&format!(
            "status:  {} (exit {}, {} ms)\nrecords: {}\n",
            finished.exit_status.as_str(),
            finished.exit_code,
            finished.duration.as_millis(),
            finished.records.display()
        ));
    }
    Ok(Exit::Command(finished.exit_code))
}

/// A limit that ended the command is a refusal with a code, after the fact.
fn report_limits(finished: &Finished) {
    if let Some(limit) = finished.resource_limit {
        say(&limit_line(limit));
    }
    if let Some(found) = finished.quota_breach {
        say(&quota_line(found, &finished.workdir, &finished.records));
    }
}

fn limit_line(limit: &str) -> String {
    let code = Code::ERun011;
    format!("error[{code}]: the command was ended by a limit: `capabilities.resources.{limit}`\n")
}

fn quota_line(found: u64, workdir: &Path, records: &Path) -> String {
    let (code, workdir, records) = (Code::ERun013, workdir.display(), records.display());
    format!(
        "error[{code}]: the session was ended: {found} bytes in `{workdir}`, `{records}/tmp` and \
         `{records}/home` are above `capabilities.resources.workdir_max_bytes`\n"
    )
}

fn print_json(
    prepared: &mur_shim::session::prepare::Prepared,
    finished: &Finished,
    context: &mut Context,
) -> anyhow::Result<()> {
    let capsule = &prepared.policy.capsule;
    context.out.json_line(&serde_json::json!({
        "url": "",
        "pid": std::process::id(),
        "session_id": finished.id,
        "name": capsule.name,
        "version": capsule.version,
        "workdir": finished.workdir,
        "records_dir": finished.records,
        "exit_code": finished.exit_code,
        "exit_status": finished.exit_status,
        "resource_limit": finished.resource_limit,
        "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
    }))
}

/// Lines of our own go where the command's output does not.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_ended_the_command_is_named_with_its_key() {
        assert_eq!(
            limit_line("cpu_seconds"),
            "error[E-RUN-011]: the command was ended by a limit: `capabilities.resources.cpu_seconds`\n"
        );
    }

    #[test]
    fn a_work_folder_above_its_ceiling_is_named_with_what_was_found() {
        assert_eq!(
            quota_line(120, Path::new("/w"), Path::new("/r/ses_1")),
            "error[E-RUN-013]: the session was ended: 120 bytes in `/w`, `/r/ses_1/tmp` and \
             `/r/ses_1/home` are above `capabilities.resources.workdir_max_bytes`\n"
        );
    }
}
