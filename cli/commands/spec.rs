//! `mur spec`: writes a config.json to begin with.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mur_runtime::cgroup::Rights;
use mur_runtime::verb::{caller_ids, spec_template};

use crate::context::{Context, existing_folder};
use crate::report::Exit;

/// Write a `config.json` to begin with: a shell in the folder `rootfs` of the bundle
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the bundle [default: the current one]
    #[arg(short, long, value_name = "DIR")]
    bundle: Option<PathBuf>,

    /// For a container that its caller runs without root
    #[arg(long)]
    rootless: bool,
}

pub(crate) fn run(args: &Args, _: &mut Context) -> anyhow::Result<Exit> {
    let folder = existing_folder(args.bundle.as_deref().unwrap_or(Path::new(".")))?;
    let path = folder.join("config.json");
    let rights = if args.rootless { Rights::Rootless } else { Rights::Root };
    let (uid, gid) = caller_ids();
    let text = serde_json::to_string_pretty(&spec_template(rights, uid, gid))?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| file.write_all((text + "\n").as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(Exit::Success)
}
