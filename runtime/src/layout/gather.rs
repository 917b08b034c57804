//! Gathers programs, libraries, import paths and granted folders of one policy, each file read once.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mur_bundle::{GrantedPath, ImportPath, LibraryFolder, PathLink, Program, ReadPath, WorkFolder};
use mur_policy::CapabilityPolicy;
use serde::{Deserialize, Serialize};

use crate::layout::derive::{import_paths, read_modules, recognise};
use crate::layout::evidence::Evidence;
use crate::layout::helper::{company, library_folder};
use crate::layout::program::Reader;
use crate::layout::trust::trust_store;
use crate::layout::walk::Walker;
use crate::layout::{LayoutRequest, data};

/// What was found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gathered {
    pub(crate) programs: Vec<Program>,
    pub(crate) library_folders: Vec<LibraryFolder>,
    pub(crate) imports: Vec<ImportPath>,
    pub(crate) trust_store: Vec<ReadPath>,
    pub(crate) libc_files: Vec<PathBuf>,
    pub(crate) links: Vec<PathLink>,
    /// Folders that come before the rest of `PATH`.
    pub(crate) search_fronts: Vec<PathBuf>,
    pub(crate) grants: Vec<GrantedPath>,
}

/// A folder whose native modules belong to one program.
struct ModuleFolder {
    owner: usize,
    path: PathBuf,
}

impl Gathered {
    /// Reads everything. What is not found is left out; the plan refuses what it cannot do without.
    pub(crate) fn read(
        policy: &CapabilityPolicy,
        surroundings: &Surroundings<'_>,
        evidence: &mut Evidence,
    ) -> Self {
        let mut gathered = Self::default();
        let mut reader = Reader::new(surroundings.search_path, &surroundings.chosen_in);
        let writable = surroundings.writable.as_slice();
        let mut folders = gathered.programs(policy, writable, &mut reader);
        gathered.grants(policy, &mut reader.walker);
        folders.extend(gathered.granted_modules(policy));
        gathered.libc_files(&mut reader);
        if let Some(folder) = gathered.conversions() {
            folders.push(ModuleFolder { owner: 0, path: folder });
        }
        gathered.modules(folders, &mut reader);
        gathered.trust_store = trust_store(policy, writable, &mut reader);
        gathered.search_fronts = std::mem::take(&mut reader.fronts);
        gathered.links = reader.finish(evidence);
        gathered
    }

    /// What was derived to be read: none of it may lie where a capsule writes.
    pub(crate) fn read_paths(&self) -> impl Iterator<Item = &Path> {
        let imports = self.imports.iter().map(|import| import.path.as_path());
        let trusted = self.trust_store.iter().map(|read| read.path.as_path());
        let programs = self.programs.iter().flat_map(|program| {
            program.executables.iter().chain(&program.helpers).map(PathBuf::as_path)
        });
        imports.chain(trusted).chain(programs)
    }

    /// The programs of `shell.allow`, with their company and import paths.
    fn programs(
        &mut self,
        policy: &CapabilityPolicy,
        writable: &[PathBuf],
        reader: &mut Reader,
    ) -> Vec<ModuleFolder> {
        let mut folders = Vec::new();
        let names = policy.shell.iter().flat_map(|shell| &shell.allow);
        for (owner, name) in names.enumerate() {
            let (mut program, names) = reader.program_by_name(name);
            let company = company(&program, reader);
            program.helpers = company.helpers.executables;
            program.libraries.extend(company.helpers.libraries);
            program.libraries.extend(company.libraries);
            self.imports.extend(company.imports);
            self.imports.extend(data::reads(&program, &self.imports, &mut reader.walker));
            folders.extend(company.folders.into_iter().map(|path| ModuleFolder { owner, path }));
            for (file, started) in program.executables.clone().iter().zip(&names) {
                let own = writable.iter().any(|folder| file.starts_with(folder));
                reader.evidence.is_private |= own;
                let Some(interpreter) = recognise(file, &mut reader.loader).filter(|_| !own) else {
                    continue;
                };
                let imports = import_paths((name, started, file), interpreter, writable, reader);
                let paths = imports.iter().filter(|import| import.folder);
                folders.extend(paths.map(|it| ModuleFolder { owner, path: it.path.clone() }));
                self.imports.extend(imports);
                break;
            }
            self.programs.push(program);
        }
        folders
    }

    /// What the policy names by path.
    fn grants(&mut self, policy: &CapabilityPolicy, walker: &mut Walker) {
        let shell = policy.shell.iter();
        let runtimes = shell.clone().flat_map(|shell| &shell.interpreter_runtime);
        let staged = shell.flat_map(|shell| &shell.staged_runtime);
        let paths = runtimes
            .map(|grant| &grant.path)
            .chain(staged.map(|grant| &grant.source_path))
            .chain(policy.host_paths.iter().map(|grant| &grant.path));
        for declared in paths {
            if self.grants.iter().any(|grant| grant.declared == *declared) {
                continue;
            }
            let found = walker.resolve(declared).ok();
            let meta = found.as_ref().and_then(|path| path.metadata().ok());
            self.grants.push(GrantedPath {
                declared: declared.clone(),
                folder: meta.as_ref().is_some_and(std::fs::Metadata::is_dir),
                owner: meta.map_or((0, 0), |meta| (meta.uid(), meta.gid())),
                found,
            });
        }
    }

    /// The granted folders whose files may be executed: what they need from elsewhere must be as well.
    fn granted_modules(&self, policy: &CapabilityPolicy) -> Vec<ModuleFolder> {
        let Some(shell) = &policy.shell else { return Vec::new() };
        let runtimes = shell.interpreter_runtime.iter().map(|grant| (&grant.binary, &grant.path));
        let staged = shell.staged_runtime.iter().map(|grant| (&grant.binary, &grant.source_path));
        runtimes
            .chain(staged)
            .filter_map(|(binary, declared)| {
                let owner = self.programs.iter().position(|program| program.name == *binary)?;
                let grant = self.grants.iter().find(|grant| grant.declared == *declared)?;
                let path = grant.found.clone().filter(|_| grant.folder)?;
                Some(ModuleFolder { owner, path })
            })
            .collect()
    }

    /// What the C library opens by itself: the unwinder of `pthread_exit`, and before glibc 2.34 its name service.
    fn libc_files(&mut self, reader: &mut Reader) {
        let Reader { loader, walker, .. } = reader;
        let Some(libc) = self.libc() else { return };
        let mut names = vec!["libgcc_s.so.1"];
        if !loader.elf(&libc).is_some_and(|elf| elf.names("GLIBC_2.34")) {
            names.extend(["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"]);
        }
        for name in names {
            for file in loader.by_name(name, walker) {
                self.libc_files.extend(loader.closure(&file, walker).libraries);
                self.libc_files.push(file);
            }
        }
        self.libc_files.sort();
        self.libc_files.dedup();
    }

    /// The C library of the programs, where they are dynamic and it is glibc.
    fn libc(&self) -> Option<PathBuf> {
        let mut libraries = self.programs.iter().flat_map(|program| &program.libraries);
        libraries.find(|path| path.file_name().is_some_and(|name| name == "libc.so.6")).cloned()
    }

    /// The folder of character set conversions, beside the C library that loads them.
    fn conversions(&self) -> Option<PathBuf> {
        let folder = self.libc()?.parent()?.join("gconv");
        folder.is_dir().then_some(folder)
    }

    /// Reads the module folders: each becomes one executable bind where it holds a native module.
    fn modules(&mut self, folders: Vec<ModuleFolder>, reader: &mut Reader) {
        let apart: Vec<PathBuf> = folders.iter().map(|folder| folder.path.clone()).collect();
        for ModuleFolder { owner, path } in folders {
            let modules = read_modules(&path, &apart, reader);
            let Some(program) = self.programs.get_mut(owner) else { continue };
            program.libraries.extend(modules.libraries);
            let granted = self.grants.iter().any(|grant| grant.found.as_ref() == Some(&path));
            let known = self.library_folders.iter().any(|folder| folder.path == path);
            let helpers = program.helpers.iter().any(|helper| helper.starts_with(&path));
            if (modules.any || helpers) && !granted && !known {
                let allowed: Vec<&PathBuf> = self
                    .programs
                    .iter()
                    .flat_map(|program| program.executables.iter().chain(&program.helpers))
                    .collect();
                self.library_folders.push(library_folder(path, modules.programs, &allowed));
            }
        }
        for program in &mut self.programs {
            program.libraries.sort();
            program.libraries.dedup();
        }
        self.library_folders.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// What a reading depends on besides the policy.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    /// `PATH`.
    pub(crate) search_path: &'a OsStr,
    /// Where version managers look for a choice: the work folder, or what will hold it.
    pub(crate) chosen_in: PathBuf,
    /// The host folders that the capsule may write: nothing in them is trusted to say what else it may read.
    writable: Vec<PathBuf>,
}

impl<'a> Surroundings<'a> {
    /// The surroundings of a request.
    pub(crate) fn new(
        policy: &CapabilityPolicy,
        request: &'a LayoutRequest,
        work: &WorkFolder,
    ) -> Self {
        let own = [&request.folders.tmp.source, &request.folders.home.source, &work.path];
        let granted =
            policy.host_paths.iter().filter(|grant| grant.writable).map(|grant| &grant.path);
        let mut writable: Vec<PathBuf> = own.into_iter().chain(granted).cloned().collect();
        writable.retain(|path: &PathBuf| path.is_absolute() && path != Path::new("/"));
        // A new folder is empty, so that only the folders above it can hold a choice.
        let chosen_in = work.path.ancestors().find(|path| path.exists());
        let chosen_in = chosen_in.unwrap_or(Path::new("/")).into();
        Self { search_path: &request.search_path, chosen_in, writable }
    }

    /// Surroundings made up by a test.
    #[cfg(test)]
    pub(crate) fn of(search_path: &'a OsStr, chosen_in: &Path, writable: &[PathBuf]) -> Self {
        Self { search_path, chosen_in: chosen_in.into(), writable: writable.to_vec() }
    }

    /// Whether a path lies where the capsule may write.
    pub(crate) fn may_write(&self, path: &Path) -> bool {
        self.writable.iter().any(|folder| path.starts_with(folder))
    }
}
