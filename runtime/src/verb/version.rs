//! Decides which `ociVersion` of a config this runtime reads.

/// A version of the runtime-spec that is none, or not one of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`ociVersion`: `{found}` is not a version 1 of the runtime specification")]
pub struct InvalidVersion {
    /// The text as given; empty where the key is missing.
    pub found: String,
}

/// Accepts every version 1, newer minor numbers too: they only add keys.
pub fn check_version(text: &str) -> Result<(), InvalidVersion> {
    let refused = || InvalidVersion { found: text.to_owned() };
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let numbers: Option<Vec<u64>> = core.split('.').map(number).collect();
    match numbers.as_deref() {
        Some([1, _, _]) if !text.ends_with(['-', '+']) => Ok(()),
        Some(_) | None => Err(refused()),
    }
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_1_is_read_and_nothing_else() {
        for text in ["1.0.0", "1.0.2-dev", "1.3.0", "1.99.0", "1.2.0+build.5", "1.0.0-rc5"] {
            assert_eq!(check_version(text), Ok(()), "{text}");
        }
        for text in
            ["", "junk", "2.0.0", "0.9.0", "1", "1.0", "1.0.0.0", "1.x.0", "1.+1.0", "1.0.0-"]
        {
            assert!(check_version(text).is_err(), "{text}");
        }
    }
}
