//! Why a limit has no form on a host.

use super::super::layout::Version;

/// A limit that cannot be set on this host, or not with this value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// No hierarchy that the caller may use serves the controller.
    #[error("cannot set `linux.resources.{limit}`: no `{controller}` controller is at hand")]
    NoController {
        /// Key below `linux.resources`.
        limit: &'static str,
        /// Name of the controller.
        controller: String,
    },
    /// The version of the interface has no such limit.
    #[error("cannot set `linux.resources.{limit}`: cgroup {} has no such limit", match version {
        Version::V1 => "v1",
        Version::V2 => "v2",
    })]
    NotInVersion {
        /// Key below `linux.resources`.
        limit: &'static str,
        /// The version that serves the controller here.
        version: Version,
    },
    /// The value breaks a rule.
    #[error("cannot set `linux.resources.{limit}` to `{value}`: {rule}")]
    Value {
        /// Key below `linux.resources`.
        limit: &'static str,
        /// The value as given.
        value: String,
        /// The rule, as a clause.
        rule: &'static str,
    },
}

impl LimitError {
    /// The key below `linux.resources`.
    pub fn limit(&self) -> &'static str {
        match self {
            Self::NoController { limit, .. }
            | Self::NotInVersion { limit, .. }
            | Self::Value { limit, .. } => limit,
        }
    }
}
