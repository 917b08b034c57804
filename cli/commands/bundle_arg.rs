//! Reads a bundle for the verbs that start containers from one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mur_runtime::id::ContainerId;
use mur_runtime::plan::{ExecOptions, RootEntry, SessionKeyring};
use oci_spec::runtime::Spec;

use crate::context::{Context, existing_folder};
use crate::narrow::narrow;

/// A bundle as a verb needs it.
#[derive(Debug)]
pub(super) struct Opened {
    /// Its absolute folder.
    pub(super) folder: PathBuf,
    /// Its config, narrowed where the container is a capsule.
    pub(super) spec: Spec,
}

/// Opens the bundle at `path`, by default the current folder.
pub(super) fn open(path: Option<&Path>, context: &Context) -> anyhow::Result<Opened> {
    let folder = existing_folder(path.unwrap_or(Path::new(".")))?;
    let config = folder.join("config.json");
    let bytes = fs::read(&config).with_context(|| format!("cannot read `{}`", config.display()))?;
    let spec: Spec = serde_json::from_slice(&bytes)
        .with_context(|| format!("cannot understand `{}`", config.display()))?;
    let spec = narrow(spec, &folder, context.globals.capsule.as_deref())?;
    Ok(Opened { folder, spec })
}

/// Choices of the command line beyond the config.
pub(super) fn options(
    id: &ContainerId,
    root_entry: RootEntry,
    no_new_keyring: bool,
) -> ExecOptions {
    let keyring = if no_new_keyring {
        SessionKeyring::Inherited
    } else {
        SessionKeyring::New(format!("_ses.{id}"))
    };
    ExecOptions { root_entry, keyring, listen_fds: listen_fds(), ..ExecOptions::default() }
}

/// How many sockets a service manager passed to this very process (`sd_listen_fds(3)`).
pub(super) fn listen_fds() -> u32 {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let ours = number("LISTEN_PID") == Some(std::process::id());
    number("LISTEN_FDS").filter(|_| ours).unwrap_or(0)
}
