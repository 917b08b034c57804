//! What a caller asks for, and where it stands: everything a launch reads of its surroundings.

use std::ffi::OsString;
use std::path::PathBuf;

use mur_manifest::ContainmentFloor;

/// One launch, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRequest {
    /// The manifest file.
    pub manifest: PathBuf,
    /// `--workdir`; `None` gives each session a folder of its own.
    pub workdir: Option<PathBuf>,
    /// `--containment`: raises the floor, or consents to `unconfined`.
    pub containment: Option<ContainmentFloor>,
    /// `-- CMD ARG…`; empty takes the manifest's own process.
    pub command: Vec<String>,
}

/// Where the caller stands; read once, at the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// `HOME`.
    pub home: Option<OsString>,
    /// `PATH`.
    pub search_path: OsString,
    /// The variables whose names and values are text.
    pub environment: Vec<(String, String)>,
    /// The current folder.
    pub current_dir: PathBuf,
}

impl Surroundings {
    /// Reads them from this process.
    pub fn read() -> std::io::Result<Self> {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Ok(Self {
            home: std::env::var_os("HOME"),
            search_path: std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()),
            environment: std::env::vars_os().filter_map(text).collect(),
            current_dir: std::env::current_dir()?,
        })
    }
}
