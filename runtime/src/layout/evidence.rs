//! What a reading of the host depends on, as stamps: while they are the same, so is what was read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Everything that was looked at.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Names that were followed, found or not.
    entries: BTreeSet<PathBuf>,
    /// Folders that were searched by name or listed.
    listings: BTreeSet<PathBuf>,
    /// The folder that version managers chose by.
    pub(crate) chosen_in: Option<PathBuf>,
    /// Something was left out because the capsule may write it: another capsule's reading would differ.
    pub(crate) is_private: bool,
}

/// The stamps of evidence, to compare with later ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamps {
    entries: Vec<(PathBuf, u64)>,
    listings: Vec<(PathBuf, u64)>,
}

impl Evidence {
    /// A name was followed.
    pub(crate) fn entry(&mut self, path: &Path) {
        if !self.entries.contains(path) {
            self.entries.insert(path.into());
        }
    }

    /// A folder was searched or listed.
    pub(crate) fn listing(&mut self, path: &Path) {
        if !self.listings.contains(path) {
            self.listings.insert(path.into());
        }
    }

    /// Takes over what somebody else looked at.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.listings.extend(other.listings);
        self.is_private |= other.is_private;
        self.chosen_in = self.chosen_in.take().or(other.chosen_in);
    }

    /// Takes the stamps.
    pub(crate) fn stamps(&self) -> Stamps {
        let stamp = |paths: &BTreeSet<PathBuf>, of: fn(&Path) -> u64| {
            paths.iter().map(|path| (path.clone(), of(path))).collect()
        };
        Stamps { entries: stamp(&self.entries, entry), listings: stamp(&self.listings, listing) }
    }
}

impl Stamps {
    /// Whether everything is as it was.
    pub(crate) fn hold(&self) -> bool {
        self.entries.iter().all(|(path, stamp)| entry(path) == *stamp)
            && self.listings.iter().all(|(path, stamp)| listing(path) == *stamp)
    }
}

/// A name: a folder by its identity, anything else by its content's times as well.
fn entry(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else { return 0 };
    let mut fields = vec![meta.dev(), meta.ino(), u64::from(meta.mode()), u64::from(meta.uid())];
    if !meta.is_dir() {
        fields.extend(times(&meta));
    }
    hash(&fields)
}

/// A folder with the names in it.
fn listing(path: &Path) -> u64 {
    let Ok(meta) = fs::metadata(path) else { return 0 };
    let mut fields = vec![meta.dev(), meta.ino()];
    fields.extend(times(&meta));
    hash(&fields)
}

fn times(meta: &fs::Metadata) -> [u64; 5] {
    let unsigned = i64::cast_unsigned;
    [
        meta.size(),
        unsigned(meta.mtime()),
        unsigned(meta.mtime_nsec()),
        unsigned(meta.ctime()),
        unsigned(meta.ctime_nsec()),
    ]
}

/// FNV-1a over the fields: to notice a change, not to withstand whoever could make one.
fn hash(fields: &[u64]) -> u64 {
    let bytes = fields.iter().flat_map(|field| field.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The stamp of the file a name leads to.
pub(crate) fn stamp_of(path: &Path) -> u64 {
    fs::canonicalize(path).map_or(0, |path| entry(&path))
}

/// Bytes that stand for a path in a key.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_change_that_was_looked_at_is_noticed_and_no_other() {
        type Change = fn(&Path);
        let changes: &[(&str, bool, Change)] = &[
            ("nothing", true, |_| {}),
            ("a file beside", true, |dir| fs::write(dir.join("beside"), "").unwrap()),
            ("a file in a folder that was only passed", true, |dir| {
                fs::write(dir.join("passed/new"), "").unwrap();
            }),
            ("a file in a folder that was listed", false, |dir| {
                fs::write(dir.join("listed/new"), "").unwrap();
            }),
            ("the file's content", false, |dir| fs::write(dir.join("file"), "longer").unwrap()),
            ("the link's target", false, |dir| {
                fs::remove_file(dir.join("link")).unwrap();
                symlink("passed", dir.join("link")).unwrap();
            }),
            ("what was not there", false, |dir| fs::write(dir.join("absent"), "").unwrap()),
            ("a folder that was passed, replaced", false, |dir| {
                fs::rename(dir.join("passed"), dir.join("was")).unwrap();
                fs::create_dir(dir.join("passed")).unwrap();
            }),
        ];
        for (name, holds, change) in changes {
            let dir = tempfile::tempdir().unwrap();
            let path = |name: &str| dir.path().join(name);
            fs::create_dir(path("listed")).unwrap();
            fs::create_dir(path("passed")).unwrap();
            fs::write(path("file"), "x").unwrap();
            symlink("file", path("link")).unwrap();
            let mut evidence = Evidence::default();
            for entry in ["file", "link", "absent", "passed"] {
                evidence.entry(&path(entry));
            }
            evidence.listing(&path("listed"));
            let stamps = evidence.stamps();
            change(dir.path());
            assert_eq!(stamps.hold(), *holds, "{name}");
        }
    }
}
