//! What the caller chooses about a start, beyond the config.json.

use serde::{Deserialize, Serialize};

use super::namespace::Joined;

/// Choices of the command line and of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecOptions {
    /// How the new root is entered (`--no-pivot`).
    pub root_entry: RootEntry,
    /// The session keyring (`--no-new-keyring`).
    pub keyring: SessionKeyring,
    /// Who is pid 1 of the container.
    pub holder: Holder,
    /// Namespaces entered before any is made, so that a container with a new user namespace has no
    /// power over them; the kinds in here are left out of `linux.namespaces`.
    pub outer: Vec<Joined>,
    /// What becomes of the container when whoever starts it ends.
    pub orphan: Orphan,
    /// How many sockets were passed by `LISTEN_FDS`; the program is told of as many.
    /// They count as well in [`crate::engine::Seat::preserve_fds`].
    pub listen_fds: u32,
}

/// What becomes of a container when the process that started it ends, by any means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Orphan {
    /// It lives on, as the runtime-spec says.
    #[default]
    LivesOn,
    /// The kernel kills its first process, and with that all of them (`PR_SET_PDEATHSIG`).
    Killed,
}

/// How the new root is entered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootEntry {
    /// `pivot_root`, the old root detached.
    #[default]
    Pivot,
    /// Move the root mount over `/` and `chroot`, where the host's root cannot be pivoted (initramfs).
    Chroot,
}

/// The session keyring of the process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionKeyring {
    /// The caller's.
    #[default]
    Inherited,
    /// A new one of this name, as `_ses.<id>`; kernels without keyrings are fine.
    New(String),
}

/// Who is pid 1 of a container with its own pid namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holder {
    /// The program itself, as the runtime-spec says.
    #[default]
    Program,
    /// A reaper of ours, confined like the program: forwards signals, reaps orphans, exits as it does.
    Reaper,
}
