//! What known programs start or load by themselves: compiler stages, git's commands, a Java home.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{ImportPath, LibraryFolder, Program};

use crate::layout::child::ask;
use crate::layout::program::{Files, Reader};
use crate::layout::walk::Walker;

/// The stages and tools that a compiler driver starts.
const COMPILER: [&str; 8] =
    ["cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "as", "ld", "ld.bfd"];
/// Where a compiler finds headers besides its own.
const HEADERS: [&str; 2] = ["/usr/include", "/usr/local/include"];
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
        compiler(name, path, reader)
    } else if name == "git" {
        git(name, path, reader)
    } else if name == "java" || name == "javac" {
        java(name, file, reader)
    } else if ["rustc", "cargo", "rustdoc"].contains(&name) {
        rust(name, path, file, reader)
    } else if name == "go" || name == "gofmt" {
        go(name, file, reader)
    } else {
        node_package(name, file, reader)
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
fn compiler(name: &str, path: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(answer) = ask(path, &["-print-search-dirs"]) else { return company };
    let folders = paths_after(&answer, "programs");
    let read = paths_after(&answer, "libraries").into_iter().chain(paths_after(&answer, "install"));
    let read = read.chain(HEADERS.map(PathBuf::from));
    company.imports = read_folders(name, read, &mut reader.walker);
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

/// The absolute paths of one line of a compiler's answer.
fn paths_after(answer: &[u8], name: &str) -> Vec<PathBuf> {
    let line = answer
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b": "));
    let line = line.unwrap_or_default();
    let paths = line.strip_prefix(b"=").unwrap_or(line).split(|&byte| byte == b':');
    let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    paths.filter(|path| path.is_absolute()).collect()
}

/// The folders that are there, canonical, none beneath another.
fn read_folders(
    name: &str,
    paths: impl Iterator<Item = PathBuf>,
    walker: &mut Walker,
) -> Vec<ImportPath> {
    let mut folders: Vec<PathBuf> = paths
        .filter_map(|path| walker.resolve(&path).ok())
        .filter(|path| path.is_dir() && path.components().count() > 1)
        .collect();
    folders.sort();
    folders.dedup();
    let whole = folders.clone();
    folders.retain(|path| !whole.iter().any(|above| above != path && path.starts_with(above)));
    let import = |path| ImportPath { binary: name.to_owned(), path, folder: true };
    folders.into_iter().map(import).collect()
}

/// git runs its own commands by path from one folder, and reads templates and the system's settings.
fn git(name: &str, path: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(answer) = ask(path, &["--exec-path"]) else { return company };
    let folder = Path::new(OsStr::from_bytes(answer.trim_ascii_end())).to_path_buf();
    let Ok(folder) = reader.walker.resolve(&folder) else { return company };
    follow_all(&folder, &mut company.helpers, reader);
    let templates = folder.ancestors().nth(2).map(|prefix| prefix.join("share/git-core"));
    company.imports = read_folders(name, templates.into_iter(), &mut reader.walker);
    if let Ok(settings) = reader.walker.resolve(Path::new("/etc/gitconfig")) {
        let binary = name.to_owned();
        company.imports.push(ImportPath { binary, path: settings, folder: false });
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

/// A Rust toolchain: the compiler reads the standard library of its sysroot and starts the linker in it.
fn rust(name: &str, path: &Path, file: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(prefix) = file.parent().and_then(Path::parent) else { return company };
    let mut lib = prefix.join("lib/rustlib");
    if !lib.is_dir() && name == "rustc" {
        let answer = ask(path, &["--print", "sysroot"]).unwrap_or_default();
        lib = Path::new(OsStr::from_bytes(answer.trim_ascii_end())).join("lib/rustlib");
    }
    company.imports = read_folders(name, std::iter::once(lib.clone()), &mut reader.walker);
    for target in folders_in(&lib, reader) {
        for folder in [target.join("bin"), target.join("bin/gcc-ld")] {
            follow_all(&folder, &mut company.helpers, reader);
        }
    }
    company
}

/// A Go distribution: the driver starts the tools of its own tree, and reads the standard library there.
fn go(name: &str, file: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let Some(root) = file.parent().and_then(Path::parent) else { return company };
    let tools = root.join("pkg/tool");
    if tools.is_dir() {
        company.imports =
            read_folders(name, std::iter::once(root.to_path_buf()), &mut reader.walker);
        for folder in folders_in(&tools, reader) {
            follow_all(&folder, &mut company.helpers, reader);
        }
    }
    company
}

/// A script of a Node package reads the rest of the package.
fn node_package(name: &str, file: &Path, reader: &mut Reader) -> Company {
    let mut company = Company::default();
    let package = file.ancestors().find(|folder| {
        let above = folder.parent();
        let scope = above.filter(|above| {
            above.file_name().is_some_and(|name| name.as_bytes().starts_with(b"@"))
        });
        scope.and_then(Path::parent).or(above).is_some_and(|it| it.ends_with("node_modules"))
    });
    let package = package.filter(|package| *package != file).map(Path::to_path_buf);
    company.imports = read_folders(name, package.into_iter(), &mut reader.walker);
    company
}

/// The folders directly inside a folder, sorted.
fn folders_in(folder: &Path, reader: &mut Reader) -> Vec<PathBuf> {
    reader.evidence.listing(folder);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|it| it.is_dir()).collect();
    folders.sort();
    folders
}

/// Adds every program directly inside a folder.
fn follow_all(folder: &Path, files: &mut Files, reader: &mut Reader) {
    reader.evidence.listing(folder);
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut programs: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
        .collect();
    programs.sort();
    for program in programs {
        // What is a script needs its interpreter; only `shell.allow` can grant that one.
        reader.follow(&program, 0, files);
    }
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
