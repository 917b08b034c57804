//! What recognised interpreters read by themselves: `spec/containment.md` §7. A failure derives nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::ImportPath;

use crate::layout::child::ask;
use crate::layout::loader::Loader;
use crate::layout::program::Reader;

/// Prints the import path of `CPython`, NUL-separated, without running anything of the user's.
const PYTHON: &str = "import sys\np=list(sys.path)\ntry:\n import site\n p+=site.getsitepackages()\n\
                      except Exception: pass\nsys.stdout.write('\\0'.join(p))";
/// The same of Perl.
const PERL: &str = "print join(\"\\0\", @INC)";

/// A recognised interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interpreter {
    /// Exports or needs `Py_BytesMain`.
    CPython,
    /// Exports or needs `perl_parse`.
    Perl,
}

/// Recognises an interpreter by its dynamic symbols.
pub(crate) fn recognise(file: &Path, loader: &mut Loader) -> Option<Interpreter> {
    let elf = loader.elf(file)?;
    if elf.names("Py_BytesMain") {
        Some(Interpreter::CPython)
    } else if elf.names("perl_parse") {
        Some(Interpreter::Perl)
    } else {
        None
    }
}

/// The import path of `file`, an interpreter that `binary` needs, canonical, each entry once.
///
/// It is run by the name it is `started` by, as a command would: a virtual environment is found by it.
pub(crate) fn import_paths(
    (binary, started, file): (&str, &Path, &Path),
    interpreter: Interpreter,
    writable: &[PathBuf],
    reader: &mut Reader,
) -> Vec<ImportPath> {
    // A virtual environment is told by this file beside its program or above.
    for folder in started.ancestors().skip(1).take(2) {
        reader.evidence.entry(&folder.join("pyvenv.cfg"));
    }
    let answer = match interpreter {
        Interpreter::CPython => ask(started, &["-I", "-S", "-c", PYTHON]),
        Interpreter::Perl => ask(started, &["-f", "-e", PERL]),
    };
    let Some(answer) = answer else {
        tracing::warn!(path = %started.display(), "no import path could be derived");
        return Vec::new();
    };
    let mut found: Vec<ImportPath> = Vec::new();
    for entry in answer.split(|&byte| byte == 0) {
        let entry = Path::new(OsStr::from_bytes(entry));
        if !entry.is_absolute() {
            continue;
        }
        let Ok(path) = reader.walker.resolve(entry) else { continue };
        let encloses = file.starts_with(&path);
        let is_open = writable.iter().any(|folder| path.starts_with(folder));
        reader.evidence.is_private |= is_open;
        let folder = path.is_dir();
        if encloses || is_open || !folder && !is_archive(&path) {
            continue;
        }
        if found.iter().all(|import| import.path != path) {
            found.push(ImportPath { binary: binary.to_owned(), path, folder });
        }
    }
    found
}

fn is_archive(path: &Path) -> bool {
    path.is_file() && path.extension() == Some(OsStr::new("zip"))
}

/// What was read of folders that hold native modules.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Needed libraries of all modules, canonical.
    pub(crate) libraries: Vec<PathBuf>,
    /// Program files among them, canonical.
    pub(crate) programs: Vec<PathBuf>,
    /// Whether there is any native module.
    pub(crate) any: bool,
}

/// Reads every file below `folder` once, but for folders in `apart`, which are read for themselves.
///
/// As evidence count the folder itself, where installers leave a mark of every package, and those that hold modules:
/// thousands of others hold text alone.
pub(crate) fn read_modules(folder: &Path, apart: &[PathBuf], reader: &mut Reader) -> Modules {
    let mut modules = Modules::default();
    let mut folders = vec![folder.to_path_buf()];
    reader.evidence.listing(folder);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                if !apart.contains(&path) {
                    folders.push(path);
                }
            } else if kind.is_file() && may_be_elf(&entry.file_name()) {
                read_module((&folder, &path), &mut modules, reader);
            }
        }
    }
    modules.libraries.sort();
    modules.libraries.dedup();
    modules.programs.sort();
    modules
}

/// Names that are never ELF files are not opened: they are nearly all of an interpreter's library.
fn may_be_elf(name: &OsStr) -> bool {
    const TEXT: [&str; 14] = [
        "py", "pyc", "pyi", "txt", "pm", "pl", "pod", "h", "json", "js", "md", "html", "xml", "gz",
    ];
    let extension = Path::new(name).extension().unwrap_or_default();
    !TEXT.iter().any(|own| extension == *own)
}

fn read_module((folder, path): (&Path, &Path), modules: &mut Modules, reader: &mut Reader) {
    let Some(elf) = reader.loader.elf(path) else { return };
    reader.evidence.listing(folder);
    if elf.is_program {
        modules.programs.push(path.into());
    } else {
        modules.any = true;
        modules.libraries.extend(reader.loader.closure(path, &mut reader.walker).libraries);
    }
}
