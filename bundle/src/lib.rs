//! From a decision to an OCI bundle: a pure plan, and one writer. Floor 3.
//!
//! [`plan`] turns a policy, a decision and the host's layout into a [`BundlePlan`]; it touches nothing.
//! [`write()`] and [`write_archive`] are the only functions that make files. [`diff`] and [`verify`] judge what there is.
//!
//! ```
//! use mur_bundle::{BundlePlan, HostLayout, PlanError, plan};
//! use mur_policy::{CapabilityPolicy, ContainmentDecision};
//!
//! /// What a change of the manifest means, in one line each.
//! fn review(
//!     before: &CapabilityPolicy,
//!     after: &CapabilityPolicy,
//!     decision: &ContainmentDecision,
//!     layout: &HostLayout,
//! ) -> Result<Vec<String>, PlanError> {
//!     let (before, after) = (plan(before, decision, layout)?, plan(after, decision, layout)?);
//!     let changes = mur_bundle::diff(before.spec(), after.spec());
//!     Ok(changes.iter().map(|change| format!("{}: {}", change.direction, change.what)).collect())
//! }
//! ```

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
