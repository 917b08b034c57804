//! A capsule of a manifest, called by root or by an ordinary user, on `mur` alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Attempt, Finished, OrdinaryUser, Run, Runtime, Scratch, probe_program};

/// A class that the tests ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A composed root: what is not granted is absent.
    Sealed,
    /// The host's root: what is not granted is refused.
    Scoped,
}

impl Class {
    /// As the manifest spells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::Scoped => "scoped",
        }
    }
}

/// Who calls `mur`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Root, in a work folder that is root's.
    Root,
    /// Somebody without a privilege, in a work folder of their own.
    User,
}

/// A work folder, a manifest in it, a home of its own, and a probe program on the path.
#[derive(Debug)]
pub struct Capsule {
    user: Option<OrdinaryUser>,
    folder: PathBuf,
    work: PathBuf,
    home: PathBuf,
    bin: PathBuf,
    manifest: String,
}

impl Capsule {
    /// A capsule of `class` whose probe program may run, and nothing else.
    #[must_use]
    pub fn new(scratch: &Scratch, class: Class, caller: Caller) -> Self {
        let name = format!("{}-{caller:?}", class.word()).to_lowercase();
        let bin = scratch.folder("bin");
        if !bin.join("mur-probe").exists() {
            fs::copy(probe_program(), bin.join("mur-probe")).unwrap();
        }
        let user = (caller == Caller::User).then(|| OrdinaryUser::new(scratch));
        let folder = scratch.folder(&name);
        let work = scratch.folder(&format!("{name}/work"));
        let home = match &user {
            Some(user) => user.home().to_owned(),
            None => scratch.folder(&format!("{name}-home")),
        };
        if let Some(user) = &user {
            user.own(&folder);
            user.own(&work);
        }
        let manifest = format!(
            "name: probe\nversion: 0.1.0\nprocess:\n  args: [mur-probe, ids]\ncapabilities:\n  containment: {}\n  shell:\n    allow: [mur-probe]\n",
            class.word()
        );
        let capsule = Self { user, folder, work, home, bin, manifest };
        capsule.write();
        capsule
    }

    /// The same with these lines at the end of the manifest.
    #[must_use]
    pub fn with(mut self, lines: &str) -> Self {
        self.manifest.push_str(lines);
        self.write();
        self
    }

    /// The same with another list of programs beside the probe.
    #[must_use]
    pub fn allowing(mut self, programs: &str) -> Self {
        self.manifest =
            self.manifest.replace("allow: [mur-probe]", &format!("allow: [mur-probe, {programs}]"));
        self.write();
        self
    }

    /// The project's folder, with the manifest in it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The work folder below it.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Where the manifest is.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join("murmur.yaml")
    }

    /// The caller's home, where sessions and records are kept.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Who calls, where it is not root.
    pub fn user(&self) -> Option<&OrdinaryUser> {
        self.user.as_ref()
    }

    /// `mur WORD…` by the caller, in the project's folder.
    pub fn mur(&self, words: &[&str]) -> Command {
        self.call(Runtime::under_test(), words)
    }

    /// Another runtime by the same caller.
    pub fn call(&self, runtime: &Runtime, words: &[&str]) -> Command {
        let mut command = if let Some(user) = &self.user {
            user.command_of(runtime)
        } else {
            let mut command = Command::new(runtime.program());
            command.env_clear().env("HOME", &self.home);
            command
        };
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        command
            .env("PATH", format!("{path}:{}", self.bin.display()))
            .current_dir(&self.folder)
            .args(words);
        command
    }

    /// Any program by the same caller, outside of every capsule: the positive control.
    pub fn outside(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = match &self.user {
            Some(user) => user.command(program),
            None => Command::new(program),
        };
        command.current_dir(&self.work).args(words);
        command
    }

    /// `mur VERB --manifest M --workdir W WORD…`
    pub fn verb(&self, verb: &str, words: &[&str]) -> Command {
        let (manifest, work) = (self.manifest(), self.work.to_str().unwrap());
        let mut all = vec![verb, "--manifest", manifest.to_str().unwrap(), "--workdir", work];
        all.extend(words);
        self.mur(&all)
    }

    /// `mur run --manifest M --workdir W -- WORD…`
    pub fn run(&self, words: &[&str]) -> Command {
        self.verb("run", &[&["--"], words].concat())
    }

    /// Runs the probe inside; one attempt a word.
    #[track_caller]
    pub fn probe(&self, attempts: &[&str]) -> Vec<Attempt> {
        let words: Vec<&str> = std::iter::once(&"mur-probe").chain(attempts).copied().collect();
        answers(attempts, &self.run(&words).finish())
    }

    /// Runs the probe outside, as the same caller. What root mounts there is in a namespace of its own.
    #[track_caller]
    pub fn probe_outside(&self, attempts: &[&str]) -> Vec<Attempt> {
        let probe = self.bin.join("mur-probe");
        let mut command = if self.user.is_some() {
            self.outside(&probe, attempts)
        } else {
            let mut command =
                self.outside("unshare".as_ref(), &["--mount", "--propagation", "private", "--"]);
            command.arg(probe).args(attempts);
            command
        };
        answers(attempts, &command.finish())
    }

    fn write(&self) {
        fs::write(self.manifest(), &self.manifest).unwrap();
        if let Some(user) = &self.user {
            user.own(&self.manifest());
        }
    }
}

#[track_caller]
fn answers(attempts: &[&str], finished: &Finished) -> Vec<Attempt> {
    let found = Attempt::read_all(&finished.stdout);
    assert_eq!(found.len(), attempts.len(), "{finished}");
    found
}
