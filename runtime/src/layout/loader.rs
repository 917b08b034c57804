//! Finds what the dynamic loader would load: the closure of needed libraries, without its cache file.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::layout::elf::Elf;
use crate::layout::evidence::Evidence;
use crate::layout::walk::Walker;

/// The folder name of this processor's libraries where several live side by side (Debian's multiarch).
#[cfg(target_arch = "x86_64")]
const MULTIARCH: &str = "x86_64-linux-gnu";
#[cfg(target_arch = "aarch64")]
const MULTIARCH: &str = "aarch64-linux-gnu";
#[cfg(target_arch = "riscv64")]
const MULTIARCH: &str = "riscv64-linux-gnu";
#[cfg(target_arch = "s390x")]
const MULTIARCH: &str = "s390x-linux-gnu";

/// Below any library folder, variants for better processors; the loader prefers them (ld.so(8)).
const VARIANTS: [&str; 3] =
    ["glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];

/// The folders a loader searches for what its file does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Flavour {
    /// glibc: `/etc/ld.so.conf` stands in for the cache that is made of it.
    Glibc,
    /// musl: no cache, and a shorter list.
    Musl,
}

/// Reads files once and finds libraries by name.
#[derive(Debug)]
pub(crate) struct Loader {
    files: HashMap<PathBuf, Option<Elf>>,
    defaults: HashMap<(Flavour, OsString), Vec<PathBuf>>,
    glibc_folders: Vec<PathBuf>,
    musl_folders: Vec<PathBuf>,
    /// What was looked at.
    pub(crate) evidence: Evidence,
}

/// What one program or library needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Closure {
    /// The loader, canonical.
    pub(crate) loader: Option<PathBuf>,
    /// Every library that is found, canonical.
    pub(crate) libraries: BTreeSet<PathBuf>,
    /// The names of those that are not.
    pub(crate) missing: BTreeSet<OsString>,
}

/// One object whose needs are still to be found.
struct Pending {
    path: PathBuf,
    rpath: Vec<PathBuf>,
}

impl Loader {
    /// Reads the search folders of this host.
    pub(crate) fn new() -> Self {
        let mut evidence = Evidence::default();
        let mut glibc_folders = configured_folders(Path::new("/etc/ld.so.conf"), &mut evidence);
        for parent in ["/lib", "/usr/lib"] {
            glibc_folders.push(Path::new(parent).join(MULTIARCH));
        }
        glibc_folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
        for folder in &glibc_folders {
            evidence.listing(folder);
        }
        glibc_folders.retain(|folder| folder.is_dir());
        let musl_folders = ["/lib", "/usr/local/lib", "/usr/lib"].map(PathBuf::from).into();
        Self {
            files: HashMap::new(),
            defaults: HashMap::new(),
            glibc_folders,
            musl_folders,
            evidence,
        }
    }

    /// What is known of a canonical file; `None` when it is no ELF file of this machine or not readable.
    pub(crate) fn elf(&mut self, path: &Path) -> Option<&Elf> {
        if !self.files.contains_key(path) {
            let elf = Elf::read(path).ok().flatten();
            self.files.insert(path.into(), elf);
        }
        self.files.get(path)?.as_ref()
    }

    /// Everything that the loader opens for the canonical file `start`, itself not included.
    pub(crate) fn closure(&mut self, start: &Path, walker: &mut Walker) -> Closure {
        let mut closure = Closure::default();
        let interpreter = self.elf(start).and_then(|elf| elf.interpreter.clone());
        closure.loader = interpreter.and_then(|path| walker.resolve(&path).ok());
        let musl = closure.loader.as_deref().and_then(Path::file_name);
        let musl = musl.is_some_and(|name| name.as_bytes().starts_with(b"ld-musl"));
        let flavour = if musl { Flavour::Musl } else { Flavour::Glibc };
        let mut queue = VecDeque::from([Pending { path: start.into(), rpath: Vec::new() }]);
        let mut seen = BTreeSet::from([start.to_path_buf()]);
        while let Some(object) = queue.pop_front() {
            let Some(elf) = self.elf(&object.path).cloned() else { continue };
            let rpath = Self::inherited(&elf, &object, flavour);
            for name in &elf.needed {
                let found = self.find(name, &elf, &object, &rpath, flavour, walker);
                if found.is_empty() && !is_the_loader(name, closure.loader.as_deref()) {
                    closure.missing.insert(name.clone());
                }
                for path in found {
                    if closure.loader.as_deref() != Some(&path) && seen.insert(path.clone()) {
                        closure.libraries.insert(path.clone());
                        queue.push_back(Pending { path, rpath: rpath.clone() });
                    }
                }
            }
        }
        closure
    }

    /// A library by its name alone, as `dlopen` of the C library itself would find it.
    pub(crate) fn by_name(&mut self, name: &str, walker: &mut Walker) -> Vec<PathBuf> {
        self.by_default(OsStr::new(name), Flavour::Glibc, walker)
    }

    /// The search path an object hands on to what it loads.
    fn inherited(elf: &Elf, object: &Pending, flavour: Flavour) -> Vec<PathBuf> {
        let mut own: Vec<PathBuf> = Vec::new();
        if elf.runpath.is_empty() {
            own.extend(elf.rpath.iter().flat_map(|folder| expand(folder, &object.path)));
        } else if flavour == Flavour::Musl {
            own.extend(elf.runpath.iter().flat_map(|folder| expand(folder, &object.path)));
        }
        own.extend(object.rpath.iter().cloned());
        own
    }

    fn find(
        &mut self,
        name: &OsStr,
        elf: &Elf,
        object: &Pending,
        rpath: &[PathBuf],
        flavour: Flavour,
        walker: &mut Walker,
    ) -> Vec<PathBuf> {
        if name.as_bytes().contains(&b'/') {
            return expand(name, &object.path)
                .into_iter()
                .filter_map(|path| self.library(&path, walker))
                .take(1)
                .collect();
        }
        let runpath = elf.runpath.iter().flat_map(|folder| expand(folder, &object.path));
        let before: Vec<PathBuf> =
            if elf.runpath.is_empty() { rpath.to_vec() } else { runpath.collect() };
        for folder in &before {
            let found = self.in_folder(folder, name, walker);
            if !found.is_empty() {
                return found;
            }
        }
        self.by_default(name, flavour, walker)
    }

    fn by_default(&mut self, name: &OsStr, flavour: Flavour, walker: &mut Walker) -> Vec<PathBuf> {
        let key = (flavour, name.to_owned());
        if let Some(found) = self.defaults.get(&key) {
            return found.clone();
        }
        let folders = match flavour {
            Flavour::Glibc => self.glibc_folders.clone(),
            Flavour::Musl => self.musl_folders.clone(),
        };
        let found = folders
            .iter()
            .map(|folder| self.in_folder(folder, name, walker))
            .find(|found| !found.is_empty())
            .unwrap_or_default();
        self.defaults.insert(key, found.clone());
        found
    }

    /// The library in one folder, with its variants for better processors.
    fn in_folder(&mut self, folder: &Path, name: &OsStr, walker: &mut Walker) -> Vec<PathBuf> {
        let variants = VARIANTS.iter().map(|variant| folder.join(variant).join(name));
        let paths: Vec<PathBuf> = variants.chain([folder.join(name)]).collect();
        paths.iter().filter_map(|path| self.library(path, walker)).collect()
    }

    fn library(&mut self, path: &Path, walker: &mut Walker) -> Option<PathBuf> {
        if let Some(folder) = path.parent() {
            self.evidence.listing(folder);
        }
        if !path.exists() {
            return None;
        }
        let path = walker.resolve(path).ok()?;
        self.elf(&path).is_some().then_some(path)
    }
}

/// musl's C library is its loader, under another name.
fn is_the_loader(name: &OsStr, loader: Option<&Path>) -> bool {
    let own = loader.and_then(Path::file_name);
    own == Some(name) || own.is_some() && name.as_bytes().starts_with(b"libc.musl-")
}

/// `$ORIGIN`, `$LIB` and `$PLATFORM` of a search path, seen from the canonical file that says it.
fn expand(folder: &OsStr, object: &Path) -> Vec<PathBuf> {
    let origin = object.parent().unwrap_or(Path::new("/"));
    let multiarch = format!("lib/{MULTIARCH}");
    let mut expanded: Vec<PathBuf> = ["lib64", "lib", &multiarch]
        .iter()
        .map(|lib| {
            let text = replace(folder.as_bytes(), "ORIGIN", origin.as_os_str().as_bytes());
            let text = replace(&text, "LIB", lib.as_bytes());
            let text = replace(&text, "PLATFORM", std::env::consts::ARCH.as_bytes());
            PathBuf::from(OsString::from_vec(text))
        })
        .filter(|path| path.is_absolute())
        .collect();
    expanded.dedup();
    expanded
}

/// Replaces `$NAME` and `${NAME}`.
fn replace(text: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let tokens = [format!("${{{name}}}"), format!("${name}")];
    'text: while let Some((&first, after)) = rest.split_first() {
        for token in &tokens {
            if let Some(after) = rest.strip_prefix(token.as_bytes()) {
                out.extend_from_slice(value);
                rest = after;
                continue 'text;
            }
        }
        out.push(first);
        rest = after;
    }
    out
}

/// The folders an `ld.so.conf` names, its `include` lines followed.
fn configured_folders(conf: &Path, evidence: &mut Evidence) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    read_conf(conf, 0, &mut folders, evidence);
    folders
}

fn read_conf(conf: &Path, depth: u32, folders: &mut Vec<PathBuf>, evidence: &mut Evidence) {
    evidence.entry(conf);
    let Ok(text) = fs::read_to_string(conf) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(pattern) = line.strip_prefix("include").map(str::trim)
            && depth < 4
        {
            let pattern = conf.parent().unwrap_or(Path::new("/etc")).join(pattern);
            if let Some(folder) = pattern.parent() {
                evidence.listing(folder);
            }
            for included in matching(&pattern) {
                read_conf(&included, depth + 1, folders, evidence);
            }
        } else if line.starts_with('/') {
            folders.extend(line.split([':', ',', ' ', '\t']).map(PathBuf::from));
        }
    }
}

/// The files a pattern names whose last component may hold one `*`; sorted.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.as_bytes();
    let Some(star) = name.iter().position(|&byte| byte == b'*') else {
        return vec![pattern.into()];
    };
    let (start, end) = (&name[..star], &name[star + 1..]);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .filter(|own| {
            let own = own.as_bytes();
            own.len() >= start.len() + end.len() && own.starts_with(start) && own.ends_with(end)
        })
        .map(|own| folder.join(own))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_search_path_are_replaced_in_both_spellings() {
        for (folder, first) in [
            ("$ORIGIN/../lib", "/opt/x/bin/../lib"),
            ("${ORIGIN}/lib", "/opt/x/bin/lib"),
            ("/usr/$LIB/x", "/usr/lib64/x"),
            ("/abs", "/abs"),
        ] {
            let expanded = expand(OsStr::new(folder), Path::new("/opt/x/bin/prog"));
            assert_eq!(expanded[0], Path::new(first), "{folder}");
        }
        assert!(expand(OsStr::new("relative"), Path::new("/opt/x")).is_empty());
    }

    #[test]
    fn a_configuration_and_what_it_includes_name_folders_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let conf = dir.path().join("ld.so.conf");
        fs::create_dir(dir.path().join("conf.d")).unwrap();
        fs::write(&conf, "include conf.d/*.conf\n/last # why\n").unwrap();
        fs::write(dir.path().join("conf.d/b.conf"), "/b\n").unwrap();
        fs::write(dir.path().join("conf.d/a.conf"), "# only\n/a\n/a2\n").unwrap();
        fs::write(dir.path().join("conf.d/other"), "/no\n").unwrap();
        let folders = configured_folders(&conf, &mut Evidence::default());
        assert_eq!(folders, ["/a", "/a2", "/b", "/last"].map(PathBuf::from));
    }

    #[test]
    fn the_closure_of_a_program_of_this_host_holds_its_c_library_and_loader() {
        // The test itself is static; any dynamic program of the host serves, and one without is no failure.
        let Some(program) = ["/usr/bin/env", "/bin/ls"].into_iter().find(|path| {
            Elf::read(Path::new(path)).ok().flatten().is_some_and(|elf| elf.interpreter.is_some())
        }) else {
            return;
        };
        let mut walker = Walker::default();
        let program = walker.resolve(Path::new(program)).unwrap();
        let closure = Loader::new().closure(&program, &mut walker);
        assert!(closure.loader.is_some());
        assert!(closure.missing.is_empty(), "{:?}", closure.missing);
        assert!(!closure.libraries.is_empty());
    }
}
