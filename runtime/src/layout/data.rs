//! Files that libraries open by themselves, so that a program which may read nothing else still works.

use std::path::{Path, PathBuf};

use mur_bundle::{ImportPath, Program};

use crate::layout::walk::Walker;

/// A library by the beginning of its file name, and what it reads. All of it is public: locales, time zones,
/// terminal descriptions, settings of a library.
const READS: [(&str, &[&str]); 5] = [
    ("libc.so.", &["/usr/lib/locale", "/usr/share/zoneinfo", "/etc/localtime"]),
    ("libtinfo.so.", TERMINALS),
    ("libncurses", TERMINALS),
    ("libcrypto.so.", OPENSSL),
    ("libmagic.so.", &["/usr/lib/file", "/usr/share/misc/magic", "/usr/share/misc/magic.mgc"]),
];

const TERMINALS: &[&str] =
    &["/etc/terminfo", "/lib/terminfo", "/usr/lib/terminfo", "/usr/share/terminfo"];

const OPENSSL: &[&str] = &["/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"];

/// Programs that hold such a library inside.
const PROGRAMS: [(&str, &[&str]); 1] = [("node", OPENSSL)];

/// What the libraries of a program read, canonical; only what is not in `known`.
pub(crate) fn reads(
    program: &Program,
    known: &[ImportPath],
    walker: &mut Walker,
) -> Vec<ImportPath> {
    let mut found: Vec<ImportPath> = Vec::new();
    for path in paths(program) {
        let Ok(path) = walker.resolve(Path::new(path)) else { continue };
        if known.iter().chain(&found).any(|import| path.starts_with(&import.path)) {
            continue;
        }
        let folder = path.is_dir();
        found.push(ImportPath { binary: program.name.clone(), path, folder });
    }
    found
}

fn paths(program: &Program) -> impl Iterator<Item = &'static str> {
    let own = |path: &PathBuf, start: &str| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(start))
    };
    let libraries = READS
        .iter()
        .filter(move |(start, _)| program.libraries.iter().any(|path| own(path, start)));
    let programs = PROGRAMS.iter().filter(|(name, _)| program.name == *name);
    libraries.chain(programs).flat_map(|(_, paths)| paths.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, libraries: &[&str]) -> Program {
        Program {
            name: name.into(),
            path: None,
            executables: Vec::new(),
            helpers: Vec::new(),
            libraries: libraries.iter().map(|name| Path::new("/lib").join(name)).collect(),
        }
    }

    #[test]
    fn what_is_read_follows_from_the_libraries() {
        for (name, libraries, read, unread) in [
            ("ls", &["libc.so.6"][..], "/usr/share/zoneinfo", "/etc/ssl/openssl.cnf"),
            ("less", &["libtinfo.so.6.4"], "/etc/terminfo", "/usr/lib/locale"),
            ("curl", &["libcrypto.so.3"], "/etc/ssl/openssl.cnf", "/usr/lib/file"),
            ("node", &[], "/etc/ssl/openssl.cnf", "/usr/lib/locale"),
        ] {
            let paths: Vec<_> = paths(&program(name, libraries)).collect();
            assert!(paths.contains(&read), "{name}: {paths:?}");
            assert!(!paths.contains(&unread), "{name}: {paths:?}");
        }
        assert_eq!(paths(&program("busybox", &[])).count(), 0);
    }

    #[test]
    fn what_is_known_is_not_named_again() {
        let all = ImportPath { binary: "sh".into(), path: "/".into(), folder: true };
        let program = program("ls", &["libc.so.6"]);
        assert_eq!(reads(&program, &[all], &mut Walker::default()), []);
    }
}
