//! A folder for one test, with a tag by which everything that the test made is found again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, umount2};
use tempfile::TempDir;

use crate::leftover;

/// A folder that any user may enter, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    tag: String,
    _among_others: Option<Flock<File>>,
}

/// Holds off every other test of the suite while the whole machine is compared.
#[derive(Debug)]
pub struct Exclusive(#[expect(dead_code, reason = "held, not read")] Flock<File>);

impl Scratch {
    /// Makes the folder; other tests may run meanwhile.
    pub fn new() -> Self {
        Self::with("/tmp", Some(lock(FlockArg::LockShared)))
    }

    /// The same outside of `/tmp`, of which a capsule has its own, and of `/var`.
    pub fn outside_tmp() -> Self {
        Self::with("/srv", Some(lock(FlockArg::LockShared)))
    }

    /// Makes the folder there as well, and keeps every other test waiting until both are dropped.
    pub fn alone() -> (Exclusive, Self) {
        (Exclusive(lock(FlockArg::LockExclusive)), Self::with("/srv", None))
    }

    fn with(parent: &str, among_others: Option<Flock<File>>) -> Self {
        let folder = tempfile::Builder::new().prefix("mur-it-").tempdir_in(parent).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        // Random, and safe in ids, cgroup names and regular expressions alike.
        let tag = name.replace(|found: char| !found.is_ascii_alphanumeric() && found != '-', "x");
        Self { folder, tag, _among_others: among_others }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The word that no other test has in its names.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// A container id, or any other name, that carries the tag.
    pub fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.tag)
    }

    /// A new folder inside.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A new file inside.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A new executable shell script inside.
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.file(name, format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Removing through a mount that a failed test left would delete what is mounted there.
        for mount in leftover::mounts_below(self.path()).iter().rev() {
            let _ = umount2(mount, MntFlags::MNT_DETACH);
        }
        if !leftover::mounts_below(self.path()).is_empty() {
            self.folder.disable_cleanup(true);
        }
    }
}

fn lock(kind: FlockArg) -> Flock<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o666)
        .open(format!("/tmp/mur-integration-{}.lock", nix::unistd::getuid()))
        .unwrap();
    Flock::lock(file, kind).map_err(|(_, errno)| errno).unwrap()
}
