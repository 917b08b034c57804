//! Folders made and removed by descriptor: no link is followed at any level.

use std::ffi::{CString, OsStr};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstat, mkdirat};
use nix::unistd::{Gid, Uid, UnlinkatFlags, unlinkat};

/// Why a folder of ours could not be made, opened or removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} `{}`", path.display())]
pub struct DirError {
    /// `create`, `open`, `remove`.
    pub operation: &'static str,
    /// The folder at fault.
    pub path: PathBuf,
    /// What the kernel said.
    #[source]
    pub source: Errno,
}

/// A folder that is held open, and where it was opened.
#[derive(Debug)]
pub struct HeldDir {
    fd: OwnedFd,
    path: PathBuf,
}

const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

impl HeldDir {
    /// Opens an existing folder; the links above it are the caller's own and are followed.
    pub fn open(path: &Path) -> Result<Self, DirError> {
        let fd = open(path, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(|source| DirError { operation: "open", path: path.into(), source })?;
        Ok(Self { fd, path: path.into() })
    }

    /// A second handle to the same folder.
    pub fn reopen(&self) -> Result<Self, DirError> {
        let fd = nix::unistd::dup(&self.fd).map_err(|source| DirError {
            operation: "open",
            path: self.path.clone(),
            source,
        })?;
        Ok(Self { fd, path: self.path.clone() })
    }

    /// Opens `name` in here, made `0700` first when it is missing. A link there is refused.
    pub fn open_or_create(&self, name: &OsStr) -> Result<Self, DirError> {
        let path = self.path.join(name);
        match mkdirat(&self.fd, name, Mode::S_IRWXU) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(source) => return Err(DirError { operation: "create", path, source }),
        }
        self.open_below(name)
    }

    /// Makes `name` in here, `0700`; one that is there already is refused.
    pub fn create(&self, name: &OsStr) -> Result<Self, DirError> {
        let path = self.path.join(name);
        mkdirat(&self.fd, name, Mode::S_IRWXU).map_err(|source| DirError {
            operation: "create",
            path,
            source,
        })?;
        self.open_below(name)
    }

    /// Opens `name` in here without following a link.
    pub fn open_below(&self, name: &OsStr) -> Result<Self, DirError> {
        let path = self.path.join(name);
        let fd = openat(&self.fd, name, FOLDER, Mode::empty()).map_err(|source| DirError {
            operation: "open",
            path: path.clone(),
            source,
        })?;
        Ok(Self { fd, path })
    }

    /// Walks down `relative`, each level made `0700` where it is missing and then named in `made`.
    pub fn descend(self, relative: &Path, made: &mut Vec<PathBuf>) -> Result<Self, DirError> {
        let mut here = self;
        for component in relative.components() {
            let Component::Normal(name) = component else { continue };
            here = match here.open_below(name) {
                Err(DirError { source: Errno::ENOENT, .. }) => {
                    let below = here.open_or_create(name)?;
                    made.push(below.path.clone());
                    below
                }
                other => other?,
            };
        }
        Ok(here)
    }

    /// Strips what group and others may do with the folder; missing owner bits are kept.
    pub fn close_to_others(&self) -> Result<(), DirError> {
        let error = |source| DirError { operation: "restrict", path: self.path.clone(), source };
        let mode = Mode::from_bits_truncate(fstat(&self.fd).map_err(error)?.st_mode);
        let closed = mode & Mode::S_IRWXU;
        if mode & (Mode::S_IRWXG | Mode::S_IRWXO) == Mode::empty() {
            return Ok(());
        }
        fchmodat(&self.fd, Path::new("."), closed, FchmodatFlags::FollowSymlink).map_err(error)
    }

    /// Gives the folder itself to a user, where one is named, and a group.
    pub fn give(&self, uid: Option<u32>, gid: u32) -> Result<(), DirError> {
        nix::unistd::fchown(&self.fd, uid.map(Uid::from_raw), Some(Gid::from_raw(gid)))
            .map_err(|source| DirError { operation: "give", path: self.path.clone(), source })
    }

    /// Lets the group list it and everybody pass through, as the runtime must to mount what lies below.
    pub fn open_to_group(&self) -> Result<(), DirError> {
        nix::sys::stat::fchmod(&self.fd, Mode::from_bits_truncate(0o751))
            .map_err(|source| DirError { operation: "open up", path: self.path.clone(), source })
    }

    /// Makes a file in here with this text, readable as the folder is.
    pub fn write_file(&self, name: &str, text: &[u8], gid: u32) -> Result<(), DirError> {
        let error = |source| DirError { operation: "write", path: self.path.join(name), source };
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = openat(&self.fd, name, flags, Mode::from_bits_truncate(0o640)).map_err(error)?;
        nix::unistd::fchown(&fd, None, Some(Gid::from_raw(gid))).map_err(error)?;
        std::fs::File::from(fd)
            .write_all(text)
            .map_err(|failed| error(failed.raw_os_error().map_or(Errno::EIO, Errno::from_raw)))
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes `name` and all beneath it. What is gone already is no error.
    pub fn remove_tree(&self, name: &OsStr) -> Result<(), DirError> {
        remove_below(self.fd.as_fd(), name).map_err(|source| DirError {
            operation: "remove",
            path: self.path.join(name),
            source,
        })
    }
}

impl AsFd for HeldDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn remove_below(parent: BorrowedFd<'_>, name: &OsStr) -> nix::Result<()> {
    match unlinkat(parent, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => return Ok(()),
        Err(Errno::EISDIR | Errno::EPERM) => {}
        Err(errno) => return Err(errno),
    }
    let folder = match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::ENOENT) => return Ok(()),
        // A folder the capsule closed to us: we own it, so we may open it again.
        Err(Errno::EACCES) => {
            fchmodat(parent, Path::new(name), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
            openat(parent, name, FOLDER, Mode::empty())?
        }
        other => other?,
    };
    for entry in entries(&folder)? {
        remove_below(folder.as_fd(), OsStr::from_bytes(entry.as_bytes()))?;
    }
    match unlinkat(parent, name, UnlinkatFlags::RemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// The names in a folder, without `.` and `..`.
pub(crate) fn entries(folder: &OwnedFd) -> nix::Result<Vec<CString>> {
    let mut dir = nix::dir::Dir::openat(folder, ".", FOLDER, Mode::empty())?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        let name = entry?.file_name().to_owned();
        if name.as_bytes() != b"." && name.as_bytes() != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Bytes of all entries beneath the folders, each non-folder by its own size, links not followed.
/// What cannot be read is skipped: the sum may be too small, but is always an answer.
pub fn measure(folders: &[&HeldDir]) -> u64 {
    folders.iter().map(|folder| measure_below(folder.as_fd())).sum()
}

fn measure_below(folder: BorrowedFd<'_>) -> u64 {
    let Ok(fd) = openat(folder, ".", FOLDER, Mode::empty()) else { return 0 };
    let Ok(names) = entries(&fd) else { return 0 };
    let mut sum = 0_u64;
    for name in names {
        let flags = nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW;
        let Ok(stat) = nix::sys::stat::fstatat(&fd, name.as_c_str(), flags) else { continue };
        if SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFDIR {
            if let Ok(below) = openat(&fd, name.as_c_str(), FOLDER, Mode::empty()) {
                sum = sum.saturating_add(measure_below(below.as_fd()));
            }
        } else {
            sum = sum.saturating_add(u64::try_from(stat.st_size).unwrap_or(0));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_planted_link_on_the_way_down_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("elsewhere")).unwrap();
        symlink(scratch.path().join("elsewhere"), scratch.path().join("a")).unwrap();
        let top = HeldDir::open(scratch.path()).unwrap();
        let refused = top.descend(Path::new("a/b"), &mut Vec::new()).unwrap_err();
        assert!(matches!(refused.source, Errno::ENOTDIR | Errno::ELOOP), "{refused:?}");
        assert!(!scratch.path().join("elsewhere/b").exists());
    }

    #[test]
    fn each_level_is_made_closed_to_others() {
        let scratch = tempfile::tempdir().unwrap();
        let top = HeldDir::open(scratch.path()).unwrap();
        let mut made = Vec::new();
        let deep = top.descend(Path::new("a/b/c"), &mut made).unwrap();
        assert_eq!(made.len(), 3);
        for level in ["a", "a/b", "a/b/c"] {
            let bits = std::fs::metadata(scratch.path().join(level)).unwrap().permissions().mode();
            assert_eq!(bits & 0o777, 0o700, "{level}");
        }
        assert_eq!(deep.path(), scratch.path().join("a/b/c"));
    }

    #[test]
    fn a_tree_is_removed_and_what_its_links_name_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("file"), "x").unwrap();
        let tree = scratch.path().join("tree");
        std::fs::create_dir_all(tree.join("deep/er")).unwrap();
        symlink(&kept, tree.join("deep/link")).unwrap();
        let top = HeldDir::open(scratch.path()).unwrap();
        top.remove_tree(OsStr::new("tree")).unwrap();
        top.remove_tree(OsStr::new("tree")).unwrap();
        assert!(!tree.exists());
        assert!(kept.join("file").exists());
    }

    #[test]
    fn the_sum_counts_files_by_length_and_follows_no_link() {
        let scratch = tempfile::tempdir().unwrap();
        let inside = scratch.path().join("in");
        std::fs::create_dir_all(inside.join("deep")).unwrap();
        std::fs::write(inside.join("a"), vec![0; 100]).unwrap();
        std::fs::write(inside.join("deep/b"), vec![0; 50]).unwrap();
        std::fs::write(scratch.path().join("outside"), vec![0; 1000]).unwrap();
        symlink("../outside", inside.join("l")).unwrap();
        let held = HeldDir::open(&inside).unwrap();
        assert_eq!(measure(&[&held]), 150 + "../outside".len() as u64);
    }
}
