//! Secrets of the operator, and the names they are called by.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// A text that cannot name a secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` cannot name a credential")]
pub struct InvalidSecretName(pub String);

/// The name of an operator's credential, as `LLM_KEY`; `${LLM_KEY}` in a manifest asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

impl SecretName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for SecretName {
    const FORM: &'static str =
        "a name of `A-Z`, `0-9` and `_` that begins with no digit, as `LLM_KEY`";
    const PATTERN: &'static str = r"^\s*[A-Z_][A-Z0-9_]*\s*$";
}

impl FromStr for SecretName {
    type Err = InvalidSecretName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim();
        let known = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        let begins = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        if begins && name.bytes().all(known) {
            Ok(Self(name.to_owned()))
        } else {
            Err(InvalidSecretName(name.to_owned()))
        }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(SecretName);

/// A secret that is blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the secret is blank")]
pub struct BlankSecret;

/// A secret. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself, for the one place that hands it over.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Grammar for Secret {
    const FORM: &'static str = "text in quotes";
    const PATTERN: &'static str = r"\S";
    const SECRET: bool = true;

    fn written(&self) -> String {
        self.0.clone()
    }
}

impl FromStr for Secret {
    type Err = BlankSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() { Err(BlankSecret) } else { Ok(Self(text.to_owned())) }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}
