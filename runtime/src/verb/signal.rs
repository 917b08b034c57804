//! Reads the name or number of a signal.

use std::fmt;
use std::str::FromStr;

use nix::sys::signal::Signal;

use crate::sys::signal::real_time;

/// A signal, real-time ones included; 0 only asks whether the process is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalNumber(i32);

/// A text that names no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal `{0}`")]
pub struct UnknownSignal(String);

impl SignalNumber {
    /// Asks a process to end.
    pub const TERM: Self = Self(nix::libc::SIGTERM);
    /// Ends a process.
    pub const KILL: Self = Self(nix::libc::SIGKILL);

    /// Its number on this machine.
    pub fn number(self) -> i32 {
        self.0
    }
}

impl FromStr for SignalNumber {
    type Err = UnknownSignal;

    /// Reads `15`, `TERM`, `sigterm`, `RTMIN+3` or `RTMAX-1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownSignal(text.to_owned());
        let (first, last) = real_time();
        if let Ok(number) = text.parse::<i32>() {
            return (0..=last).contains(&number).then_some(Self(number)).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        let distance = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<i32>() };
        let number = if let Some(up) = name.strip_prefix("RTMIN") {
            distance(up).map(|n| first + n)
        } else if let Some(down) = name.strip_prefix("RTMAX") {
            distance(down).map(|n| last + n)
        } else {
            let signal = Signal::from_str(&format!("SIG{name}")).map_err(|_| unknown())?;
            return Ok(Self(signal as i32));
        };
        let number = number.map_err(|_| unknown())?;
        (first..=last).contains(&number).then_some(Self(number)).ok_or_else(unknown)
    }
}

impl fmt::Display for SignalNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Signal::try_from(self.0) {
            Ok(signal) => f.write_str(signal.as_str()),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_read_in_every_way_that_callers_write_it() {
        let (first, last) = real_time();
        for (text, number) in [
            ("15", 15),
            ("TERM", 15),
            ("SIGTERM", 15),
            ("sigkill", 9),
            ("0", 0),
            ("RTMIN", first),
            ("SIGRTMIN+3", first + 3),
            ("RTMAX-1", last - 1),
            ("64", 64),
        ] {
            assert_eq!(text.parse(), Ok(SignalNumber(number)), "{text}");
        }
        for text in ["", "SIG", "NOPE", "-1", "65", "RTMIN-1", "RTMAX+1", "RTMINx"] {
            assert!(text.parse::<SignalNumber>().is_err(), "{text}");
        }
    }
}
