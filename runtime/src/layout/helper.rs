//! What known programs start or load by themselves: compiler stages, git's commands, a Java home.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{ImportPath, LibraryFolder, Program};

use crate::layout::child::ask;
use crate::layout::program::{Files, Reader};

/// The stages and tools that a compiler driver starts.
const COMPILER: [&str; 8] =
    ["cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "as", "ld", "ld.bfd"];
/// What the linker of a compiler loads.
const LINKER_PLUGIN: &str = "liblto_plugin.so";

/// What one program brings with it.
#[derive(Debug, Default)]
pub(crate) struct Company {
    /// Programs, canonical, with their interpreters and loaders.
    pub(crate) helpers: Files,
    /// Folders of libraries or helpers that are executable as one.
    pub(crate) folders: Vec<PathBuf>,
    /// Folders that are read.
    pub(crate) imports: Vec<ImportPath>,
    /// Single libraries that are loaded by name.
    pub(crate) libraries: Vec<PathBuf>,
}

/// Finds what `program` brings with it; a program nobody knows brings nothing.
pub(crate) fn company(program: &Program, reader: &mut Reader) -> Company {
    let (Some(path), Some(file)) = (&program.path, program.executables.first()) else {
        return Company::default();
    };
    let name = program.name.as_str();
    if is_compiler(name) {
        compiler(path, reader)
    } else if name == "git" {
        git(path, reader)
    } else if name == "java" || name == "javac" {
        java(name, file, reader)
    } else {
        Company::default()
    }
}

fn is_compiler(name: &str) -> bool {
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let base = base.strip_suffix('-').unwrap_or(base);
    ["cc", "gcc", "c++", "g++", "cpp"]
        .iter()
        .any(|own| base == *own || base.ends_with(&format!("-{own}")))
}

/// A driver says in which folders it looks for its stages; what is in none of them it takes from the search path.
fn compiler(path: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(answer) = ask(path, &["-print-search-dirs"]) else { return company };
    let programs = answer.split(|&byte| byte == b'\n').find_map(|line| {
        line.strip_prefix(b"programs: =").or_else(|| line.strip_prefix(b"programs: "))
    });
    let folders: Vec<PathBuf> = programs
        .unwrap_or_default()
        .split(|&byte| byte == b':')
        .map(|folder| PathBuf::from(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .collect();
    for folder in &folders {
        reader.evidence.listing(folder);
    }
    for stage in COMPILER {
        let own = folders.iter().map(|folder| folder.join(stage)).find(|path| path.is_file());
        if let Some(path) = own.or_else(|| reader.look_up(OsStr::new(stage))) {
            reader.follow(&path, 1, &mut company.helpers);
        }
    }
    let plugin = folders.iter().map(|folder| folder.join(LINKER_PLUGIN)).find(|it| it.is_file());
    if let Some(plugin) = plugin.and_then(|plugin| reader.walker.resolve(&plugin).ok()) {
        company.libraries.extend(reader.loader.closure(&plugin, &mut reader.walker).libraries);
        company.libraries.push(plugin);
    }
    company
}

/// git runs its own commands by path from one folder.
fn git(path: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(answer) = ask(path, &["--exec-path"]) else { return company };
    let folder = Path::new(OsStr::from_bytes(answer.trim_ascii_end())).to_path_buf();
    let Ok(folder) = reader.walker.resolve(&folder) else { return company };
    reader.evidence.listing(&folder);
    let Ok(entries) = fs::read_dir(&folder) else { return company };
    let mut commands: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
        .collect();
    commands.sort();
    for command in commands {
        // A command that is a script needs its interpreter; only `shell.allow` can grant that one.
        reader.follow(&command, 0, &mut company.helpers);
    }
    company.folders.push(folder);
    company
}

/// A Java home: everything in `lib` is loaded by name, and its configuration may lie in `/etc`.
fn java(name: &str, file: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(home) = file.parent().and_then(Path::parent) else { return company };
    let lib = home.join("lib");
    if !lib.is_dir() {
        return company;
    }
    let spawner = lib.join("jspawnhelper");
    if spawner.is_file() {
        reader.follow(&spawner, 0, &mut company.helpers);
    }
    let mut folders = vec![home.to_path_buf()];
    for inner in ["conf", "conf/security", "lib", "lib/security", "lib/server"] {
        folders.push(home.join(inner));
    }
    for folder in &folders {
        reader.evidence.listing(folder);
    }
    let mut outside: Vec<PathBuf> =
        folders.iter().flat_map(|folder| leaving(folder, home)).collect();
    outside.sort();
    outside.dedup();
    let import = |path: PathBuf| ImportPath { binary: name.to_owned(), path, folder: true };
    company.imports.extend(outside.into_iter().map(import));
    company.imports.push(import(home.into()));
    company.folders.push(lib);
    company
}

/// The folders of regular files that links directly inside `folder` lead to, out of `home`.
fn leaving(folder: &Path, home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .filter(|target| target.is_file() && !target.starts_with(home))
        .filter_map(|target| target.parent().map(Path::to_path_buf))
        .filter(|parent| parent != Path::new("/etc") && parent != Path::new("/"))
        .collect()
}

/// A folder of libraries as the layout names it; `allowed` are programs that stay executable in it.
pub(crate) fn library_folder(
    path: PathBuf,
    programs: Vec<PathBuf>,
    allowed: &[&PathBuf],
) -> LibraryFolder {
    let masked = programs.into_iter().filter(|program| !allowed.contains(&program)).collect();
    LibraryFolder { path, masked_programs: masked }
}
