//! Reads what programs need in a root file system that is somebody else's: no link of it leads out.
//!
//! The reading is done by a child that has made the image its root directory, so that every path is one inside, as
//! the container will see it. Nothing of the image is run; what it holds is a stranger's, so the child has a time
//! limit and no privilege that it needs for reading.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mur_bundle::{ImageLayout, Program};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{chdir, chroot};

use crate::layout::program::Reader;
use crate::probe::hear_child;

/// Libraries that the C library opens by itself, without naming them in its own needs.
const OPENED_BY_LIBC: [&str; 4] =
    ["libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

/// An image could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Its root is not there.
    #[error("cannot open the root file system `{}`", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The reading did not come to an end.
    #[error("cannot read the programs of the image `{}`: {reason}", path.display())]
    Unread {
        /// The folder.
        path: PathBuf,
        /// One clause.
        reason: String,
    },
}

/// Reads the programs of an image by name, with this search path. One that is not there has no `path`.
///
/// The process must have one thread.
///
/// # Errors
/// The root cannot be opened or entered, or a file in it kept the reader waiting.
pub fn read_image(
    root: &Path,
    names: &[String],
    search_path: &OsStr,
) -> Result<ImageLayout, ImageError> {
    let root =
        root.canonicalize().map_err(|source| ImageError::Root { path: root.into(), source })?;
    let unread = |reason: String| ImageError::Unread { path: root.clone(), reason };
    let text = hear_child(|mut pipe| {
        let answer = enter(&root).map(|()| read_programs(names, search_path));
        if let Ok(text) = serde_json::to_vec(&answer.map_err(|errno| errno as i32)) {
            // A parent that no longer reads has given up; there is nobody else to tell.
            let _ = pipe.write_all(&text);
        }
    })
    .map_err(|silence| unread(silence.to_owned()))?;
    let answer: Result<Vec<Program>, i32> =
        serde_json::from_str(&text).map_err(|error| unread(error.to_string()))?;
    let programs = answer.map_err(|errno| {
        unread(format!("it cannot be entered: {}", std::io::Error::from_raw_os_error(errno)))
    })?;
    Ok(ImageLayout { root, programs })
}

/// Makes the image the root directory; an ordinary user may do that in a user namespace of its own.
fn enter(root: &Path) -> nix::Result<()> {
    if chroot(root).is_err() {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        chroot(root)?;
    }
    chdir("/")
}

fn read_programs(names: &[String], search_path: &OsStr) -> Vec<Program> {
    let mut reader = Reader::new(search_path, Path::new("/"));
    names
        .iter()
        .map(|name| {
            let mut program = reader.program(name);
            let dynamic = !program.libraries.is_empty();
            for library in OPENED_BY_LIBC.iter().filter(|_| dynamic) {
                let found = reader.loader.by_name(library, &mut reader.walker);
                program.libraries.extend(found);
            }
            program.libraries.sort();
            program.libraries.dedup();
            program
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_of_an_image_leads_to_the_images_own_files() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        for folder in ["usr/bin", "opt"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let program = root.join("opt/real");
        std::fs::write(&program, "#!/usr/bin/inner\n").unwrap();
        std::fs::write(root.join("usr/bin/inner"), "not ELF").unwrap();
        for path in [&program, &root.join("usr/bin/inner")] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink("/../../../opt/real", root.join("usr/bin/tool")).unwrap();
        let names = ["tool".to_owned(), "absent".to_owned()];
        let image = read_image(root, &names, OsStr::new("/bin")).unwrap();
        let tool = &image.programs[0];
        assert_eq!(tool.path.as_deref(), Some(Path::new("/bin/tool")));
        assert_eq!(tool.executables, [Path::new("/opt/real"), Path::new("/usr/bin/inner")]);
        assert_eq!(image.programs[1].path, None);
    }
}
