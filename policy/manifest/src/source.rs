//! The bytes a manifest was read from: their digest, and what is worth a warning in them.

/// What is known of the file behind a manifest.
///
/// Two are always equal: the file is not part of what the manifest says.
#[derive(Debug, Clone, Default)]
pub struct Source {
    digest: String,
}

impl Source {
    /// SHA-256 of the file, in lower-case hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl PartialEq for Source {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
