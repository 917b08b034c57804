//! Has systemd keep a container's group: a transient scope (or slice), delegated to us.

mod bus;
mod message;
mod property;
mod unit;

use std::io;
use std::path::PathBuf;

use property::of_resources;
pub(super) use unit::{set_properties, start, start_around_caller, stop};

/// systemd could not be asked, or refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemdError {
    /// No bus on which systemd listens.
    #[error("systemd cannot be reached: none of {} can be connected to", paths.join(", "))]
    NoBus {
        /// The sockets that were tried, quoted.
        paths: Vec<String>,
        /// What the last one answered.
        source: io::Error,
    },
    /// Talking on the bus failed.
    #[error("cannot talk to systemd on `{}`", path.display())]
    Talk {
        /// The socket.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// The bus does not accept the caller.
    #[error("the bus at `{}` refuses the caller: `{answer}`", path.display())]
    Unauthorised {
        /// The socket.
        path: PathBuf,
        /// Its answer.
        answer: String,
    },
    /// systemd answered with an error.
    #[error("systemd refuses `{method}` for `{unit}`: {message} ({name})")]
    Refused {
        /// The method called.
        method: &'static str,
        /// The unit.
        unit: String,
        /// Name of the error, as `org.freedesktop.systemd1.UnitExists`.
        name: String,
        /// Its text.
        message: String,
    },
    /// The unit's job did not end well.
    #[error("systemd's job for `{unit}` ended with `{result}`")]
    Job {
        /// The unit.
        unit: String,
        /// As `failed` or `timeout`.
        result: String,
    },
    /// The process that holds a new scope open cannot be started.
    #[error("cannot start a process to hold the scope `{unit}`")]
    Placeholder {
        /// The unit.
        unit: String,
        /// What the kernel answered.
        source: io::Error,
    },
}
