//! Numbers with their bounds.

use std::num::{NonZeroU16, NonZeroU64};

use serde_json::{Value, json};

use super::{Reading, Word};
use crate::grammar::{Bounded, Fraction, Threshold};
use crate::raw::NodeId;
use crate::reader::Reader;
use crate::scalar::Scalar;

/// A whole number within bounds.
fn whole(reader: &mut Reader<'_>, id: NodeId, least: u64, most: u64) -> Reading<u64> {
    let form = match (least, most) {
        (0, u64::MAX) => "a whole number".to_owned(),
        (1, u64::MAX) => "a whole number above 0".to_owned(),
        (least, most) => format!("a whole number from {least} to {most}"),
    };
    match reader.scalar(id) {
        Some(Scalar::Null) => Reading::Absent,
        Some(Scalar::Integer(number)) => {
            match number.and_then(|number| u64::try_from(number).ok()) {
                Some(number) if (least..=most).contains(&number) => Reading::Value(number),
                Some(_) | None => reader.refuse_kind(id, &form),
            }
        }
        Some(Scalar::Bool(_) | Scalar::Float(_) | Scalar::Text(_)) | None => {
            reader.refuse_kind(id, &form)
        }
    }
}

/// The schema of a whole number within bounds.
fn whole_schema(least: u64, most: u64) -> Value {
    let mut schema = json!({"type": "integer", "minimum": least});
    if most < u64::MAX {
        schema["maximum"] = json!(most);
    }
    schema
}

impl Word for u64 {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        whole(reader, id, 0, Self::MAX)
    }

    fn render(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        whole_schema(0, Self::MAX)
    }
}

impl Word for u32 {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        whole(reader, id, 0, Self::MAX.into())
            .map(|number| Self::try_from(number).unwrap_or(Self::MAX))
    }

    fn render(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        whole_schema(0, Self::MAX.into())
    }
}

impl Word for NonZeroU64 {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        whole(reader, id, 1, u64::MAX).map(|number| Self::new(number).unwrap_or(Self::MIN))
    }

    fn render(&self) -> Value {
        json!(self.get())
    }

    fn schema() -> Value {
        whole_schema(1, u64::MAX)
    }
}

impl Word for NonZeroU16 {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        whole(reader, id, 1, u16::MAX.into())
            .map(|number| u16::try_from(number).ok().and_then(Self::new).unwrap_or(Self::MIN))
    }

    fn render(&self) -> Value {
        json!(self.get())
    }

    fn schema() -> Value {
        whole_schema(1, u16::MAX.into())
    }
}

impl<const MIN: u64, const MAX: u64> Word for Bounded<MIN, MAX> {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        whole(reader, id, MIN, MAX).map(Self::literal)
    }

    fn render(&self) -> Value {
        json!(self.get())
    }

    fn schema() -> Value {
        whole_schema(MIN, MAX)
    }
}

/// A number of any kind that a type accepts.
fn real<T: TryFrom<f64>>(reader: &mut Reader<'_>, id: NodeId, form: &str) -> Reading<T> {
    let number = match reader.scalar(id) {
        Some(Scalar::Null) => return Reading::Absent,
        Some(Scalar::Float(number)) => Some(number),
        Some(Scalar::Integer(Some(number @ (0 | 1)))) => Some(if number == 0 { 0.0 } else { 1.0 }),
        Some(Scalar::Integer(_) | Scalar::Bool(_) | Scalar::Text(_)) | None => None,
    };
    match number.and_then(|number| T::try_from(number).ok()) {
        Some(value) => Reading::Value(value),
        None => reader.refuse_kind(id, form),
    }
}

impl Word for Fraction {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        real(reader, id, "a number from 0 to 1")
    }

    fn render(&self) -> Value {
        json!(self.get())
    }

    fn schema() -> Value {
        json!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

impl Word for Threshold {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        real(reader, id, "a number above 0 and at most 1")
    }

    fn render(&self) -> Value {
        json!(self.get())
    }

    fn schema() -> Value {
        json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1})
    }
}
