//! Free-form settings of artifacts, as JSON.

use std::fmt;

use serde_json::Value;

/// Settings of an artifact: whatever the manifest says, or why that cannot travel as JSON.
///
/// `Debug` shows no value: settings may hold what nobody else should read.
#[derive(Clone, PartialEq)]
pub enum ArtifactConfig {
    /// The value; a launch wants a mapping and refuses the rest (`E-CAP-010`).
    Json(Value),
    /// Something JSON has no form for; the text says what and at which key.
    NotJson(String),
}

impl fmt::Debug for ArtifactConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("Json(..)"),
            Self::NotJson(reason) => f.debug_tuple("NotJson").field(reason).finish(),
        }
    }
}
