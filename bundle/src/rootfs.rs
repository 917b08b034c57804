//! What a bundle's folder is made of besides its config.json: mountpoints, links, synthetic files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing the writer makes, parents before what is in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootfsStep {
    /// Where, relative to the bundle (`rootfs/usr`, `tmp`).
    pub path: PathBuf,
    /// What.
    pub kind: StepKind,
    /// Host user and group that own it, where that is not the caller.
    pub owner: Option<(u32, u32)>,
}

/// What one step makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A folder of this mode.
    Folder(u32),
    /// An empty file to mount on.
    Mountpoint,
    /// A symbolic link to this literal target.
    Link(PathBuf),
    /// A file with this text, mode 0644.
    File(String),
}
