//! Follows a name to its file, one component at a time, and remembers every link on the way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use mur_bundle::PathLink;

use crate::layout::evidence::Evidence;

/// As many links as the kernel follows in one name (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Resolves names; what was walked once is not walked again.
#[derive(Debug, Default)]
pub(crate) struct Walker {
    links: BTreeMap<PathBuf, PathBuf>,
    plain: BTreeMap<PathBuf, Plain>,
    absent: BTreeSet<PathBuf>,
}

/// A name that is no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plain {
    Folder,
    Other,
}

impl Walker {
    /// The canonical path of `path`, which must be absolute and exist.
    ///
    /// # Errors
    /// A component is not there, is no folder, or leads in a circle.
    pub(crate) fn resolve(&mut self, path: &Path) -> io::Result<PathBuf> {
        let mut rest: VecDeque<OsString> = parts(path);
        let mut resolved = PathBuf::from("/");
        let mut followed = 0;
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                resolved.pop();
                continue;
            }
            let next = resolved.join(&part);
            match self.look(&next)? {
                Some(target) => {
                    followed += 1;
                    if followed > MOST_LINKS {
                        return Err(io::Error::from(io::ErrorKind::TooManyLinks));
                    }
                    if target.is_absolute() {
                        resolved = PathBuf::from("/");
                    }
                    for part in parts(&target).into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                None if !rest.is_empty() && self.plain.get(&next) != Some(&Plain::Folder) => {
                    return Err(io::Error::from(io::ErrorKind::NotADirectory));
                }
                None => resolved = next,
            }
        }
        Ok(resolved)
    }

    /// Every name that was looked at, found or not.
    pub(crate) fn note(&self, evidence: &mut Evidence) {
        let names = self.links.keys().chain(self.plain.keys()).chain(&self.absent);
        names.for_each(|path| evidence.entry(path));
    }

    /// Every link that was followed, sorted by where it is.
    pub(crate) fn into_links(self) -> Vec<PathLink> {
        self.links.into_iter().map(|(path, target)| PathLink { path, target }).collect()
    }

    /// The target of a link; `None` for anything else that is there.
    fn look(&mut self, path: &Path) -> io::Result<Option<PathBuf>> {
        if let Some(target) = self.links.get(path) {
            return Ok(Some(target.clone()));
        }
        if self.plain.contains_key(path) {
            return Ok(None);
        }
        let kind = match fs::symlink_metadata(path) {
            Ok(meta) => meta.file_type(),
            Err(error) => {
                self.absent.insert(path.into());
                return Err(error);
            }
        };
        if kind.is_symlink() {
            let target = fs::read_link(path)?;
            self.links.insert(path.into(), target.clone());
            return Ok(Some(target));
        }
        let plain = if kind.is_dir() { Plain::Folder } else { Plain::Other };
        if kind.is_dir() || kind.is_file() || kind.is_char_device() {
            self.plain.insert(path.into(), plain);
        }
        Ok(None)
    }
}

/// The names of a path; `.` and `/` say nothing, `..` does.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_chain_of_links_is_followed_and_each_link_is_named_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("v1/bin")).unwrap();
        fs::write(root.join("v1/bin/node"), "").unwrap();
        symlink("v1", root.join("current")).unwrap();
        symlink("../current/bin", root.join("v1/again")).unwrap();
        symlink(root.join("v1/again/node"), root.join("node")).unwrap();

        let mut walker = Walker::default();
        let found = walker.resolve(&root.join("node")).unwrap();
        assert_eq!(found, root.join("v1/bin/node"));
        assert_eq!(walker.resolve(&root.join("node")).unwrap(), found);
        let links: Vec<_> = walker
            .into_links()
            .into_iter()
            .filter(|link| link.path.starts_with(&root))
            .map(|link| (link.path.strip_prefix(&root).unwrap().to_owned(), link.target))
            .collect();
        assert_eq!(
            links,
            [
                ("current".into(), "v1".into()),
                ("node".into(), root.join("v1/again/node")),
                ("v1/again".into(), "../current/bin".into()),
            ]
        );
    }

    #[test]
    fn a_circle_a_gap_and_a_file_on_the_way_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        for (name, kind) in [
            ("a", io::ErrorKind::TooManyLinks),
            ("gone", io::ErrorKind::NotFound),
            ("file/x", io::ErrorKind::NotADirectory),
        ] {
            let error = Walker::default().resolve(&root.join(name)).unwrap_err();
            assert_eq!(error.kind(), kind, "{name}");
        }
    }
}
