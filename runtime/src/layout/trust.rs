//! Where this host keeps the certificates that TLS libraries trust: `spec/containment.md` §7.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mur_bundle::ReadPath;
use mur_policy::CapabilityPolicy;

use crate::layout::program::Reader;

const FILES: [&str; 7] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
    "/usr/lib/ssl/cert.pem",
];
const FOLDERS: [&str; 5] = [
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted/pem",
    "/usr/lib/ssl/certs",
    "/var/lib/ca-certificates/pem",
];

/// The trust store of a capsule that has both commands and a network; sorted, nothing beneath another entry.
pub(crate) fn trust_store(
    policy: &CapabilityPolicy,
    writable: &[PathBuf],
    reader: &mut Reader,
) -> Vec<ReadPath> {
    let commands = policy.shell.as_ref().is_some_and(|shell| !shell.allow.is_empty());
    if !commands || policy.network.allow.is_empty() {
        return Vec::new();
    }
    let is_open = |path: &Path| writable.iter().any(|folder| path.starts_with(folder));
    let Reader { walker, evidence, .. } = reader;
    let mut canonical = |path: &&str| walker.resolve(Path::new(path)).ok();
    let mut folders: BTreeSet<PathBuf> =
        FOLDERS.iter().filter_map(&mut canonical).filter(|path| path.is_dir()).collect();
    for folder in &folders {
        evidence.listing(folder);
    }
    let elsewhere: Vec<PathBuf> = folders.iter().flat_map(|folder| link_targets(folder)).collect();
    for parent in elsewhere {
        let encloses = folders.iter().any(|folder| folder.starts_with(&parent));
        if parent != Path::new("/") && !encloses && !is_open(&parent) {
            folders.insert(parent);
        }
    }
    evidence.is_private |= folders.iter().any(|path| is_open(path));
    folders.retain(|path| !is_open(path));
    let files: BTreeSet<PathBuf> = FILES
        .iter()
        .filter_map(&mut canonical)
        .filter(|path| path.is_file() && !is_open(path))
        .filter(|path| !folders.iter().any(|folder| path.starts_with(folder)))
        .collect();
    let nested: Vec<PathBuf> = folders
        .iter()
        .filter(|path| folders.iter().any(|above| above != *path && path.starts_with(above)))
        .cloned()
        .collect();
    folders.retain(|path| !nested.contains(path));
    let folders = folders.into_iter().map(|path| ReadPath { path, folder: true });
    let files = files.into_iter().map(|path| ReadPath { path, folder: false });
    let mut store: Vec<ReadPath> = folders.chain(files).collect();
    store.sort_by(|a, b| a.path.cmp(&b.path));
    store
}

/// The folders that hold what the links directly inside `folder` lead to.
fn link_targets(folder: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .filter(|target| target.is_file())
        .filter_map(|target| target.parent().map(Path::to_path_buf))
        .filter(|parent| !parent.starts_with(folder))
        .collect()
}
