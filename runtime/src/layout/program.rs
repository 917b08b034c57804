//! Looks a program up on the search path and follows it: links, `#!` lines, loader, libraries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{PathLink, Program};

use crate::layout::evidence::Evidence;
use crate::layout::loader::Loader;
use crate::layout::script::Shebang;
use crate::layout::stand_in::{Stand, note, stand};
use crate::layout::walk::Walker;

/// How deep interpreters may nest; the kernel itself stops at five (`BINPRM`'s recursion limit).
const MOST_INTERPRETERS: u32 = 5;

/// What programs are read with.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Follows names.
    pub(crate) walker: Walker,
    /// Reads ELF files.
    pub(crate) loader: Loader,
    /// The absolute folders of `PATH`, in order.
    search: Vec<PathBuf>,
    /// Where commands start, which is how version managers choose.
    workdir: PathBuf,
    /// Folders that must come before the rest of `PATH`: the real ones behind programs that stand in for others.
    pub(crate) fronts: Vec<PathBuf>,
    /// What was looked at, besides what the two readers above note themselves.
    pub(crate) evidence: Evidence,
}

/// The absolute folders of a search path. A relative one would be the capsule's to fill.
fn search_folders(search_path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(search_path).filter(|folder| folder.is_absolute()).collect()
}

impl Reader {
    /// Reads programs for commands that start in `workdir` with this search path.
    pub(crate) fn new(search_path: &OsStr, workdir: &Path) -> Self {
        Self {
            walker: Walker::default(),
            loader: Loader::new(),
            search: search_folders(search_path),
            workdir: workdir.into(),
            fronts: Vec::new(),
            evidence: Evidence::default(),
        }
    }

    /// Everything that was looked at, and every link that was followed.
    pub(crate) fn finish(self, evidence: &mut Evidence) -> Vec<PathLink> {
        self.walker.note(evidence);
        evidence.absorb(self.loader.evidence);
        evidence.absorb(self.evidence);
        self.walker.into_links()
    }

    /// Reads one program by name; not found is a program without a path.
    pub(crate) fn program(&mut self, name: &str) -> Program {
        self.program_by_name(name).0
    }

    /// The same, with the name each of its executables is started by: a virtual environment is told by it.
    pub(crate) fn program_by_name(&mut self, name: &str) -> (Program, Vec<PathBuf>) {
        let mut files = Files::default();
        let path = self.look_up(OsStr::new(name));
        if let Some(path) = &path {
            self.follow(path, MOST_INTERPRETERS, &mut files);
        }
        let program = Program {
            name: name.to_owned(),
            path,
            executables: files.executables,
            helpers: Vec::new(),
            libraries: files.libraries.into_iter().collect(),
        };
        (program, files.names)
    }

    /// Where the search path finds a program: an executable regular file, links followed. One that stands in for
    /// another is that other one.
    pub(crate) fn look_up(&mut self, name: &OsStr) -> Option<PathBuf> {
        for folder in &self.search {
            let path = folder.join(name);
            self.evidence.listing(folder);
            if !is_program(&path) {
                continue;
            }
            note(&path, &self.workdir, &mut self.evidence);
            match stand(&path, &self.workdir) {
                Stand::Itself => return Some(path),
                Stand::Next => {}
                Stand::For(program) => {
                    let front = program.parent().unwrap_or(Path::new("/"));
                    if !self.fronts.iter().any(|own| own == front) {
                        self.fronts.push(front.into());
                    }
                    return Some(program);
                }
            }
        }
        None
    }

    /// Adds everything that must be executable, so that the kernel starts `path`.
    pub(crate) fn follow(&mut self, path: &Path, depth: u32, files: &mut Files) {
        let Ok(file) = self.walker.resolve(path) else { return };
        if files.executables.contains(&file) {
            return;
        }
        files.executables.push(file.clone());
        files.names.push(path.into());
        if self.loader.elf(&file).is_some() {
            let closure = self.loader.closure(&file, &mut self.walker);
            if let Some(loader) = closure.loader
                && !files.executables.contains(&loader)
            {
                files.executables.push(loader.clone());
                files.names.push(loader);
            }
            files.libraries.extend(closure.libraries);
            return;
        }
        let Ok(Some(shebang)) = Shebang::read(&file) else { return };
        if depth == 0 {
            return;
        }
        if shebang.interpreter.is_absolute() {
            self.follow(&shebang.interpreter, depth - 1, files);
        }
        let through_env = shebang.through_env.and_then(|name| self.look_up(&name));
        if let Some(program) = through_env {
            self.follow(&program, depth - 1, files);
        }
    }
}

/// What one program needs executable.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Itself, interpreters, loaders; canonical, in the order they are started.
    pub(crate) executables: Vec<PathBuf>,
    /// The name each of them is started by.
    pub(crate) names: Vec<PathBuf>,
    /// Libraries, canonical.
    pub(crate) libraries: BTreeSet<PathBuf>,
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
