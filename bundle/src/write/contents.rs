//! Reads what lies in a bundle's folder, for the check of it.
#![expect(clippy::disallowed_methods, reason = "reads back what the one writer wrote")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SCOPE;
use crate::plan::digest;
use crate::root::SYNTHETIC;
use crate::tree::ROOTFS;
use crate::{Bundle, OpenError};

/// What lies in a bundle's folder, as far as [`crate::verify`] judges it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The digest of `murmur-scope.json`, as `sha256:<hex>`.
    pub report: Option<String>,
    /// What is to be bound and is not there: its source, and where it would be seen.
    pub missing: Vec<(PathBuf, PathBuf)>,
    /// Files of the root that no plan makes, relative to it. The root is the one mount that is neither written nor
    /// `noexec`, so it holds links, empty files and our own text.
    pub foreign: Vec<PathBuf>,
}

impl Bundle {
    /// Reads what lies in its folder.
    ///
    /// # Errors
    /// A file or folder of it cannot be read.
    pub fn contents(&self) -> Result<Contents, OpenError> {
        let path = self.dir().join(SCOPE);
        let report = match fs::read(&path) {
            Ok(report) => Some(digest(&report)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(OpenError::Read { path, source }),
        };
        Ok(Contents { report, missing: self.missing(), foreign: self.foreign()? })
    }

    fn missing(&self) -> Vec<(PathBuf, PathBuf)> {
        let mounts = self.spec().mounts().iter().flatten();
        let binds = mounts.filter(|mount| mount.typ().as_deref() == Some("bind"));
        binds
            .filter_map(|mount| Some((mount.source().clone()?, mount.destination().clone())))
            // A source that starts at `/` stays as it is.
            .filter(|(source, _)| fs::symlink_metadata(self.dir().join(source)).is_err())
            .collect()
    }

    fn foreign(&self) -> Result<Vec<PathBuf>, OpenError> {
        let root = self.dir().join(ROOTFS);
        let mut foreign = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let fault = |source| OpenError::Read { path: folder.clone(), source };
            for entry in fs::read_dir(&folder).map_err(fault)? {
                let entry = entry.map_err(fault)?;
                let meta = entry.metadata().map_err(fault)?;
                let path = entry.path();
                let below = path.strip_prefix(&root).unwrap_or(&path).to_path_buf();
                let ours = meta.is_symlink()
                    || meta.is_file() && (meta.len() == 0 || is_own_text(&path, &below));
                if meta.is_dir() {
                    folders.push(path);
                } else if !ours {
                    foreign.push(below);
                }
            }
        }
        foreign.sort();
        Ok(foreign)
    }
}

fn is_own_text(path: &Path, below: &Path) -> bool {
    let named = SYNTHETIC.iter().any(|name| below == Path::new("etc").join(name));
    let text = |byte: &u8| *byte == b'\n' || (32..127).contains(byte);
    named && fs::read(path).is_ok_and(|bytes| bytes.iter().all(text))
}
