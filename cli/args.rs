//! The command line: what may stand before the verb, and the verbs.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{ArgAction, Parser, ValueEnum};
use mur_runtime::cgroup::Rights;
use mur_runtime::state::OCI_VERSION;

use crate::commands::Command;

/// The commit this was built from, where the build knew it.
pub(crate) const COMMIT: &str = match option_env!("MUR_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// What `--version` prints after the program's name; engines read the first and the third line.
pub(crate) fn version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!("version {}\ncommit: {COMMIT}\nspec: {OCI_VERSION}", env!("CARGO_PKG_VERSION"))
    })
}

/// Runs AI agent capsules as OCI containers, and says truthfully what holds them.
///
/// Two ways in. With a manifest (`murmur.yaml`) a capsule is compiled, confined and run:
/// `mur run --manifest M -- CMD`. With a bundle (a folder with `config.json` and a root file
/// system) it is an OCI runtime with the command line of runc: `create`, `start`, `state`, `kill`,
/// `delete`. Engines such as podman and containerd call the second.
#[derive(Debug, Parser)]
#[command(
    name = "mur",
    version = version(),
    disable_version_flag = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    subcommand_help_heading = "Commands"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What may stand before the verb.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Globals {
    /// Folder for the state of containers [default: /run/mur, or below `$XDG_RUNTIME_DIR`]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Also append errors and warnings to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// Shape of the lines in the log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,

    /// Say what is decided and from what
    #[arg(long)]
    pub(crate) debug: bool,

    /// Have systemd keep the control groups; `cgroupsPath` is then `slice:prefix:name`
    #[arg(long)]
    pub(crate) systemd_cgroup: bool,

    /// Who keeps the control groups: cgroupfs, systemd or disabled
    #[arg(long, value_name = "MANAGER", conflicts_with = "systemd_cgroup")]
    pub(crate) cgroup_manager: Option<String>,

    /// Whether control groups that may not be made are let go when no limit needs them
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) rootless: Rootless,

    /// Narrow the container by this capsule of /etc/murmur/capsules
    #[arg(long, value_name = "NAME")]
    pub(crate) capsule: Option<String>,

    /// Print the version
    #[arg(short = 'v', long, visible_short_alias = 'V', action = ArgAction::Version)]
    version: Option<bool>,
}

/// Shape of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// `time="…" level=… msg="…"`
    Text,
    /// One JSON object a line, with `level`, `msg` and `time`
    Json,
}

/// Values of `--rootless`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rootless {
    /// When the caller is not the host's root
    Auto,
    /// Always
    True,
    /// Never
    False,
}

impl Rootless {
    /// The rights that follow.
    pub(crate) fn rights(self) -> Rights {
        match self {
            Self::Auto => Rights::of_caller(),
            Self::True => Rights::Rootless,
            Self::False => Rights::Root,
        }
    }
}
