//! Why a launch is refused, each with its code.

use std::path::PathBuf;

use mur_bundle::{NarrowError, OpenError, PlanError, WriteError};
use mur_manifest::{Code, Coded, ManifestErrors};
use mur_policy::{FloorNotMet, HostPathRefused, NetworkUnavailable, PolicyErrors};
use mur_runtime::cgroup::ScopeError;
use mur_runtime::id::InvalidContainerId;
use mur_runtime::layout::LayoutError;
use mur_runtime::verb::{ConsoleError, CreateError, ForegroundError};

use crate::capsule_of_engine::CapsuleError;

use super::dir::DirError;
use super::home::HomeError;
use super::operator::OperatorError;
use super::trace::TraceError;

/// Why nothing was staged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The manifest is not there, or closed.
    #[error("cannot read manifest `{}`", path.display())]
    ReadManifest {
        /// As it was given.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The manifest has faults.
    #[error("`{}` is not a manifest that can be run", path.display())]
    Manifest {
        /// As it was given.
        path: PathBuf,
        /// All of them.
        #[source]
        faults: ManifestErrors,
    },
    /// There is no place for the session's folders.
    #[error("no session can be kept")]
    Home(#[from] HomeError),
    /// The operator's config cannot be used.
    #[error("the operator's config cannot be used")]
    Operator(#[from] OperatorError),
    /// The manifest asks for what cannot be granted.
    #[error("the manifest asks for what cannot be granted")]
    Policy(#[from] PolicyErrors),
    /// The work folder cannot be used.
    #[error("cannot use work folder `{}`", path.display())]
    Workdir {
        /// As it was given.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// There is nothing to run.
    #[error("there is nothing to run: no command after `--`, and the manifest has no `process:`")]
    NoCommand,
    /// The program is not granted.
    #[error("program `{program}` is not one that `capabilities.shell.allow` names")]
    NotGranted {
        /// As it was given.
        program: String,
        /// What is granted.
        allowed: Vec<String>,
    },
    /// A host folder of the operator cannot be granted.
    #[error(transparent)]
    HostPath(#[from] HostPathRefused),
    /// The class on this host is below the floor.
    #[error(transparent)]
    Floor(#[from] FloorNotMet),
    /// The capsule would have the host's network.
    #[error(transparent)]
    Network(#[from] NetworkUnavailable),
    /// The host's files could not be read.
    #[error("the host's files cannot be staged")]
    Layout(#[from] LayoutError),
    /// No container can be planned.
    #[error("no container can be planned for this capsule")]
    Plan(#[from] PlanError),
}

impl Coded for PrepareError {
    fn code(&self) -> Code {
        match self {
            Self::ReadManifest { source, .. } => io_code(source),
            Self::Manifest { faults, .. } => faults.code(),
            Self::Home(error) => error.code(),
            Self::Operator(error) => error.code(),
            Self::Policy(error) => error.code(),
            Self::Workdir { .. } => Code::ECap204,
            Self::NoCommand => Code::ECap208,
            Self::NotGranted { .. } => Code::ECap201,
            Self::HostPath(error) => error.code(),
            Self::Floor(error) => error.code(),
            Self::Network(error) => error.code(),
            Self::Layout(error) => layout_code(error),
            Self::Plan(error) => error.code(),
        }
    }

    fn fix(&self) -> Option<String> {
        match self {
            Self::Manifest { faults, .. } => faults.fix(),
            Self::Policy(error) => error.fix(),
            Self::Operator(error) => error.fix(),
            Self::Floor(error) => error.fix(),
            Self::Network(error) => error.fix(),
            Self::NotGranted { program, allowed } => Some(format!(
                "run one of `{}`, or add `{program}` to `capabilities.shell.allow`",
                allowed.join("`, `")
            )),
            Self::ReadManifest { .. }
            | Self::Home(_)
            | Self::HostPath(_)
            | Self::Workdir { .. }
            | Self::NoCommand
            | Self::Layout(_)
            | Self::Plan(_) => None,
        }
    }
}

/// Why a bundle was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// Nothing was decided.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The writer failed.
    #[error("cannot write the bundle")]
    Write(#[from] WriteError),
    /// The report could not be serialised.
    #[error("cannot serialise the report")]
    Report(#[from] serde_json::Error),
}

impl Coded for BundleError {
    fn code(&self) -> Code {
        match self {
            Self::Prepare(error) => error.code(),
            Self::Write(error) => error.code(),
            Self::Report(_) => Code::EIo003,
        }
    }

    fn fix(&self) -> Option<String> {
        match self {
            Self::Prepare(error) => error.fix(),
            Self::Write(_) | Self::Report(_) => None,
        }
    }
}

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Nothing was decided.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The session's folders could not be made.
    #[error("cannot stage the session's folders")]
    Folders(#[from] DirError),
    /// The session's root could not be written.
    #[error("cannot stage the session's root")]
    Write(#[from] WriteError),
    /// No control group could be made.
    #[error("no cgroup scope could be made for `{capsule}`")]
    Scope {
        /// The capsule.
        capsule: String,
        /// What failed.
        #[source]
        source: ScopeError,
    },
    /// The session's name is no name of a container, which its form rules out.
    #[error("the session cannot be a container")]
    Name(#[from] InvalidContainerId),
    /// The container could not be created or started.
    #[error("cannot start the capsule")]
    Create(#[from] CreateError),
    /// A terminal was asked for and cannot be had.
    #[error("cannot give the capsule a terminal")]
    Console(#[from] ConsoleError),
    /// The command could not be waited for.
    #[error("cannot stay with the command")]
    Foreground(#[from] ForegroundError),
    /// The trace could not be written.
    #[error("the session cannot be recorded")]
    Trace(#[from] TraceError),
}

impl Coded for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Prepare(error) => error.code(),
            Self::Folders(error) => io_code(&error.source.into()),
            Self::Write(_) => Code::EIo003,
            Self::Scope { .. } => Code::ERun012,
            Self::Trace(error) => error.code(),
            Self::Name(_) | Self::Create(_) | Self::Console(_) | Self::Foreground(_) => {
                Code::ERun200
            }
        }
    }

    fn fix(&self) -> Option<String> {
        if let Self::Prepare(error) = self { error.fix() } else { None }
    }
}

/// The code of an error of this crate, of the bundle's or the policy's.
pub fn coded<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a dyn Coded> {
    fn of<'a, E: Coded + 'static>(
        error: &'a (dyn std::error::Error + 'static),
    ) -> Option<&'a dyn Coded> {
        error.downcast_ref::<E>().map(|own| own as &dyn Coded)
    }
    of::<RunError>(error)
        .or_else(|| of::<BundleError>(error))
        .or_else(|| of::<PrepareError>(error))
        .or_else(|| of::<PlanError>(error))
        .or_else(|| of::<NarrowError>(error))
        .or_else(|| of::<OpenError>(error))
        .or_else(|| of::<PolicyErrors>(error))
        .or_else(|| of::<ManifestErrors>(error))
        .or_else(|| of::<CapsuleError>(error))
}

pub(crate) fn io_code(error: &std::io::Error) -> Code {
    if error.kind() == std::io::ErrorKind::NotFound {
        Code::EIo001
    } else if error.kind() == std::io::ErrorKind::PermissionDenied {
        Code::EIo002
    } else {
        Code::EIo003
    }
}

fn layout_code(error: &LayoutError) -> Code {
    if matches!(error, LayoutError::WorkFolder { .. }) {
        Code::ECap204
    } else if matches!(error, LayoutError::Scope { .. }) {
        Code::ECap002
    } else if matches!(error, LayoutError::ReadOnly { .. }) {
        Code::ECap012
    } else {
        Code::EIo003
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_says_whether_it_is_absent_closed_or_broken() {
        for (kind, code) in [
            (ErrorKind::NotFound, Code::EIo001),
            (ErrorKind::PermissionDenied, Code::EIo002),
            (ErrorKind::IsADirectory, Code::EIo003),
        ] {
            let error = PrepareError::ReadManifest {
                path: "murmur.yaml".into(),
                source: Error::from(kind),
            };
            assert_eq!(error.code(), code, "{error}");
        }
    }

    #[test]
    fn what_keeps_a_capsule_from_its_start_has_its_code() {
        let gone = || Error::from(ErrorKind::NotFound);
        let workdir = PrepareError::Workdir { path: "/srv/x".into(), source: gone() };
        assert_eq!(workdir.code(), Code::ECap204);
        assert_eq!(PrepareError::Home(HomeError::Unset).code(), Code::EIo004);
        let scope = LayoutError::Scope { path: "src".into(), source: gone() };
        assert_eq!(PrepareError::Layout(scope).code(), Code::ECap002);
    }
}
