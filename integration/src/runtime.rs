//! Which runtime is tested, and how it is started.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::cgroup;

/// Whose runtime it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ours.
    Mur,
    /// containers/crun.
    Crun,
    /// opencontainers/runc.
    Runc,
}

/// A runtime's program.
#[derive(Debug)]
pub struct Runtime {
    kind: Kind,
    program: PathBuf,
}

impl Runtime {
    /// The one that `MUR_RUNTIME` names (`mur`, `crun` or `runc`; default `mur`).
    pub fn under_test() -> &'static Self {
        static UNDER_TEST: OnceLock<Runtime> = OnceLock::new();
        UNDER_TEST.get_or_init(|| {
            let name = env::var("MUR_RUNTIME").unwrap_or_else(|_| "mur".to_owned());
            let kind = match name.as_str() {
                "mur" => Kind::Mur,
                "crun" => Kind::Crun,
                "runc" => Kind::Runc,
                other => panic!("MUR_RUNTIME is `{other}`, and may be `mur`, `crun` or `runc`"),
            };
            Self::of(kind).unwrap_or_else(|| panic!("no `{name}` on this machine"))
        })
    }

    /// A runtime of this kind, where the machine has one.
    pub fn of(kind: Kind) -> Option<Self> {
        let program = match kind {
            Kind::Mur => mur_program(),
            Kind::Runc => on_path("runc")?,
            Kind::Crun if needs_help() => helped_crun(&on_path("crun")?),
            Kind::Crun => on_path("crun")?,
        };
        Some(Self { kind, program })
    }

    /// Whose it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it is ours, so that what only ours promises can be asked of it.
    pub fn is_ours(&self) -> bool {
        self.kind == Kind::Mur
    }

    /// Its program, absolute: what an engine is configured with.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The same runtime from a copy of its program below `folder`, and that copy: for tests that a broken
    /// runtime would let destroy it.
    pub fn copied(&self, folder: &Path) -> (Self, PathBuf) {
        let (program, before) = self.plain();
        let copy = folder.join("copied-runtime");
        fs::copy(program, &copy).unwrap();
        let called = match before {
            Some(before) => {
                let script = folder.join("helped-runtime");
                write_script(
                    &script,
                    &format!("exec {} {} \"$@\"", before.display(), copy.display()),
                );
                script
            }
            None => copy.clone(),
        };
        (Self { kind: self.kind, program: called }, copy)
    }

    /// Its program without the help of [`Runtime::program`], for a caller that made the host plain itself.
    pub fn plain_program(&self) -> PathBuf {
        self.plain().0
    }

    /// Its program without help, and what root must put before a command of an ordinary user who calls it.
    pub(crate) fn plain(&self) -> (PathBuf, Option<PathBuf>) {
        match self.kind {
            Kind::Crun if needs_help() => {
                (on_path("crun").unwrap(), Some(self.program.with_file_name("plain")))
            }
            Kind::Crun | Kind::Mur | Kind::Runc => (self.program.clone(), None),
        }
    }

    /// A command of it.
    pub fn command<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args);
        command
    }
}

/// A program of the machine, where root looks for it.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|found| found.is_file())
}

/// `MUR_BIN`, else the binary that lies beside the test's own.
fn mur_program() -> PathBuf {
    let program = env::var_os("MUR_BIN").map_or_else(|| beside_the_test("mur"), PathBuf::from);
    assert!(program.is_file(), "no `{}`: run `cargo build -p mur` first", program.display());
    program.canonicalize().unwrap()
}

/// A program that cargo built with the test: `target/…/deps/<test>` and `target/…/<name>`.
pub(crate) fn beside_the_test(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let profile = if folder.ends_with("deps") { folder.parent().unwrap() } else { folder };
    profile.join(name)
}

/// Whether crun cannot run here as it is: it refuses a host whose v2 hierarchy has controllers beside v1 ones.
fn needs_help() -> bool {
    cgroup::is_hybrid() && nix::unistd::geteuid().is_root()
}

/// Two scripts beside the tests: `plain`, which gives a command a mount namespace where hugetlb, the controller
/// that is left over on a hybrid host, is a v1 hierarchy; and `crun`, which runs crun so. Engines know a
/// runtime by its name.
fn helped_crun(crun: &Path) -> PathBuf {
    let folder = beside_the_test("helped");
    let (plain, program, mount) = (folder.join("plain"), folder.join("crun"), folder.join("v1"));
    fs::create_dir_all(&mount).unwrap();
    write_script(
        &plain,
        &format!(
            "exec unshare --mount --propagation private -- sh -c '\
             mount -t tmpfs none {0} && mkdir {0}/hugetlb\n\
             mount -t cgroup -o hugetlb none {0}/hugetlb 2>/dev/null\n\
             exec \"$@\"' sh \"$@\"",
            mount.display(),
        ),
    );
    write_script(&program, &format!("exec {} {} \"$@\"", plain.display(), crun.display()));
    program
}

/// Written beside and moved, since other tests may be running the script.
fn write_script(path: &Path, body: &str) {
    let fresh = path.with_extension(std::process::id().to_string());
    fs::write(&fresh, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&fresh, Permissions::from_mode(0o755)).unwrap();
    fs::rename(&fresh, path).unwrap();
}
