//! What the caller says about a capsule's place on the host.

use std::ffi::OsString;
use std::path::PathBuf;

use mur_bundle::SessionFolders;
use mur_policy::Caller;

use crate::layout::Cache;

/// Where a capsule runs, for whom, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRequest {
    /// The work folder as it was given; may be relative or lead through links.
    pub workdir: PathBuf,
    /// Whether it is there.
    pub workdir_state: WorkdirState,
    /// The session's folders. Absolute sources must exist when [`crate::layout::read_layout`] is called.
    pub folders: SessionFolders,
    /// `PATH`, as the command will see it.
    pub search_path: OsString,
    /// Every variable of the caller; those a command may get are picked from it.
    pub environment: Vec<(String, String)>,
    /// Who calls.
    pub caller: Caller,
    /// How the capsule's user is chosen.
    pub identity: IdentityChoice,
    /// What the layout is read for.
    pub purpose: Purpose,
    /// Where readings are kept between launches; `None` reads everything.
    pub cache: Option<Cache>,
}

/// Whether a work folder is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WorkdirState {
    /// It is, and is read.
    #[default]
    Existing,
    /// The session makes it: it will be empty, and the caller's own.
    New,
}

/// How the capsule's user is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IdentityChoice {
    /// The owner of the work folder, or an unused id; an ordinary user stays itself.
    #[default]
    Natural,
    /// Container user 0 is the caller: what runc takes of an ordinary user (`--for runc`).
    ContainerRoot,
}

/// What a layout is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A session that starts now: values of granted variables and the disk are read as well.
    Session,
    /// A bundle that travels: no value of a granted variable, no device number.
    Bundle,
}
