//! What is compared: each runtime that this machine has.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use mur_integration::{Bundle, Kind, Runtime, Scratch, hierarchies};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// A runtime and where it keeps its state.
#[derive(Debug)]
pub(crate) struct Subject {
    /// `mur`, `crun 1.8.1` and so on: who claims to be faster names the version.
    pub(crate) name: String,
    /// Whether ratios are to this one.
    pub(crate) is_yardstick: bool,
    program: PathBuf,
    root: PathBuf,
}

impl Subject {
    /// `mur`, crun and runc, those that are there.
    pub(crate) fn all(scratch: &Scratch) -> Vec<Self> {
        [Kind::Mur, Kind::Crun, Kind::Runc]
            .into_iter()
            .filter_map(|kind| {
                let program = Runtime::of(kind)?.plain_program();
                let label = format!("{kind:?}").to_lowercase();
                Some(Self {
                    name: versioned(&label, &program),
                    is_yardstick: kind == Kind::Crun,
                    root: scratch.folder(&format!("state-{label}")),
                    program,
                })
            })
            .collect()
    }

    /// `RUNTIME --root R VERB FLAG…`
    pub(crate) fn command<I: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--root").arg(&self.root).args(words);
        command
    }

    /// `create` or `run` of a bundle.
    pub(crate) fn begin(&self, verb: &str, bundle: &Bundle, id: &str) -> Command {
        let mut command = self.command([verb, "--bundle"]);
        command.arg(bundle.folder()).arg(id);
        command
    }
}

fn versioned(name: &str, program: &Path) -> String {
    let said = Command::new(program)
        .arg("--version")
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let number =
        said.split_whitespace().find(|word| word.starts_with(|found: char| found.is_ascii_digit()));
    number.map_or_else(|| name.to_owned(), |number| format!("{name} {number}"))
}

/// crun refuses a host whose v2 hierarchy has controllers beside v1 ones: in a mount namespace of our own hugetlb,
/// the one left over, becomes a v1 hierarchy. So no helper stands between us and what is measured.
pub(crate) fn make_the_host_plain() {
    let all = hierarchies();
    if all.iter().all(|one| one.is_v2) || all.iter().all(|one| !one.is_v2) {
        return;
    }
    let none = None::<&str>;
    unshare(CloneFlags::CLONE_NEWNS).unwrap();
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).unwrap();
    mount(Some("none"), "/mnt", Some("tmpfs"), MsFlags::empty(), none).unwrap();
    std::fs::create_dir("/mnt/hugetlb").unwrap();
    let _ = mount(Some("none"), "/mnt/hugetlb", Some("cgroup"), MsFlags::empty(), Some("hugetlb"));
}
