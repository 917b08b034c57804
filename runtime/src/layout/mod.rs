//! Reads what a bundle's plan needs to know of the host's files: programs, libraries, links, owners.

mod error;
mod request;

use mur_bundle::HostLayout;
use mur_policy::CapabilityPolicy;

pub use error::LayoutError;
pub use request::{IdentityChoice, LayoutRequest, Purpose};

/// Reads the host as one capsule sees it. Nothing is changed; interpreters are asked for their import
/// paths in plain children.
///
/// # Errors
/// The work folder, or something the policy cannot do without, is not usable. A program that is not
/// there is no error: its `path` is `None`.
pub fn read_layout(
    _policy: &CapabilityPolicy,
    request: &LayoutRequest,
) -> Result<HostLayout, LayoutError> {
    Err(LayoutError::WorkFolder {
        path: request.workdir.clone(),
        source: std::io::ErrorKind::Unsupported.into(),
    })
}
