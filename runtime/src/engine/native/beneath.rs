//! Every path of an image, resolved beneath its root: `..` and absolute links stop there.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat, mkdirat};

/// The root of a container's file system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beneath<'a>(pub BorrowedFd<'a>);

/// What to make when a path is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Folder,
    File,
}

/// Links in a path beyond which the kernel gives up as well.
const MOST_LINKS: usize = 40;

impl Beneath<'_> {
    /// Opens `path`; links are followed inside the root, magic links of procfs never.
    pub(super) fn open(self, path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
        self.resolve(path, flags, ResolveFlag::RESOLVE_IN_ROOT)
    }

    /// Opens `path` as a handle to mount on, or to look at.
    pub(super) fn open_path(self, path: &Path) -> nix::Result<OwnedFd> {
        self.open(path, OFlag::O_PATH)
    }

    /// Opens `path`, in which no part may be a link.
    pub(super) fn open_plain(self, path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
        let resolve = ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_SYMLINKS;
        self.resolve(path, flags, resolve)
    }

    fn resolve(self, path: &Path, flags: OFlag, resolve: ResolveFlag) -> nix::Result<OwnedFd> {
        let how = OpenHow::new()
            .flags(flags | OFlag::O_CLOEXEC)
            .resolve(resolve | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        let mut tries = 0;
        loop {
            match openat2(self.0, path, how) {
                // A rename elsewhere crossed the walk (openat2(2)).
                Err(Errno::EAGAIN) if tries < 64 => tries += 1,
                other => return other,
            }
        }
    }

    /// Opens `path` as a handle and makes what is missing of it: folders 0755, a last file 0644.
    pub(super) fn open_or_make(self, path: &Path, missing: Missing) -> nix::Result<OwnedFd> {
        match self.open_path(path) {
            Err(Errno::ENOENT) => self.make(path, missing),
            other => other,
        }
    }

    /// Opens the folder that holds `path`, made where it is missing, and the last part of `path`.
    pub(super) fn parent(self, path: &Path) -> nix::Result<(OwnedFd, &OsStr)> {
        let name = path.file_name().ok_or(Errno::EINVAL)?;
        let parent = path.parent().unwrap_or(Path::new("/"));
        Ok((self.open_or_make(parent, Missing::Folder)?, name))
    }

    /// Walks part by part, each opened without following, so that a link whose target is missing
    /// makes that target inside the root.
    fn make(self, path: &Path, missing: Missing) -> nix::Result<OwnedFd> {
        let mut ahead: VecDeque<OsString> = parts(path);
        let mut folders = vec![self.open_path(Path::new("/"))?];
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            if name == ".." {
                if folders.len() > 1 {
                    folders.pop();
                }
                continue;
            }
            let here = folders.last().ok_or(Errno::EINVAL)?.as_fd();
            let kind = if ahead.is_empty() { missing } else { Missing::Folder };
            let opened = open_or_make_one(here, &name, kind)?;
            if !is_link(opened.as_fd())? {
                folders.push(opened);
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::ELOOP);
            }
            let target = readlinkat(&opened, "")?;
            if Path::new(&target).is_absolute() {
                folders.truncate(1);
            }
            for part in parts(Path::new(&target)).into_iter().rev() {
                ahead.push_front(part);
            }
        }
        folders.pop().ok_or(Errno::EINVAL)
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

fn open_or_make_one(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    missing: Missing,
) -> nix::Result<OwnedFd> {
    let look = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(folder, name, look, Mode::empty()) {
        Err(Errno::ENOENT) => {}
        other => return other,
    }
    match missing {
        Missing::Folder => match mkdirat(folder, name, Mode::from_bits_truncate(0o755)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(errno),
        },
        Missing::File => {
            let make = OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_WRONLY;
            drop(openat(folder, name, make, Mode::from_bits_truncate(0o644))?);
        }
    }
    openat(folder, name, look, Mode::empty())
}

fn is_link(opened: BorrowedFd<'_>) -> nix::Result<bool> {
    kind_of(opened).map(|kind| kind == SFlag::S_IFLNK)
}

/// The file type behind a descriptor.
pub(super) fn kind_of(opened: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(opened)?.st_mode) & SFlag::S_IFMT)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_missing_is_made_inside_the_root_whatever_links_say() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("root");
        fs::create_dir_all(root.join("real/conf")).unwrap();
        symlink("/outside-of-everything/x", root.join("absolute")).unwrap();
        symlink("../../../../escape", root.join("real/up")).unwrap();
        symlink("/real/conf", root.join("conf")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let folder = fs::File::open(&root).unwrap();
        let beneath = Beneath(folder.as_fd());

        for (path, missing, made) in [
            ("/absolute", Missing::File, "outside-of-everything/x"),
            ("/real/up/a", Missing::Folder, "escape/a"),
            ("/conf/stack", Missing::Folder, "real/conf/stack"),
            ("/a/../../b/./c", Missing::File, "b/c"),
        ] {
            let opened = beneath.open_or_make(Path::new(path), missing).unwrap();
            let kind = kind_of(opened.as_fd()).unwrap();
            assert_eq!(kind == SFlag::S_IFDIR, missing == Missing::Folder, "{path}");
            assert!(root.join(made).exists(), "{path}");
        }
        assert!(!Path::new("/outside-of-everything").exists());
        assert!(!scratch.path().join("escape").exists());
        let circle = beneath.open_or_make(Path::new("/loop/x"), Missing::File);
        assert_eq!(circle.err(), Some(Errno::ELOOP));
    }
}
