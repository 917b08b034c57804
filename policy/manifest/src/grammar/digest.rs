//! Hashes of artifacts, and the platforms they are for.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// A text that is no SHA-256 hash.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no SHA-256 hash")]
pub struct InvalidDigest(pub String);

/// A SHA-256 hash: 64 hexadecimal digits in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Hex(String);

impl Sha256Hex {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for Sha256Hex {
    const FORM: &'static str = "64 hexadecimal digits in lower case";
    const PATTERN: &'static str = r"^\s*[0-9a-f]{64}\s*$";
}

impl FromStr for Sha256Hex {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.trim();
        let hex = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex && digits.len() == 64 {
            Ok(Self(digits.to_owned()))
        } else {
            Err(InvalidDigest(digits.to_owned()))
        }
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(Sha256Hex);

/// A text that is no platform.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no platform")]
pub struct InvalidPlatform(pub String);

/// A platform that native programs are built for, as `linux-x86_64`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlatformTag(String);

impl PlatformTag {
    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Grammar for PlatformTag {
    const FORM: &'static str = "system and processor, as `linux-x86_64`";
    const PATTERN: &'static str = r"^\s*[a-z0-9_]+-[a-z0-9_]+\s*$";
}

impl FromStr for PlatformTag {
    type Err = InvalidPlatform;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tag = text.trim();
        let part = |part: &str| {
            let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            !part.is_empty() && part.bytes().all(known)
        };
        match tag.split_once('-') {
            Some((system, processor)) if part(system) && part(processor) => {
                Ok(Self(tag.to_owned()))
            }
            Some(_) | None => Err(InvalidPlatform(tag.to_owned())),
        }
    }
}

impl fmt::Display for PlatformTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(PlatformTag);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_platforms_have_one_form() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(hash.parse::<Sha256Hex>().unwrap().as_str(), hash);
        for text in ["", &hash[1..], &hash.to_uppercase(), &format!("{hash}0"), &"g".repeat(64)] {
            assert!(text.parse::<Sha256Hex>().is_err(), "{text}");
        }
        assert_eq!("linux-x86_64".parse::<PlatformTag>().unwrap().as_str(), "linux-x86_64");
        for text in ["", "linux", "linux-", "-x86_64", "Linux-x86_64", "linux-x86-64"] {
            assert!(text.parse::<PlatformTag>().is_err(), "{text}");
        }
    }
}
