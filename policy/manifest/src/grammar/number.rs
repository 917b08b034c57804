//! Numbers with bounds.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// A number outside its bounds.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{found} is not {bounds}")]
pub struct OutOfRange {
    /// The number as written.
    pub found: String,
    /// The bounds, in words.
    pub bounds: String,
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Bounded<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Bounded<MIN, MAX> {
    /// A number that is known to be in bounds.
    ///
    /// # Panics
    ///
    /// When it is not; in a constant that is a compile error.
    pub const fn literal(value: u64) -> Self {
        assert!(value >= MIN && value <= MAX, "a literal is within its bounds");
        Self(value)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<u64> for Bounded<MIN, MAX> {
    type Error = OutOfRange;

    fn try_from(value: u64) -> Result<Self, Self::Error> {
        if (MIN..=MAX).contains(&value) {
            Ok(Self(value))
        } else {
            Err(OutOfRange { found: value.to_string(), bounds: format!("from {MIN} to {MAX}") })
        }
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Display for Bounded<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A part of a whole: from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Fraction(f64);

impl Fraction {
    /// One tenth.
    pub const TENTH: Self = Self(0.1);

    /// The part, from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Fraction {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(OutOfRange { found: value.to_string(), bounds: "from 0 to 1".to_owned() })
        }
    }
}

/// A part of a whole that is not nothing: above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Threshold(f64);

impl Threshold {
    /// The part, above 0 and at most 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Threshold {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(OutOfRange { found: value.to_string(), bounds: "above 0 and at most 1".to_owned() })
        }
    }
}
