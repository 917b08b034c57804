//! The only writer: makes a bundle's folder from its plan, and opens one.
#![expect(clippy::disallowed_methods, reason = "the one writer of a crate that is pure otherwise")]

mod contents;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, lchown, symlink,
};
use std::path::{Path, PathBuf};

use oci_spec::runtime::Spec;

use crate::{BundlePlan, OpenError, RootfsStep, StepKind, WriteError, archive};

pub use contents::Contents;

/// The file every OCI runtime reads.
const CONFIG: &str = "config.json";
/// The report, for people and for `mur prove`.
pub(crate) const SCOPE: &str = "murmur-scope.json";

/// A bundle on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    dir: PathBuf,
    spec: Spec,
}

impl Bundle {
    /// Opens a bundle, ours or anybody's. `dir` may be relative.
    ///
    /// # Errors
    /// The folder or its config.json cannot be read, or is no runtime-spec.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let dir = fs::canonicalize(dir)
            .map_err(|source| OpenError::Folder { path: dir.into(), source })?;
        let path = dir.join(CONFIG);
        let text =
            fs::read(&path).map_err(|source| OpenError::Read { path: path.clone(), source })?;
        let spec =
            serde_json::from_slice(&text).map_err(|source| OpenError::Config { path, source })?;
        Ok(Self { dir, spec })
    }

    /// Its folder, canonical.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its config.json.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}

/// Writes a bundle into `dir`, which must not exist; its parent must.
///
/// # Errors
/// The folder exists, or something in it could not be made; then nothing of it is left.
pub fn write(plan: &BundlePlan, dir: &Path) -> Result<Bundle, WriteError> {
    let config = plan.config_json().map_err(|source| WriteError::Serialise { source })?;
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let parent = fs::canonicalize(parent)
        .map_err(|source| WriteError::Make { path: parent.into(), source })?;
    let name = dir.file_name().ok_or_else(|| WriteError::Exists { path: dir.into() })?;
    let unfinished = Unfinished::create(parent.join(name))?;
    let root = unfinished.path().to_path_buf();
    for step in plan.rootfs() {
        make(&root, step)?;
    }
    make_file(&root.join(CONFIG), &config)?;
    if let Some(scope) = plan.scope() {
        make_file(&root.join(SCOPE), scope.as_bytes())?;
    }
    unfinished.keep();
    Ok(Bundle { dir: root, spec: plan.spec().clone() })
}

/// Writes a bundle as an OCI image archive into `file`, which must not exist.
///
/// # Errors
/// The file exists, or could not be written; then nothing of it is left.
pub fn write_archive(plan: &BundlePlan, file: &Path) -> Result<(), WriteError> {
    let bytes = archive(plan).map_err(|source| WriteError::Archive { source })?;
    match make_file(file, &bytes) {
        Err(WriteError::Make { path, source }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(WriteError::Exists { path })
        }
        Err(error) => {
            // What is there of it was made just now; an error that it cannot be removed would hide the first.
            let _ = fs::remove_file(file);
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// A folder that goes away again unless it is kept.
struct Unfinished {
    path: PathBuf,
    kept: bool,
}

impl Unfinished {
    fn create(path: PathBuf) -> Result<Self, WriteError> {
        match DirBuilder::new().mode(0o755).create(&path) {
            Ok(()) => {
                let unfinished = Self { path, kept: false };
                set_mode(&unfinished.path, 0o755)?;
                Ok(unfinished)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(WriteError::Exists { path })
            }
            Err(source) => Err(WriteError::Make { path, source }),
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            // Drop has nobody to return to; the folder is named in the error that is on its way.
            let _ = error;
        }
    }
}

fn make(root: &Path, step: &RootfsStep) -> Result<(), WriteError> {
    let path = root.join(&step.path);
    match &step.kind {
        StepKind::Folder(mode) => {
            DirBuilder::new()
                .mode(*mode)
                .create(&path)
                .map_err(|source| WriteError::Make { path: path.clone(), source })?;
            set_mode(&path, *mode)?;
        }
        StepKind::Mountpoint => make_file(&path, b"")?,
        StepKind::File(text) => make_file(&path, text.as_bytes())?,
        StepKind::Link(target) => symlink(target, &path)
            .map_err(|source| WriteError::Make { path: path.clone(), source })?,
    }
    match step.owner {
        Some((uid, gid)) => lchown(&path, Some(uid), Some(gid)).map_err(|source| WriteError::Own {
            path,
            uid,
            source,
        }),
        None => Ok(()),
    }
}

/// The umask of the caller must not decide what a capsule's user can read.
fn set_mode(path: &Path, mode: u32) -> Result<(), WriteError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|source| WriteError::Make { path: path.into(), source })
}

fn make_file(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    let fault = |source| WriteError::Make { path: path.into(), source };
    let mut file: File =
        OpenOptions::new().write(true).create_new(true).mode(0o644).open(path).map_err(fault)?;
    file.write_all(contents).map_err(fault)?;
    set_mode(path, 0o644)
}

#[cfg(test)]
mod tests;
