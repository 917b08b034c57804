//! The scalar grammars: one type each, made from text and printed in one canonical form.

mod digest;
mod environment;
mod install;
mod name;
mod network;
mod number;
mod path;
mod quantity;
mod secret;
mod upstream;

pub use digest::{InvalidDigest, InvalidPlatform, PlatformTag, Sha256Hex};
pub use environment::{EnvName, EnvPattern, EnvPatternSet, InvalidEnvName, InvalidEnvPattern};
pub use install::{InstallPattern, InvalidInstallPattern};
pub use name::{
    AlternateName, ArtifactName, BareName, BinaryName, CredentialName, DeclaredName, InvalidName,
};
pub use network::{
    Host, InvalidHost, InvalidNetworkEntry, NetworkAllowRule, NetworkRequest, Scheme,
    listening_ports,
};
pub use number::{Bounded, Fraction, OutOfRange, Threshold};
pub use path::{AbsolutePath, HostPath, InvalidPath, PackagePath, PathRule};
pub use quantity::{ByteSize, DurationSecs, InvalidQuantity};
pub use secret::{BlankSecret, InvalidSecretName, Secret, SecretName};
pub use upstream::{GatewayEndpoint, GatewayKey, InvalidEndpoint, InvalidKey};

use thiserror::Error;

/// A grammar of text: what is accepted, in words and as a pattern.
pub trait Grammar: std::str::FromStr + std::fmt::Display {
    /// The accepted form, as the end of a sentence that starts with "write".
    const FORM: &'static str;
    /// A regular expression (ECMA 262) that every accepted text matches; for JSON Schema.
    const PATTERN: &'static str;
    /// Whether messages must not repeat what was written.
    const SECRET: bool = false;
    /// Whether a YAML number is accepted as its text.
    const NUMBERS: bool = false;

    /// The text that reads back as this value; differs from what is displayed for secrets alone.
    fn written(&self) -> String {
        self.to_string()
    }
}

/// A word that is none of the few a key accepts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is not {}", choice_of(known))]
pub struct UnknownWord {
    /// The word as written.
    pub found: String,
    /// The words that are accepted.
    pub known: &'static [&'static str],
}

/// `a`, `b` or `c`, as a part of a sentence.
pub(crate) fn choice_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

/// Serialises a type as the text it displays, and reads it back through its grammar.
macro_rules! text_serde {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use text_serde;
