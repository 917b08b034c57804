//! Reads the files that a verb is given by name: manifests and their kin, `-` for standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use mur_manifest::{Manifest, parse};
use mur_shim::session::error::PrepareError;

/// The bytes of a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.as_os_str() != "-" {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a manifest.
pub(crate) fn read_manifest(path: &Path) -> Result<Manifest, PrepareError> {
    let path_of = || PathBuf::from(path);
    let bytes =
        read(path).map_err(|source| PrepareError::ReadManifest { path: path_of(), source })?;
    parse(&bytes).map_err(|faults| PrepareError::Manifest { path: path_of(), faults })
}
