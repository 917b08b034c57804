//! `mur check`: says everything there is to say of manifests, without a host.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mur_policy::{Language, review};

use super::launch_arg::MANIFEST;
use crate::context::Context;
use crate::document;
use crate::report::Exit;
use crate::review::{Colour, Reviewed, of_unreadable, sarif, to_json, to_text, totals};

/// Say everything that is wrong or doubtful in manifests, without asking this host
///
/// Reads each file and judges it as a launch would, so far as no host is needed: every fault at
/// once, in file order, each with its place, its code and what to write instead. `mur explain`
/// says what this host makes of a manifest.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits 0 without errors, 1 with errors, and with --deny-warnings also 1 with warnings.

Examples:
  mur check                                  murmur.yaml of the current folder
  mur check --deny-warnings */murmur.yaml    for a build that must stay clean
  mur check --sarif > murmur.sarif           for code scanning
  mur check --as config ~/.murmur/config.yaml")]
pub(crate) struct Args {
    /// The files; `-` reads standard input [default: murmur.yaml of the current folder]
    #[arg(value_name = "MANIFEST")]
    files: Vec<PathBuf>,

    /// What the files are
    #[arg(long = "as", value_name = "KIND", default_value = "manifest")]
    kind: Kind,

    /// Exit with 1 also when there are only warnings
    #[arg(long)]
    deny_warnings: bool,

    /// Print the findings as one line of JSON
    #[arg(long)]
    json: bool,

    /// Print the findings as SARIF 2.1.0, which code scanning reads
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
}

/// Values of `--as`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A capsule's murmur.yaml
    Manifest,
    /// An operator's config.yaml
    Config,
    /// A murmur.lock
    Lock,
}

impl Kind {
    fn language(self) -> Language {
        match self {
            Self::Manifest => Language::Manifest,
            Self::Config => Language::Config,
            Self::Lock => Language::Lock,
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let default = [PathBuf::from(MANIFEST)];
    let files = if args.files.is_empty() { &default[..] } else { &args.files };
    let reviewed: Vec<Reviewed> =
        files.iter().map(|path| review_file(path, args.kind.language())).collect();
    if args.json {
        context.out.json_line(&to_json(&reviewed))?;
    } else if args.sarif {
        context.out.json(&sarif(&reviewed))?;
    } else {
        context.out.text(&to_text(&reviewed, colour()))?;
    }
    let (errors, warnings) = totals(&reviewed);
    let refused = errors > 0 || (args.deny_warnings && warnings > 0);
    Ok(if refused { Exit::Failure } else { Exit::Success })
}

fn colour() -> Colour {
    let wanted = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if wanted { Colour::Terminal } else { Colour::Plain }
}

/// Reviews one file; one that cannot be read is a finding like any other.
fn review_file(path: &Path, language: Language) -> Reviewed {
    let review = match document::read(path) {
        Ok(bytes) => review(language, &bytes),
        Err(error) => of_unreadable(path, error),
    };
    Reviewed { path: path.to_owned(), review }
}
