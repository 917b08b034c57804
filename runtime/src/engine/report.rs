//! What init says between the gate and its program: nothing, or one failure.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// Why a container that was created could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct StartFailure {
    /// What was being done and why it failed, in words; init rendered it from its plan.
    pub message: String,
    /// The errno, where the kernel refused something.
    pub errno: Option<i32>,
}

/// Reads init's report until it closes: `None` means that the program runs.
///
/// # Errors
/// The report could not be read, or is not a report.
pub fn read_start_report(report: &mut impl Read) -> io::Result<Option<StartFailure>> {
    let mut bytes = Vec::new();
    report.read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&bytes)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_means_started_and_a_failure_keeps_its_words() {
        assert_eq!(read_start_report(&mut &b""[..]).unwrap(), None);
        let failure = StartFailure { message: "exec: \"a\": gone".to_owned(), errno: Some(2) };
        let bytes = serde_json::to_vec(&failure).unwrap();
        assert_eq!(read_start_report(&mut bytes.as_slice()).unwrap(), Some(failure));
        assert!(read_start_report(&mut &b"{"[..]).is_err());
    }
}
