//! The hook points that fall between clone and exec, as callbacks of the verb.

use std::path::PathBuf;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A hook point of the runtime-spec that the engine reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookPoint {
    /// `prestart`, then `createRuntime`: in the runtime's namespaces.
    CreateRuntime,
    /// `createContainer`: in the container's namespaces, before the pivot.
    CreateContainer,
    /// `startContainer`: in the container, fully confined, just before its program.
    StartContainer,
}

/// Which points have hooks; a point without one costs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookSet {
    /// `prestart` or `createRuntime` is not empty.
    pub create_runtime: bool,
    /// `createContainer` is not empty.
    pub create_container: bool,
    /// `startContainer` is not empty.
    pub start_container: bool,
}

/// Runs the hooks of a point.
pub trait HookPoints: std::fmt::Debug {
    /// Which points have hooks.
    fn wanted(&self) -> HookSet;

    /// Runs all hooks of `point`, in order, with the state of the container on their stdin.
    ///
    /// [`HookPoint::CreateRuntime`] is called in the runtime, while the child waits with its mounts
    /// made, before the pivot. The other two are called **in the forked child**: what they change in
    /// memory is lost, and the process has one thread.
    /// `pid` is init's number in the runtime's pid namespace (the state's `pid`).
    ///
    /// # Errors
    /// The first hook that failed; the container is then not created or not started.
    fn run(&mut self, point: HookPoint, pid: Pid) -> Result<(), HookFault>;
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("hook `{}` {cause}{}{output}", program.display(), if output.is_empty() { "" } else { ": " })]
pub struct HookFault {
    /// Its `path`.
    pub program: PathBuf,
    /// What happened.
    pub cause: HookCause,
    /// The end of what it wrote, on one line.
    #[serde(default)]
    pub output: String,
}

/// How a hook failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HookCause {
    /// It could not be started; the number is an errno.
    #[error("could not be started: {}", std::io::Error::from_raw_os_error(*.0))]
    NotStarted(i32),
    /// It exited with another status than 0.
    #[error("exited with {0}")]
    Exited(i32),
    /// It was ended by a signal.
    #[error("was ended by signal {0}")]
    Signaled(i32),
    /// It ran longer than its `timeout` seconds.
    #[error("did not end within {0} s")]
    TimedOut(i64),
}
