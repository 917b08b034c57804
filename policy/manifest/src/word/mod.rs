//! How each type of value is read, rendered and described: one trait, one place for each type.

mod collection;
mod number;

use serde_json::{Value, json};

use crate::grammar::Grammar;
use crate::location::Spanned;
use crate::raw::NodeId;
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
            Err(error) => reader.refuse_text(id, &error, T::FORM),
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
