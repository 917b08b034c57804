//! Why a group could not be made, limited, paused or removed.

use std::io;
use std::path::PathBuf;

use super::device::DeviceError;
use super::layout::LayoutError;
use super::limit::LimitError;
use super::place::PlaceError;
use super::systemd::SystemdError;

/// A control group of a container could not be made or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// The host's hierarchies cannot be read.
    #[error("cannot tell the host's cgroup hierarchies")]
    Layout {
        /// Why.
        source: LayoutError,
    },
    /// `cgroupsPath` names no place.
    #[error("cannot place the container's cgroup")]
    Place {
        /// Why.
        source: PlaceError,
    },
    /// A limit has no form on this host.
    #[error("a resource limit cannot be honoured")]
    Limit {
        /// Which, and why.
        source: LimitError,
    },
    /// The host has no hierarchy, or none the caller may use, and a limit was asked for.
    #[error("resource limits are asked for and no cgroup can be made: {why}")]
    NoScope {
        /// Why none can be made, as a clause.
        why: String,
    },
    /// The group is there already and has processes.
    #[error("cgroup `{}` has processes of others", path.display())]
    NotEmpty {
        /// Its folder.
        path: PathBuf,
    },
    /// The group is there already and is frozen: nothing in it would ever run.
    #[error("cgroup `{}` is frozen", path.display())]
    Frozen {
        /// Its folder.
        path: PathBuf,
    },
    /// The path is the root of a hierarchy.
    #[error("`linux.cgroupsPath`: the root of a hierarchy, `{}`, is no container's", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
    },
    /// A folder cannot be made.
    #[error("cannot create cgroup `{}`", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A v2 controller cannot be enabled for the children of a folder.
    #[error("cannot enable controller `{controller}` in `{}`", path.display())]
    Enable {
        /// The controller.
        controller: String,
        /// The file it was written to.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The processors or memory nodes of the parent cannot be taken over.
    #[error("cannot take over the parent's value of `{}`", path.display())]
    Inherit {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A control file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A limit cannot be written.
    #[error("cannot set `linux.resources.{limit}`: writing `{value}` to `{}`", path.display())]
    Set {
        /// Key below `linux.resources`.
        limit: &'static str,
        /// The file.
        path: PathBuf,
        /// The text.
        value: String,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The limit is below what is in use, and the spec wants that checked.
    #[error("cannot set `linux.resources.{limit}` to `{value}`: `{used}` bytes are in use")]
    InUse {
        /// Key below `linux.resources`.
        limit: &'static str,
        /// The limit in bytes.
        value: i64,
        /// The usage in bytes.
        used: i64,
    },
    /// The device rules cannot be put in force.
    #[error("cannot set `linux.resources.devices`")]
    Devices {
        /// Why.
        source: DeviceError,
    },
    /// A file for joining the group cannot be opened.
    #[error("cannot open `{}`", path.display())]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The group cannot be given to the container's user.
    #[error("cannot give `{}` to user {uid}", path.display())]
    Delegate {
        /// The file.
        path: PathBuf,
        /// The host's number of the user.
        uid: u32,
        /// What the kernel answered.
        source: io::Error,
    },
    /// What is left in the group cannot be ended.
    #[error("cannot empty the cgroup")]
    Members {
        /// Why.
        source: MemberError,
    },
    /// The folder cannot be removed.
    #[error("cannot remove cgroup `{}`", path.display())]
    Remove {
        /// The folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// systemd refused.
    #[error("systemd does not keep the container's unit")]
    Systemd {
        /// Why.
        source: SystemdError,
    },
}

/// The processes of a group could not be paused, resumed, listed or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemberError {
    /// The container has no group that can do it.
    #[error("the container has no cgroup that can {action}")]
    NoGroup {
        /// As `pause it`.
        action: &'static str,
    },
    /// A control file cannot be read or written.
    #[error("cannot {action}: `{}`", path.display())]
    File {
        /// As `pause the container`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The kernel did not finish in time.
    #[error("the container is not {state} after {seconds} s")]
    TimedOut {
        /// As `frozen`.
        state: &'static str,
        /// How long was waited.
        seconds: u64,
    },
}

/// An error and its causes in one line.
pub(super) fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
