//! Which runtime is tested, and how it is started.

use std::env;
use std::ffi::OsStr;
use std::fs;
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
    _wrapper: Option<tempfile::TempDir>,
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
        let (program, wrapper) = match kind {
            Kind::Mur => (mur_program(), None),
            Kind::Runc => (on_path("runc")?, None),
            Kind::Crun if cgroup::hybrid_with_controllers() && nix::unistd::geteuid().is_root() => {
                let (program, folder) = crun_without_hybrid(&on_path("crun")?);
                (program, Some(folder))
            }
            Kind::Crun => (on_path("crun")?, None),
        };
        Some(Self { kind, program, _wrapper: wrapper })
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

/// crun refuses a host whose v2 hierarchy has controllers beside v1 ones. In a mount namespace of its own
/// it gets hugetlb, the one left over, as a v1 hierarchy.
fn crun_without_hybrid(crun: &Path) -> (PathBuf, tempfile::TempDir) {
    let folder = tempfile::Builder::new().prefix("mur-crun-").tempdir_in("/tmp").unwrap();
    let program = folder.path().join("crun");
    let mount = folder.path().join("v1");
    fs::create_dir(&mount).unwrap();
    fs::write(
        &program,
        format!(
            "#!/bin/sh\nexec unshare --mount --propagation private -- sh -c '\
             mount -t tmpfs none {0} && mkdir {0}/hugetlb && mount -t cgroup -o hugetlb none {0}/hugetlb\n\
             exec {1} \"$@\"' crun \"$@\"\n",
            mount.display(),
            crun.display()
        ),
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), mode).unwrap();
    (program, folder)
}
