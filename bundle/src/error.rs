//! Why a bundle could not be planned, written or opened.

use std::io;
use std::path::PathBuf;

use mur_manifest::{Code, Coded};
use mur_policy::Tier;

/// Why no bundle can be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A tier without any kernel mechanism is a plain process, never a container.
    #[error("a capsule of tier `{tier}` is no container")]
    NoContainer {
        /// The tier that was decided.
        tier: Tier,
    },
    /// Without a mount namespace of its own nothing can be mounted for a capsule.
    #[error("this host gives no private mount namespace, so the capsule is no container")]
    NoMountNamespace,
    /// The capsule would be the host's root with nothing but file modes between it and the kernel's files.
    #[error("the capsule would be the host's root, and there is no Landlock to hold it")]
    HostRoot,
    /// There is nothing to run.
    #[error("the capsule has no process: neither `process.args` nor a command was given")]
    NoProcess,
    /// A name of `shell.allow` was not found on `PATH`.
    #[error("no program `{name}` on the search path")]
    ProgramMissing {
        /// As `shell.allow` spells it.
        name: String,
    },
    /// A program lies in a folder the capsule may write.
    #[error("program `{name}` lies in a folder the capsule may write: `{}`", path.display())]
    ProgramWritable {
        /// As `shell.allow` spells it.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The work folder cannot be where it is.
    #[error("`{}` cannot be a work folder: {reason}", path.display())]
    WorkFolder {
        /// The folder.
        path: PathBuf,
        /// One clause.
        reason: &'static str,
    },
    /// A tree that the capsule cannot do without is not there.
    #[error("`{key}` names `{}`, where nothing is", path.display())]
    TreeMissing {
        /// The manifest key.
        key: &'static str,
        /// As it is spelt there.
        path: PathBuf,
    },
    /// A path is not text, so a config.json cannot say it.
    #[error("`{}` is not valid UTF-8, so config.json cannot name it", path.display())]
    NotText {
        /// The path, with the odd bytes replaced.
        path: PathBuf,
    },
    /// The home folder would break `/etc/passwd`.
    #[error("home folder `{}` holds a `:` or a line break", path.display())]
    HomeName {
        /// The folder.
        path: PathBuf,
    },
    /// The processor has no name in an OCI syscall filter.
    #[error("no syscall filter can be written for processor `{arch}`")]
    Processor {
        /// As the build names it.
        arch: &'static str,
    },
    /// A value could not be turned into JSON.
    #[error("cannot serialise `{what}`")]
    Serialise {
        /// Which part.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

impl Coded for PlanError {
    fn code(&self) -> Code {
        match self {
            Self::NoContainer { .. } => Code::EBun203,
            Self::NoMountNamespace | Self::HostRoot | Self::Processor { .. } => Code::ERun207,
            Self::NoProcess => Code::ECap208,
            Self::ProgramMissing { .. } => Code::ECap203,
            Self::ProgramWritable { .. } => Code::ECap201,
            Self::WorkFolder { .. } | Self::NotText { .. } => Code::ECap204,
            Self::TreeMissing { .. } => Code::ERun014,
            Self::HomeName { .. } => Code::EIo004,
            Self::Serialise { .. } => Code::EIo003,
        }
    }
}

/// Why a bundle could not be written; nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder is there already, and a bundle never overwrites.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file, folder or link could not be made.
    #[error("cannot make `{}`", path.display())]
    Make {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder could not be given to the capsule's user.
    #[error("cannot give `{}` to user {uid}", path.display())]
    Own {
        /// What.
        path: PathBuf,
        /// The host user id.
        uid: u32,
        /// Why.
        source: io::Error,
    },
    /// config.json could not be serialised.
    #[error("cannot serialise `config.json`")]
    Serialise {
        /// Why.
        source: serde_json::Error,
    },
    /// The bundle has no archive.
    #[error("cannot archive the bundle")]
    Archive {
        /// Why.
        source: crate::ArchiveError,
    },
}

/// Why a folder is no bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder itself.
    #[error("cannot open bundle `{}`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its config.json is not there or not readable.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its config.json is no runtime-spec.
    #[error("`{}` is no OCI runtime config", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// Why, with line and column.
        source: serde_json::Error,
    },
}

impl Coded for WriteError {
    fn code(&self) -> Code {
        match self {
            Self::Exists { .. } => Code::EBun200,
            Self::Make { .. }
            | Self::Own { .. }
            | Self::Serialise { .. }
            | Self::Archive { .. } => Code::EBun201,
        }
    }
}

impl Coded for OpenError {
    fn code(&self) -> Code {
        Code::EBun202
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_without_a_plan_has_its_code() {
        let path = || PathBuf::from("/srv/x");
        let name = || "git".to_owned();
        for (error, code) in [
            (PlanError::NoContainer { tier: Tier::EnvironmentOnly }, Code::EBun203),
            (PlanError::NoMountNamespace, Code::ERun207),
            (PlanError::NoProcess, Code::ECap208),
            (PlanError::ProgramMissing { name: name() }, Code::ECap203),
            (PlanError::ProgramWritable { name: name(), path: path() }, Code::ECap201),
            (PlanError::WorkFolder { path: path(), reason: "it is `/`" }, Code::ECap204),
            (
                PlanError::TreeMissing {
                    key: "capabilities.shell.staged_runtime[0].source_path",
                    path: path(),
                },
                Code::ERun014,
            ),
            (PlanError::HomeName { path: path() }, Code::EIo004),
        ] {
            assert_eq!(error.code(), code, "{error}");
        }
    }

    #[test]
    fn a_bundle_is_never_written_over_another() {
        let path = || PathBuf::from("/srv/x");
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(WriteError::Exists { path: path() }.code(), Code::EBun200);
        assert_eq!(WriteError::Make { path: path(), source: full() }.code(), Code::EBun201);
        assert_eq!(OpenError::Read { path: path(), source: full() }.code(), Code::EBun202);
    }
}
