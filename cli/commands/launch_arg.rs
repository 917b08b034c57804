//! What every capsule verb takes: the manifest, the work folder, the floor, the command.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use mur_manifest::ContainmentFloor;
use mur_shim::session::prepare::{Prepared, prepare};
use mur_shim::session::request::{LaunchRequest, Surroundings};

/// The file name of a manifest.
pub(crate) const MANIFEST: &str = "murmur.yaml";

/// Which capsule, where, and how well held.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The capsule's manifest [default: murmur.yaml of the current folder]
    #[arg(short, long, value_name = "FILE", help_heading = "Capsules")]
    pub(crate) manifest: Option<PathBuf>,

    /// The folder it works in [default: a new one below `workdir/` beside the manifest]
    #[arg(short, long, value_name = "DIR", help_heading = "Capsules")]
    workdir: Option<PathBuf>,

    /// Refuse to run with less than this; never lowers what the manifest asks for
    #[arg(long, value_name = "CLASS", help_heading = "Capsules")]
    containment: Option<Class>,
}

/// Values of `--containment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Class {
    /// Held by nothing; needs the manifest's word as well
    Unconfined,
    /// Any host
    Advisory,
    /// What is not granted is denied
    Scoped,
    /// What is not granted is absent
    Sealed,
}

impl From<Class> for ContainmentFloor {
    fn from(class: Class) -> Self {
        match class {
            Class::Unconfined => Self::Unconfined,
            Class::Advisory => Self::Advisory,
            Class::Scoped => Self::Scoped,
            Class::Sealed => Self::Sealed,
        }
    }
}

impl Args {
    /// Decides everything a launch decides, and makes nothing.
    pub(crate) fn prepare(&self, command: &[String]) -> anyhow::Result<Prepared> {
        let request = LaunchRequest {
            manifest: self.manifest.clone().unwrap_or_else(|| Path::new(MANIFEST).into()),
            workdir: self.workdir.clone(),
            containment: self.containment.map(Into::into),
            command: command.to_vec(),
        };
        let surroundings = Surroundings::read().context("cannot find the current folder")?;
        Ok(prepare(&request, &surroundings)?)
    }
}
