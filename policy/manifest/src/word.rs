//! How each type of value is read, rendered and described: one trait, one place for each type.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU64};

use serde_json::{Map, Value, json};

use crate::grammar::{Bounded, Fraction, Grammar, Threshold};
use crate::location::Spanned;
use crate::raw::{NodeId, NodeValue};
use crate::reader::{Reader, shorten};
use crate::scalar::Scalar;

/// What came of reading a value.
#[derive(Debug)]
pub(crate) enum Reading<T> {
    /// It is there.
    Value(T),
    /// Nothing is written, or a blank: the key counts as not written.
    Absent,
    /// It is wrong, and the fault is noted.
    Refused,
}

impl<T> Reading<T> {
    /// The same with another value.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Value(value) => Reading::Value(convert(value)),
            Self::Absent => Reading::Absent,
            Self::Refused => Reading::Refused,
        }
    }
}

/// A type of value that a key can have.
pub(crate) trait Word: Sized {
    /// Reads it; a wrong value is noted as a fault.
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self>;

    /// Reads it exactly as it is written, blanks and all, where that differs.
    fn read_verbatim(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        Self::read(reader, id)
    }

    /// The value as JSON, which is also YAML.
    fn render(&self) -> Value;

    /// What is accepted, as JSON Schema.
    fn schema() -> Value;

    /// What stands in for a value that is missing or wrong, so that the rest of its block is checked
    /// still. It never leaves the parser: the fault is noted.
    fn stand_in() -> Option<Self> {
        None
    }

    /// Whether nothing at all is accepted, and means that the key is not written.
    const NULLABLE: bool = true;
}

/// The text of a scalar; numbers and booleans are refused, since their spelling would be lost.
fn text_of<'t, T>(reader: &mut Reader<'t>, id: NodeId, form: &str) -> Result<&'t str, Reading<T>> {
    match reader.scalar(id) {
        Some(Scalar::Text(text)) => Ok(text),
        Some(Scalar::Null) => Err(Reading::Absent),
        Some(Scalar::Bool(_) | Scalar::Integer(_) | Scalar::Float(_)) => {
            let quoted = format!("text in quotes, as `\"{}\"`", shorten(reader.text(id)));
            Err(reader.refuse_kind(id, &quoted))
        }
        None => Err(reader.refuse_kind(id, form)),
    }
}

/// Text that is not blank; blanks around it do not count.
impl Word for String {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match text_of(reader, id, "text") {
            Ok(text) if text.trim().is_empty() => Reading::Absent,
            Ok(text) => Reading::Value(text.trim().to_owned()),
            Err(reading) => reading,
        }
    }

    fn read_verbatim(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match text_of(reader, id, "text") {
            Ok(text) => Reading::Value(text.to_owned()),
            Err(reading) => reading,
        }
    }

    fn stand_in() -> Option<Self> {
        Some(Self::new())
    }

    fn render(&self) -> Value {
        Value::String(self.clone())
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

/// A value and its place; text is kept exactly as it is written.
impl<T: Word> Word for Spanned<T> {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        let at = reader.place(id);
        T::read_verbatim(reader, id).map(|value| Self { value, at })
    }

    fn render(&self) -> Value {
        self.value.render()
    }

    fn schema() -> Value {
        T::schema()
    }

    const NULLABLE: bool = T::NULLABLE;
}

/// Text in a grammar; a blank counts as not written.
impl<T: Grammar> Word for T
where
    T::Err: std::error::Error,
{
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        let text = match reader.scalar(id) {
            Some(Scalar::Integer(_)) if T::NUMBERS => reader.text(id),
            Some(Scalar::Bool(_) | Scalar::Integer(_) | Scalar::Float(_)) if T::SECRET => {
                let message = "found something other than text".to_owned();
                reader.refuse(reader.place(id), message, Some("text in quotes"));
                return Reading::Refused;
            }
            Some(_) | None => match text_of(reader, id, T::FORM) {
                Ok(text) => text,
                Err(reading) => return reading,
            },
        };
        if text.trim().is_empty() {
            return Reading::Absent;
        }
        match text.parse() {
            Ok(value) => Reading::Value(value),
            Err(error) => {
                reader.refuse(reader.place(id), chain(&error), Some(T::FORM));
                Reading::Refused
            }
        }
    }

    fn render(&self) -> Value {
        Value::String(self.written())
    }

    fn schema() -> Value {
        let types = if T::NUMBERS { json!(["string", "integer"]) } else { json!("string") };
        json!({"type": types, "pattern": T::PATTERN})
    }
}

/// An error with its causes, as one message.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}

impl Word for bool {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match reader.scalar(id) {
            Some(Scalar::Bool(value)) => Reading::Value(value),
            Some(Scalar::Null) => Reading::Absent,
            Some(Scalar::Integer(_) | Scalar::Float(_) | Scalar::Text(_)) | None => {
                reader.refuse_kind(id, "`true` or `false`")
            }
        }
    }

    fn render(&self) -> Value {
        Value::Bool(*self)
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}

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

/// A list; an element that is wrong is left out, and its fault noted.
impl<T: Word> Word for Vec<T> {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        let NodeValue::List(items) = &reader.node(id).value else {
            return reader.refuse_kind(id, "a list, as `[a, b]`, or `[]` for none");
        };
        let mut list = Self::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            reader.element(index, |reader| match T::read(reader, *item) {
                Reading::Value(value) => list.push(value),
                Reading::Refused => {}
                Reading::Absent => {
                    let at = reader.place(*item);
                    reader.refuse(at, "the entry is empty".to_owned(), None);
                }
            });
        }
        Reading::Value(list)
    }

    fn render(&self) -> Value {
        self.iter().map(Word::render).collect()
    }

    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }

    const NULLABLE: bool = false;
}

/// A mapping whose keys the writer chooses.
impl<K: Grammar + Ord, V: Word> Word for BTreeMap<K, V>
where
    K::Err: std::error::Error,
{
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        let NodeValue::Map(pairs) = &reader.node(id).value else {
            return match reader.scalar(id) {
                Some(Scalar::Null) => Reading::Absent,
                Some(_) | None => reader.refuse_kind(id, "a mapping"),
            };
        };
        let mut map = Self::new();
        for (key, value) in pairs {
            let name = reader.text(*key);
            reader.within(name, |reader| {
                let key = match name.parse::<K>() {
                    Ok(key) => key,
                    Err(error) => {
                        let message = format!("the key is wrong: {}", chain(&error));
                        return reader.refuse(reader.place(*key), message, Some(K::FORM));
                    }
                };
                match V::read(reader, *value) {
                    Reading::Value(value) => {
                        map.insert(key, value);
                    }
                    Reading::Refused => {}
                    Reading::Absent => {
                        let at = reader.place(*value);
                        reader.refuse(at, "the value is missing".to_owned(), None);
                    }
                }
            });
        }
        Reading::Value(map)
    }

    fn render(&self) -> Value {
        let entry = |(key, value): (&K, &V)| (key.written(), value.render());
        Value::Object(self.iter().map(entry).collect::<Map<String, Value>>())
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": {"pattern": K::PATTERN},
            "additionalProperties": V::schema(),
        })
    }
}

/// Reads one of a few fixed words; blanks around it do not count, a blank is none.
pub(crate) fn read_word<T: std::str::FromStr>(
    reader: &mut Reader<'_>,
    id: NodeId,
    words: &[&str],
) -> Reading<T> {
    let form = crate::grammar::choice_of(words);
    let text = match reader.scalar(id) {
        Some(Scalar::Null) => return Reading::Absent,
        Some(Scalar::Text(text)) => text.trim(),
        Some(Scalar::Bool(_) | Scalar::Integer(_) | Scalar::Float(_)) | None => {
            return reader.refuse_kind(id, &form);
        }
    };
    if text.is_empty() {
        return Reading::Absent;
    }
    match text.parse() {
        Ok(word) => Reading::Value(word),
        Err(_) => reader.refuse_kind(id, &form),
    }
}
