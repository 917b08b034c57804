//! `mur version`: which mur this is, and which shapes its answers have.

use mur_manifest::lock::LockVersion;
use mur_runtime::state::OCI_VERSION;
use serde_json::{Map, Value, json};

use crate::args::{COMMIT, version};
use crate::context::Context;
use crate::report::Exit;

/// Shapes of JSON on standard output, by command; a number moves only when a reader would break.
const SHAPES: &[(&str, u32)] = &[
    ("bundle --json", 1),
    ("check --json", 1),
    ("envelope check --json", 1),
    ("explain --code --json", 1),
    ("explain --json", 1),
    ("run --explain-scope --json", 1),
    ("run --json", 1),
    ("version --json", 1),
];

/// Print which mur this is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print it as one line of JSON, with the shapes of every other command's JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    if !args.json {
        context.out.text(&format!("mur {}\n", version()))?;
        return Ok(Exit::Success);
    }
    let commands: Map<String, Value> =
        SHAPES.iter().map(|(command, number)| ((*command).to_owned(), json!(number))).collect();
    context.out.json_line(&json!({
        "mur_version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        // No WASM component is run, so there is no interface and no package of one.
        "wit_level": null,
        "packages": [],
        "oci_version": OCI_VERSION,
        "lock_version": LockVersion::NUMBER,
        "commands": commands,
    }))?;
    Ok(Exit::Success)
}
