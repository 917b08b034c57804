//! What the root of a capsule is made of: composed of what was granted, or the host's own, entry by entry.

use std::path::{Path, PathBuf};

use mur_policy::{CapabilityPolicy, ContainmentDecision, TMP_PATH, Tier};

use crate::mounts::{Access, Bind, IdMap, devices, host_procfs, procfs};
use crate::synthetic::{self, NSSWITCH, RESOLV};
use crate::tree::{ROOTFS, Tree};
use crate::{EntryKind, Folder, GrantedPath, HostLayout, PlanError};

/// The host's folders of programs and libraries that a composed root shows, none of them executable as a whole.
pub(crate) const TREES: [&str; 7] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Entries of `/` that no root takes from the host.
const OWN: [&str; 4] = ["proc", "sys", "dev", "tmp"];

/// The five files of `/etc` that are never the host's in a composed root.
pub(crate) const SYNTHETIC: [&str; 5] =
    ["passwd", "group", "resolv.conf", "hosts", "nsswitch.conf"];

/// Everything that the shape of a root follows from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) policy: &'a CapabilityPolicy,
    pub(crate) decision: &'a ContainmentDecision,
    pub(crate) layout: &'a HostLayout,
}

/// Builds the root.
///
/// What is registered first at a path stays, so the order below is by authority: what the capsule must have, what
/// the manifest names, what was derived, and the host's trees last.
///
/// # Errors
/// A folder where it cannot be, a program in a writable folder, a tree that is not there.
pub(crate) fn compose(ground: Ground<'_>) -> Result<Tree, PlanError> {
    let mut tree = Tree::default();
    kernel_file_systems(ground, &mut tree);
    session_folders(ground, &mut tree);
    work_folder(ground, &mut tree)?;
    granted_folders(ground, &mut tree)?;
    library_folders(ground, &mut tree);
    match ground.decision.applied {
        Tier::Sealed => composed_trees(ground, &mut tree)?,
        Tier::Full | Tier::SeccompOnly | Tier::EnvironmentOnly | Tier::Unconfined => {
            host_trees(ground, &mut tree);
        }
    }
    imports(ground, &mut tree);
    executables(ground, &mut tree)?;
    for link in &ground.layout.links {
        tree.link(&link.path, &link.target);
    }
    Ok(tree)
}

/// Where the session's temporary folder appears.
pub(crate) fn temp_path(ground: Ground<'_>) -> PathBuf {
    if ground.decision.temp.is_mapped() {
        TMP_PATH.into()
    } else {
        ground.layout.folders.tmp.path.clone()
    }
}

/// The part of the work folder that commands see, on the host and inside.
pub(crate) fn visible_work(layout: &HostLayout) -> PathBuf {
    match &layout.workdir.scope {
        Some(scope) => layout.workdir.path.join(scope),
        None => layout.workdir.path.clone(),
    }
}

fn kernel_file_systems(ground: Ground<'_>, tree: &mut Tree) {
    tree.fresh(if ground.decision.private_proc { procfs() } else { host_procfs() });
    for mount in devices() {
        tree.fresh(mount);
    }
    // A runtime may give a tmpfs the mode of the folder it covers.
    tree.folder(&Path::new(ROOTFS).join("dev"), 0o555, None);
}

fn session_folders(ground: Ground<'_>, tree: &mut Tree) {
    let identity = &ground.layout.identity;
    let owner = Some((identity.uid.host, identity.gid.host));
    let folders = &ground.layout.folders;
    let mut add = |folder: &Folder, target: &Path, writable: bool| {
        let bind = Bind::tree(&folder.source);
        let (bind, mode, owner) =
            if writable { (bind.writable(None), 0o700, owner) } else { (bind, 0o755, None) };
        if folder.source.is_relative() {
            tree.folder(&folder.source, mode, owner);
        }
        tree.bind(target, bind);
    };
    add(&folders.tmp, &temp_path(ground), true);
    add(&folders.home, &folders.home.path, true);
    add(&folders.runtime, &folders.runtime.path, false);
    add(&folders.records, &folders.records.path, false);
}

fn work_folder(ground: Ground<'_>, tree: &mut Tree) -> Result<(), PlanError> {
    let work = &ground.layout.workdir;
    let refuse = |reason| Err(PlanError::WorkFolder { path: work.path.clone(), reason });
    if work.path == Path::new("/") {
        return refuse("a root folder cannot be mounted in itself");
    }
    if ["/proc", "/sys", "/dev"].iter().any(|own| work.path.starts_with(own)) {
        return refuse("it belongs to the kernel");
    }
    if ground.decision.applied == Tier::Sealed && work.path == Path::new(TMP_PATH) {
        return refuse("the session's temporary folder is mounted there");
    }
    let target = visible_work(ground.layout);
    let source = match &work.scope {
        Some(scope) => work.source.join(scope),
        None => work.source.clone(),
    };
    let id_map = work_id_map(ground.layout);
    if work.source.is_relative() {
        // The bundle's own: made for the capsule, so it is the capsule's.
        let identity = &ground.layout.identity;
        tree.folder(&work.source, 0o755, Some((identity.uid.host, identity.gid.host)));
    }
    let mut bind = Bind::tree(&source).writable(id_map);
    if ground.policy.files.workdir_exec {
        bind = bind.executable();
    }
    tree.bind(&target, bind);
    for entry in &work.read_only {
        let path = work.path.join(&entry.name);
        if !path.starts_with(&target) || path == target {
            continue;
        }
        let mut bind =
            Bind::of(&work.source.join(&entry.name), matches!(entry.kind, EntryKind::Folder));
        bind.id_map = id_map;
        // A read-only folder may hold native modules: it is one of the places nothing is written to.
        if ground.policy.files.workdir_exec || is_interpreter_runtime(ground, &path) {
            bind = bind.executable();
        }
        tree.bind(&path, bind);
    }
    if work.read_only.iter().any(|entry| work.path.join(&entry.name) == target) {
        return refuse("`filesystem.read_only` leaves nothing of `filesystem.scope` to write");
    }
    Ok(())
}

/// The idmap of what belongs to the owner of the work folder, where the capsule is somebody else.
fn work_id_map(layout: &HostLayout) -> Option<IdMap> {
    let (work, identity) = (&layout.workdir, &layout.identity);
    // A bundle's own folder is given to the capsule's user on disk.
    (identity.idmapped && work.source.is_absolute())
        .then_some(IdMap { uid: (work.uid, identity.uid.host), gid: (work.gid, identity.gid.host) })
}

fn is_interpreter_runtime(ground: Ground<'_>, path: &Path) -> bool {
    interpreter_runtimes(ground).any(|grant| {
        grant.found.as_deref().is_some_and(|found| found == path || path.starts_with(found))
    })
}

/// The `interpreter_runtime` folders as they were found.
fn interpreter_runtimes(ground: Ground<'_>) -> impl Iterator<Item = &GrantedPath> {
    let declared = ground.policy.shell.iter().flat_map(|shell| &shell.interpreter_runtime);
    declared.filter_map(move |grant| found(ground.layout, &grant.path))
}

/// What a path of the policy led to.
pub(crate) fn found<'a>(layout: &'a HostLayout, declared: &Path) -> Option<&'a GrantedPath> {
    layout.grants.iter().find(|grant| grant.declared == declared)
}

fn granted_folders(ground: Ground<'_>, tree: &mut Tree) -> Result<(), PlanError> {
    for host_path in &ground.policy.host_paths {
        let (path, grant) = existing(ground.layout, "host_paths", &host_path.path)?;
        let bind = Bind::of(path, grant.folder);
        let owned = grant.owner == (ground.layout.workdir.uid, ground.layout.workdir.gid);
        let id_map = work_id_map(ground.layout).filter(|_| owned);
        tree.bind(path, if host_path.writable { bind.writable(id_map) } else { bind });
    }
    let Some(shell) = &ground.policy.shell else { return Ok(()) };
    for staged in &shell.staged_runtime {
        let key = "capabilities.shell.staged_runtime";
        let (path, grant) = existing(ground.layout, key, &staged.source_path)?;
        tree.bind(path, Bind::of(path, grant.folder).executable());
    }
    for grant in interpreter_runtimes(ground) {
        // Below a folder that may be written only a read-only entry is executable, and that is bound already.
        if let Some(path) = grant.found.as_deref()
            && !tree.is_shown_writable(path)
        {
            tree.bind(path, Bind::of(path, grant.folder).executable());
        }
    }
    Ok(())
}

fn existing<'a>(
    layout: &'a HostLayout,
    key: &'static str,
    declared: &Path,
) -> Result<(&'a Path, &'a GrantedPath), PlanError> {
    found(layout, declared)
        .and_then(|grant| Some((grant.found.as_deref()?, grant)))
        .ok_or_else(|| PlanError::TreeMissing { key, path: declared.into() })
}

fn library_folders(ground: Ground<'_>, tree: &mut Tree) {
    for folder in &ground.layout.library_folders {
        if tree.is_shown_writable(&folder.path) {
            continue;
        }
        tree.bind(&folder.path, Bind::tree(&folder.path).executable());
        for program in &folder.masked_programs {
            tree.bind(program, Bind::file(program));
        }
    }
}

fn composed_trees(ground: Ground<'_>, tree: &mut Tree) -> Result<(), PlanError> {
    for entry in &ground.layout.root {
        if !TREES.iter().any(|name| entry.name == Path::new(name)) {
            continue;
        }
        let path = Path::new("/").join(&entry.name);
        match &entry.kind {
            EntryKind::Folder => tree.bind(&path, Bind::tree(&path)),
            EntryKind::Link(target) => tree.link(&path, target),
            EntryKind::File => {}
        }
    }
    for entry in &ground.layout.etc {
        if !SYNTHETIC.contains(&entry.name.as_str()) {
            let target = Path::new("/etc").join(&entry.name);
            tree.bind(&target, Bind::of(&entry.source, entry.folder));
        }
    }
    let etc = Path::new(ROOTFS).join("etc");
    tree.file(&etc.join("passwd"), synthetic::passwd(ground.layout)?);
    tree.file(&etc.join("group"), synthetic::group(ground.layout));
    for (name, text) in resolution(ground) {
        tree.file(&etc.join(name), text);
    }
    Ok(())
}

fn host_trees(ground: Ground<'_>, tree: &mut Tree) {
    for entry in &ground.layout.root {
        if OWN.iter().any(|name| entry.name == Path::new(name)) {
            continue;
        }
        let path = Path::new("/").join(&entry.name);
        match &entry.kind {
            EntryKind::Folder if ground.layout.closed_folders.contains(&path) => {
                tree.folder(&Path::new(ROOTFS).join(&entry.name), 0o755, None);
            }
            EntryKind::Folder => tree.bind(&path, host_bind(ground, &path, true)),
            EntryKind::File => tree.bind(&path, host_bind(ground, &path, false)),
            EntryKind::Link(target) => tree.link(&path, target),
        }
    }
    if ground.layout.workdir.scope.is_some() {
        tree.cover(&ground.layout.workdir.path);
    }
    for folder in &ground.layout.closed_folders {
        if tree.is_shown(folder) {
            tree.cover(folder);
        }
    }
    for (name, text) in resolution(ground) {
        let entry = ground.layout.etc.iter().find(|entry| entry.name == name && !entry.folder);
        if let Some(entry) = entry {
            let source = Path::new("etc").join(name);
            tree.file(&source, text);
            tree.bind(&entry.source, Bind::file(&source));
        }
    }
}

/// Read-only and `noexec` where Landlock holds as well; else as it is, but for setuid programs and devices.
fn host_bind(ground: Ground<'_>, path: &Path, folder: bool) -> Bind {
    let bind = Bind::of(path, folder);
    if ground.decision.applied == Tier::Full {
        bind
    } else {
        Bind { access: Access::AsOnHost, ..bind.executable() }
    }
}

/// The files of name resolution, by their name in `/etc`.
fn resolution(ground: Ground<'_>) -> [(&'static str, String); 3] {
    let hostname = synthetic::hostname(&ground.policy.capsule.name);
    [
        ("hosts", synthetic::hosts(&hostname)),
        ("nsswitch.conf", NSSWITCH.to_owned()),
        ("resolv.conf", RESOLV.to_owned()),
    ]
}

/// What interpreters read and the trust store, where no tree shows it yet.
fn imports(ground: Ground<'_>, tree: &mut Tree) {
    let imports = ground.layout.interpreter_imports.iter();
    let imports = imports.map(|import| (&import.path, import.folder));
    let trust = ground.layout.trust_store.iter().map(|read| (&read.path, read.folder));
    for (path, folder) in imports.chain(trust) {
        if !tree.is_shown(path) {
            tree.bind(path, Bind::of(path, folder));
        }
    }
}

/// Each file that must be executable, over the trees that are not.
fn executables(ground: Ground<'_>, tree: &mut Tree) -> Result<(), PlanError> {
    for program in &ground.layout.programs {
        if program.path.is_none() {
            return Err(PlanError::ProgramMissing { name: program.name.clone() });
        }
        let files = program.executables.iter().chain(&program.helpers).chain(&program.libraries);
        for file in files {
            if tree.is_executable(file) {
                continue;
            }
            if tree.is_shown_writable(file) {
                let name = program.name.clone();
                return Err(PlanError::ProgramWritable { name, path: file.clone() });
            }
            tree.bind(file, Bind::file(file).executable());
        }
    }
    for file in &ground.layout.libc_files {
        if !tree.is_executable(file) && !tree.is_shown_writable(file) {
            tree.bind(file, Bind::file(file).executable());
        }
    }
    Ok(())
}
