//! What a plan needs to know of the host's files: plain data, read by the runtime, judged here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The host as one capsule sees it. Every path is absolute and canonical unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLayout {
    /// Entries of `/`, sorted by name (`proc`, `sys`, `dev`, `tmp` included).
    pub root: Vec<RootEntry>,
    /// The work folder.
    pub workdir: WorkFolder,
    /// The session's folders.
    pub folders: SessionFolders,
    /// The programs of `shell.allow`, in its order; one that was not found has no `path`.
    pub programs: Vec<Program>,
    /// Folders of run-time libraries, each bound executable as one.
    pub library_folders: Vec<LibraryFolder>,
    /// Derived read grants of interpreters: import paths, zips, closures.
    pub interpreter_imports: Vec<ImportPath>,
    /// Trust store folders and files.
    pub trust_store: Vec<ReadPath>,
    /// The `/etc` entries that exist, with their canonical targets.
    pub etc: Vec<EtcEntry>,
    /// Who the processes are.
    pub identity: Identity,
    /// Files that must be bound executable because libc itself opens them (`libgcc_s`, …).
    pub libc_files: Vec<PathBuf>,
    /// Every link that was walked from a name above to its canonical file, sorted, each once: a root
    /// that is composed recreates those which no bound folder holds.
    pub links: Vec<PathLink>,
    /// What the policy names by path, as it was found: `interpreter_runtime`, `staged_runtime`, `host_paths`.
    pub grants: Vec<GrantedPath>,
    /// Folders of `/` that the capsule's ids may not both list and search, and the outermost folders they may
    /// not search on the way to something that is bound at its own path; sorted. A root made of the host's
    /// own tree shows none of them: each is an empty folder that holds what is bound below it.
    pub closed_folders: Vec<PathBuf>,
    /// Values of the host's variables a command may get, before the strip list.
    pub environment: Vec<(String, String)>,
    /// Inherited hard limits that are not infinite, by the kernel's name (`RLIMIT_NOFILE`).
    pub hard_limits: BTreeMap<String, u64>,
    /// Why the runtime that is to run the bundle would refuse control-group limits, in one sentence;
    /// then the bundle has none.
    pub no_limits_because: Option<String>,
    /// The disk of the work folder, where one can be limited; never in a bundle that travels.
    pub disk: Option<BlockDevice>,
}

/// One link on the way from a name to its canonical file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathLink {
    /// Where it is: a canonical folder and the link's name.
    pub path: PathBuf,
    /// Its literal target.
    pub target: PathBuf,
}

/// A path the policy names, as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedPath {
    /// As the policy spells it.
    pub declared: PathBuf,
    /// The canonical path; `None` when nothing is there.
    pub found: Option<PathBuf>,
    /// A folder.
    pub folder: bool,
    /// Owning user and group.
    pub owner: (u32, u32),
}

/// A block device by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Major number, never 0.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// One entry of the host's `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootEntry {
    /// Its name.
    pub name: PathBuf,
    /// What it is.
    pub kind: EntryKind,
}

/// What a directory entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A link, with its literal target.
    Link(PathBuf),
}

/// The work folder and what was found in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkFolder {
    /// Where it appears inside, and on the host: its own path.
    pub path: PathBuf,
    /// What is bound there: `path`, or a path relative to the bundle.
    pub source: PathBuf,
    /// Owner.
    pub uid: u32,
    /// Owning group.
    pub gid: u32,
    /// `filesystem.scope`, relative to `path`, links resolved beneath it; `None` is the whole folder.
    pub scope: Option<PathBuf>,
    /// The `read_only` subtrees that exist, relative to the work folder, links resolved beneath it;
    /// sorted, none beneath another.
    pub read_only: Vec<RootEntry>,
    /// The `read_only` subtrees that do not exist: nothing to bind, so nothing holds them.
    pub read_only_missing: Vec<PathBuf>,
    /// Native modules (`*.so`, `*.node`) found in writable places: they will not load.
    pub native_modules: Vec<PathBuf>,
}

/// Sources of the session's folders: absolute for a session, relative to the bundle in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFolders {
    /// `$MURMUR_RUNTIME_DIR`, read-only inside: (where it appears, what is bound).
    pub runtime: Folder,
    /// `$MURMUR_RECORDS_DIR`, read-only inside.
    pub records: Folder,
    /// `/tmp`.
    pub tmp: Folder,
    /// `$HOME`.
    pub home: Folder,
}

/// One folder of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Absolute path inside.
    pub path: PathBuf,
    /// Bind source: absolute, or relative to the bundle.
    pub source: PathBuf,
}

/// One program of `shell.allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// As `shell.allow` spells it.
    pub name: String,
    /// Where `PATH` found it, not canonical.
    pub path: Option<PathBuf>,
    /// Each canonical file that must be executable for it: itself, the interpreters of its `#!`, its loader.
    pub executables: Vec<PathBuf>,
    /// Programs it starts by itself (`cc1`, `as`, `git-core/*`, …), each with loader folded into `executables`.
    pub helpers: Vec<PathBuf>,
    /// Its transitive needed libraries, canonical, and the names they are found by.
    pub libraries: Vec<PathBuf>,
}

/// A folder that is bound executable as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFolder {
    /// The folder.
    pub path: PathBuf,
    /// Program files in it that are not allowed: bound `noexec` once more.
    pub masked_programs: Vec<PathBuf>,
}

/// A derived read grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportPath {
    /// The `shell.allow` name it was derived for.
    pub binary: String,
    /// The folder or file.
    pub path: PathBuf,
    /// A folder, which may be listed.
    pub folder: bool,
}

/// A folder or file to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPath {
    /// Where it is.
    pub path: PathBuf,
    /// A folder, which may be listed.
    pub folder: bool,
}

/// One `/etc` entry of the composed root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EtcEntry {
    /// Its name in `/etc`.
    pub name: String,
    /// The canonical file or folder that is bound.
    pub source: PathBuf,
    /// A folder.
    pub folder: bool,
}

/// Who the capsule's processes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The user id inside, and the host id behind it.
    pub uid: IdPair,
    /// The group id inside, and the host id behind it.
    pub gid: IdPair,
    /// An unused host id for container id 0, where the caller may map it.
    pub spare: Option<u32>,
    /// Writable binds of the owner's folders are idmapped: on-disk owner id → the host id above.
    pub idmapped: bool,
    /// Why the capsule is the host's own root, where it has to be; one sentence for a warning.
    pub host_root_because: Option<String>,
}

/// One id on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdPair {
    /// Inside.
    pub inside: u32,
    /// On the host.
    pub host: u32,
}
