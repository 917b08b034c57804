//! Why an engine's container cannot be narrowed by a policy.

use std::path::PathBuf;

use mur_manifest::{Code, Coded};
use mur_policy::Tier;

/// Why an engine's container cannot be narrowed; the container is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NarrowError {
    /// The class on this host is below the policy's floor.
    #[error("the policy's floor cannot be met: {reason}")]
    FloorUnmet {
        /// In the words of the report.
        reason: String,
    },
    /// The tier has no mechanism a container can carry.
    #[error("tier `{tier}` has no mechanism for a container")]
    NoMechanism {
        /// What was decided.
        tier: Tier,
    },
    /// config.json lacks a section every container has.
    #[error("config.json has no `{key}`")]
    Missing {
        /// The section.
        key: &'static str,
    },
    /// The policy asks for what an image cannot be given.
    #[error("`{key}` cannot be honoured in an engine's container: {because}")]
    NotInAnImage {
        /// The manifest key.
        key: &'static str,
        /// One clause.
        because: &'static str,
    },
    /// The engine shares a namespace of the host.
    #[error("the engine shares the host's `{kind}` namespace with the container")]
    HostNamespace {
        /// Its kind.
        kind: String,
    },
    /// A granted program is not in the image.
    #[error("no program `{name}` in the image")]
    ProgramMissing {
        /// As `shell.allow` spells it.
        name: String,
    },
    /// A granted program lies in a folder that stays writable.
    #[error("program `{name}` lies in a folder the container may write: `{}`", path.display())]
    ProgramWritable {
        /// As `shell.allow` spells it.
        name: String,
        /// The file inside.
        path: PathBuf,
    },
    /// A `read_only` subtree lies where no bind can hold it.
    #[error("`{}` cannot be held read-only: it lies in no folder the engine binds", path.display())]
    ReadOnly {
        /// The place inside.
        path: PathBuf,
    },
    /// A value has no JSON form.
    #[error("cannot serialise `{what}`")]
    Serialise {
        /// Which part.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

impl Coded for NarrowError {
    fn code(&self) -> Code {
        match self {
            Self::FloorUnmet { .. } | Self::NoMechanism { .. } | Self::HostNamespace { .. } => {
                Code::ECap003
            }
            Self::Missing { .. } | Self::Serialise { .. } => Code::EBun202,
            Self::ProgramMissing { .. } => Code::ECap203,
            Self::NotInAnImage { .. } | Self::ProgramWritable { .. } | Self::ReadOnly { .. } => {
                Code::EBun206
            }
        }
    }
}
