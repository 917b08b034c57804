//! Byte sizes and durations.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// Why a text is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidQuantity {
    /// It does not begin with digits.
    #[error("`{text}` does not begin with a number")]
    NoNumber {
        /// The text as written.
        text: String,
    },
    /// What follows the number is no unit.
    #[error("`{unit}` in `{text}` is no unit")]
    Unit {
        /// The text as written.
        text: String,
        /// What follows the number.
        unit: String,
    },
    /// It is beyond 64 bits.
    #[error("`{text}` is too large: it is above {}", u64::MAX)]
    TooLarge {
        /// The text as written.
        text: String,
    },
}

/// The number and the unit of a text, trimmed.
fn split(text: &str, units: &[(&str, u64)]) -> Result<u64, InvalidQuantity> {
    let trimmed = text.trim();
    let owned = || trimmed.to_owned();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    if number.is_empty() {
        return Err(InvalidQuantity::NoNumber { text: owned() });
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(InvalidQuantity::Unit { text: owned(), unit: unit.to_owned() });
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .ok_or_else(|| InvalidQuantity::TooLarge { text: owned() })
}

/// Prints with the largest unit that leaves no rest.
fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fitting =
        units.iter().rev().find(|(_, factor)| value != 0 && value.is_multiple_of(*factor));
    let (unit, factor) = fitting.copied().unwrap_or(("", 1));
    write!(f, "{}{unit}", value / factor)
}

const SIZES: &[(&str, u64)] = &[("", 1), ("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)];
const TIMES: &[(&str, u64)] = &[("", 1), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];

/// A number of bytes, written as `4096`, `64Ki`, `10Mi` or `2Gi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// A size known in bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A size known in mebibytes, below 2⁴⁴ of them.
    pub const fn from_mib(mebibytes: u64) -> Self {
        Self(mebibytes << 20)
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Grammar for ByteSize {
    const FORM: &'static str =
        "a number of bytes with an optional unit `Ki`, `Mi` or `Gi`, as `10Mi`";
    const PATTERN: &'static str = r"^\s*[0-9]+(Ki|Mi|Gi)?\s*$";
    const NUMBERS: bool = true;
}

impl FromStr for ByteSize {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split(text, SIZES).map(Self)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, SIZES)
    }
}

text_serde!(ByteSize);

/// A number of seconds, written as `90`, `90s`, `15m`, `2h` or `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DurationSecs(u64);

impl DurationSecs {
    /// A duration known in seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds)
    }

    /// The duration in seconds.
    pub const fn seconds(self) -> u64 {
        self.0
    }
}

impl Grammar for DurationSecs {
    const FORM: &'static str =
        "a number of seconds with an optional unit `s`, `m`, `h` or `d`, as `15m`";
    const PATTERN: &'static str = r"^\s*[0-9]+[smhd]?\s*$";
    const NUMBERS: bool = true;
}

impl FromStr for DurationSecs {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split(text, TIMES).map(Self)
    }
}

impl fmt::Display for DurationSecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, TIMES)
    }
}

text_serde!(DurationSecs);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_read_and_printed_as_the_table_says() {
        for (text, bytes, printed) in [
            ("0", 0, "0"),
            ("4096", 4096, "4Ki"),
            ("64Ki", 65_536, "64Ki"),
            (" 10Mi ", 10 << 20, "10Mi"),
            ("2Gi", 2 << 30, "2Gi"),
            ("1024Mi", 1 << 30, "1Gi"),
            ("1000", 1000, "1000"),
            ("18446744073709551615", u64::MAX, "18446744073709551615"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, printed), "{text}");
        }
    }

    #[test]
    fn each_text_that_is_no_size_is_refused_for_its_own_reason() {
        for (text, message) in [
            ("", "`` does not begin with a number"),
            ("Ki", "`Ki` does not begin with a number"),
            ("-1", "`-1` does not begin with a number"),
            ("10MB", "`MB` in `10MB` is no unit"),
            ("10mi", "`mi` in `10mi` is no unit"),
            ("10 Mi", "` Mi` in `10 Mi` is no unit"),
            ("1.5Gi", "`.5Gi` in `1.5Gi` is no unit"),
            (
                "18446744073709551616",
                "`18446744073709551616` is too large: it is above 18446744073709551615",
            ),
            ("17179869184Gi", "`17179869184Gi` is too large: it is above 18446744073709551615"),
        ] {
            assert_eq!(text.parse::<ByteSize>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn each_duration_is_read_and_printed_as_the_table_says() {
        for (text, seconds, printed) in [
            ("0", 0, "0"),
            ("90", 90, "90s"),
            ("90s", 90, "90s"),
            ("15m", 900, "15m"),
            ("2h", 7200, "2h"),
            (" 7d ", 604_800, "7d"),
        ] {
            let time: DurationSecs = text.parse().unwrap();
            assert_eq!((time.seconds(), time.to_string().as_str()), (seconds, printed), "{text}");
        }
        for text in ["", "m", "5 m", "5M", "5w", "1h30m", "-5s", "213503982334602d"] {
            assert!(text.parse::<DurationSecs>().is_err(), "{text}");
        }
    }
}
