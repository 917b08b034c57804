//! `mur schema`: prints the schema of a file that people write.

use clap::ValueEnum;

use crate::context::Context;
use crate::report::Exit;

/// Print the JSON Schema of a file that you write by hand
///
/// Editors complete and check a file by it. A file that its schema accepts can still have faults
/// that no schema can say: `mur check` knows them all.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example, for editors with a YAML language server:
  mur schema manifest > murmur.schema.json
  and in the first line of murmur.yaml:
  # yaml-language-server: $schema=./murmur.schema.json")]
pub(crate) struct Args {
    /// Which file
    name: Name,
}

/// The files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// A capsule's murmur.yaml
    Manifest,
    /// An operator's config.yaml
    Config,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    context.out.json(&match args.name {
        Name::Manifest => mur_manifest::schema(),
        Name::Config => mur_manifest::operator_schema(),
    })?;
    Ok(Exit::Success)
}
