//! What every verb shares: the choices before the verb, the store, the engine, the printer.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mur_runtime::cgroup::{Manager, Rights};
use mur_runtime::engine::NativeEngine;
use mur_runtime::store::Store;
use mur_runtime::verb::Group;

use crate::args::Globals;
use crate::printer::Printer;

/// Shared by the verbs.
#[derive(Debug)]
pub(crate) struct Context {
    /// The choices before the verb.
    pub(crate) globals: Globals,
    /// Standard output.
    pub(crate) out: Printer,
    /// Starts processes.
    pub(crate) engine: NativeEngine,
}

impl Context {
    pub(crate) fn new(globals: Globals) -> Self {
        Self { globals, out: Printer::new(), engine: NativeEngine }
    }

    /// Whose rights the caller has.
    pub(crate) fn rights(&self) -> Rights {
        self.globals.rootless.rights()
    }

    /// The state of containers.
    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        let root = match &self.globals.root {
            Some(root) => std::path::absolute(root)
                .with_context(|| format!("`--root`: `{}` is no path", root.display()))?,
            None => Store::default_root(self.rights())?,
        };
        Ok(Store::open(&root))
    }

    /// Control groups for a new container.
    pub(crate) fn group(&self) -> anyhow::Result<Group> {
        let manager = match (&self.globals.cgroup_manager, self.globals.systemd_cgroup) {
            (Some(word), _) => word.parse().context("`--cgroup-manager`")?,
            (None, true) => Manager::systemd_of_caller(),
            (None, false) => Manager::Cgroupfs,
        };
        Ok(Group::Managed { manager, rights: self.rights() })
    }
}

/// The absolute path of something that need not exist.
pub(crate) fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{}` is no path", path.display()))
}

/// The absolute path of a folder that must exist.
pub(crate) fn existing_folder(path: &Path) -> anyhow::Result<PathBuf> {
    let found = std::fs::canonicalize(path)
        .with_context(|| format!("cannot open the folder `{}`", path.display()))?;
    anyhow::ensure!(found.is_dir(), "`{}` is no folder", path.display());
    Ok(found)
}
