//! Names of sessions: `ses_` and a version 7 UUID, so that names sort by time (`spec/trace.md` §1).

use std::fmt;
use std::path::Path;

use serde::Serialize;
use uuid::Uuid;

/// One session's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// A fresh name; its first twelve digits are the time in milliseconds.
    pub fn mint() -> Self {
        Self(format!("ses_{}", Uuid::now_v7().simple()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<Path> for SessionId {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

/// Whether a text has the form of a session's name.
pub fn is_session(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix("ses_").is_some_and(|digits| digits.len() == 32 && digits.bytes().all(hex))
}

/// A fresh name of one trace record.
pub fn mint_event_id() -> String {
    format!("evt_{}", Uuid::now_v7().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_hex_and_sort_by_time() {
        let first = SessionId::mint();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = SessionId::mint();
        assert!(first < second, "{first} {second}");
        let hex = first.as_str().strip_prefix("ses_").unwrap();
        assert_eq!(hex.len(), 32);
        assert!(hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    }
}
