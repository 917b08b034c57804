//! From a decision to an OCI bundle: a pure plan, and one writer. Floor 3.
//!
//! [`plan`] turns a policy, a decision and the host's layout into a [`BundlePlan`]; it touches nothing.
//! [`write`] is the only function that makes files.

mod annotation;
mod diff;
mod environment;
mod error;
#[cfg(test)]
mod fixture;
mod landlock;
mod layer;
mod layout;
mod limits;
mod mounts;
mod narrow;
mod plan;
mod root;
mod rootfs;
mod spec;
mod synthetic;
mod tree;
mod verify;
mod write;

pub use annotation::{ENV, POLICY, SCOPE_DIGEST};
pub use diff::{Change, Direction, diff};
pub use error::{OpenError, PlanError, WriteError};
pub use layer::{ArchiveError, BUNDLE_TYPE, archive};
pub use layout::{
    BlockDevice, EntryKind, EtcEntry, Folder, GrantedPath, HostLayout, IdPair, Identity,
    ImportPath, LibraryFolder, PathLink, Program, ReadPath, RootEntry, SessionFolders, WorkFolder,
};
pub use narrow::{
    ImageLayout, NarrowError, ROOT_NOEXEC_ANNOTATION, SECCOMP_ANNOTATION, narrow, narrow_process,
};
pub use plan::{BundlePlan, digest, plan};
pub use rootfs::{RootfsStep, StepKind};
pub use verify::{Fault, Finding, verify};
pub use write::{Bundle, Contents, write, write_archive};
