//! Where the operator's folders are (`spec/trace.md` §1): found and judged here, nothing is made.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use mur_manifest::{Code, Coded};
use mur_policy::Placement;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

/// `HOME` cannot hold `~/.murmur`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// Not set, or empty.
    #[error("`HOME` is not set, so there is no place for `~/.murmur`")]
    Unset,
    /// Not absolute.
    #[error("`HOME` is `{}`, which is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// It, or `~/.murmur`, is missing, no folder, or closed to the caller.
    #[error("`{}` cannot hold the folders of a session", path.display())]
    Unusable {
        /// The folder at fault.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: Errno,
    },
}

impl Coded for HomeError {
    fn code(&self) -> Code {
        Code::EIo004
    }
}

/// `~/.murmur`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    user: PathBuf,
}

impl Home {
    /// Judges the value of `HOME`; the only reads are two permission checks.
    pub fn locate(value: Option<&OsStr>) -> Result<Self, HomeError> {
        let user = match value {
            Some(text) if !text.is_empty() => PathBuf::from(text),
            _ => return Err(HomeError::Unset),
        };
        if !user.is_absolute() {
            return Err(HomeError::Relative(user));
        }
        let home = Self { user };
        let root = home.root();
        match usable(&root) {
            Ok(()) => Ok(home),
            Err(Errno::ENOENT) => match usable(&home.user) {
                Ok(()) => Ok(home),
                Err(source) => Err(HomeError::Unusable { path: home.user, source }),
            },
            Err(source) => Err(HomeError::Unusable { path: root, source }),
        }
    }

    /// The value of `HOME`.
    pub fn user(&self) -> &Path {
        &self.user
    }

    /// `~/.murmur`.
    pub fn root(&self) -> PathBuf {
        self.user.join(".murmur")
    }

    /// `~/.murmur/sessions`.
    pub fn sessions(&self) -> PathBuf {
        self.root().join("sessions")
    }

    /// The records group of a work folder root: `~/.murmur/records/<root without leading "/">`.
    pub fn records_group(&self, workdir_root: &Path) -> PathBuf {
        self.root().join("records").join(mirror(workdir_root))
    }

    /// Where the folders of session `id` are, whether they exist or not.
    pub fn session(&self, id: &str, workdir_root: &Path) -> SessionPaths {
        let records = self.records_group(workdir_root).join(id);
        SessionPaths {
            session: self.sessions().join(id),
            runtime: self.sessions().join(id).join("runtime"),
            tmp: records.join("tmp"),
            home: records.join("home"),
            records,
        }
    }

    /// The same with a placeholder for the id, as decisions and reports read it.
    pub fn placement(&self, workdir_root: &Path) -> Placement {
        Placement::of_session(
            &resolve(workdir_root),
            &resolve(&self.root()),
            &resolve(Path::new("/tmp")),
        )
    }
}

/// The paths of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    /// `~/.murmur/sessions/<id>`.
    pub session: PathBuf,
    /// `$MURMUR_RUNTIME_DIR`.
    pub runtime: PathBuf,
    /// `$MURMUR_RECORDS_DIR`.
    pub records: PathBuf,
    /// The folder behind `/tmp`.
    pub tmp: PathBuf,
    /// `$HOME` of the capsule.
    pub home: PathBuf,
}

fn usable(folder: &Path) -> Result<(), Errno> {
    let metadata = std::fs::metadata(folder)
        .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
    if !metadata.is_dir() {
        return Err(Errno::ENOTDIR);
    }
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK)
}

/// An absolute path through its longest existing prefix, canonical; the rest is appended, `.`
/// dropped and `..` popped. The same folder gives the same answer whether it exists or not.
pub fn resolve(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut prefix = absolute.as_path();
    loop {
        if let Ok(canonical) = prefix.canonicalize() {
            let rest = absolute.strip_prefix(prefix).unwrap_or_else(|_| Path::new(""));
            return apply(canonical, rest);
        }
        match prefix.parent() {
            Some(parent) => prefix = parent,
            None => return apply(PathBuf::from("/"), &absolute),
        }
    }
}

fn apply(base: PathBuf, rest: &Path) -> PathBuf {
    rest.components().fold(base, |mut path, component| {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
        path
    })
}

fn mirror(workdir_root: &Path) -> PathBuf {
    let resolved = resolve(workdir_root);
    resolved.strip_prefix("/").map(Path::to_path_buf).unwrap_or(resolved)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_home_that_cannot_hold_the_folders_is_refused_and_nothing_is_made() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, "").unwrap();
        let planted = scratch.path().join("planted");
        std::fs::create_dir(&planted).unwrap();
        std::fs::write(planted.join(".murmur"), "").unwrap();
        assert!(matches!(Home::locate(None), Err(HomeError::Unset)));
        assert!(matches!(Home::locate(Some(OsStr::new(""))), Err(HomeError::Unset)));
        assert!(matches!(Home::locate(Some(OsStr::new("a/b"))), Err(HomeError::Relative(_))));
        for bad in [file, scratch.path().join("missing"), planted] {
            let refused = Home::locate(Some(bad.as_os_str()));
            assert!(matches!(refused, Err(HomeError::Unusable { .. })), "{bad:?}");
        }
        let home = Home::locate(Some(scratch.path().as_os_str())).unwrap();
        assert!(!home.root().exists());
    }

    #[test]
    fn a_work_folder_is_mirrored_alike_before_and_after_it_exists() {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        symlink(&real, scratch.path().join("link")).unwrap();
        let home = Home::locate(Some(scratch.path().as_os_str())).unwrap();
        let through = scratch.path().join("link/./x/../proj");
        let before = home.records_group(&through);
        std::fs::create_dir(real.join("proj")).unwrap();
        std::fs::create_dir(real.join("x")).unwrap();
        assert_eq!(before, home.records_group(&through));
        let expected = real.join("proj");
        assert!(before.ends_with(expected.strip_prefix("/").unwrap()), "{before:?}");
    }
}
