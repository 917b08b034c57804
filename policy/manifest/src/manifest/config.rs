//! Free-form settings of artifacts, as JSON.

use std::fmt;

use serde_json::{Map, Number, Value, json};

use crate::raw::{NodeId, NodeValue};
use crate::reader::Reader;
use crate::scalar::Scalar;
use crate::word::{Reading, Word};

/// Settings of an artifact: whatever the manifest says, or why that cannot travel as JSON.
///
/// `Debug` shows no value: settings may hold what nobody else should read.
#[derive(Clone, PartialEq)]
pub enum ArtifactConfig {
    /// The value; a launch wants a mapping and refuses the rest (`E-CAP-010`).
    Json(Value),
    /// Something JSON has no form for; the text says what and at which key.
    NotJson(String),
}

impl fmt::Debug for ArtifactConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("Json(..)"),
            Self::NotJson(reason) => f.debug_tuple("NotJson").field(reason).finish(),
        }
    }
}

/// Never refused here: a launch that delivers it does.
impl Word for ArtifactConfig {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        Reading::Value(match to_json(reader, id, "") {
            Ok(value) => Self::Json(value),
            Err(reason) => Self::NotJson(reason),
        })
    }

    fn render(&self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::NotJson(_) => Value::Null,
        }
    }

    fn schema() -> Value {
        json!({"type": "object"})
    }

    const NULLABLE: bool = false;
}

/// A node as JSON; the error says what has no form there, and at which key.
pub(crate) fn to_json(reader: &Reader<'_>, id: NodeId, path: &str) -> Result<Value, String> {
    let place = |what: &str| match path {
        "" => format!("{what} cannot travel as JSON"),
        path => format!("{what} at `{path}` cannot travel as JSON"),
    };
    match &reader.node(id).value {
        NodeValue::List(items) => {
            let item = |(index, item): (usize, &NodeId)| {
                to_json(reader, *item, &format!("{path}[{index}]"))
            };
            items.iter().enumerate().map(item).collect()
        }
        NodeValue::Map(pairs) => {
            let mut map = Map::new();
            for (key, value) in pairs {
                let Some(Scalar::Text(name)) = reader.scalar(*key) else {
                    return Err(place("a key that is no text"));
                };
                let below =
                    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                map.insert(name.to_owned(), to_json(reader, *value, &below)?);
            }
            Ok(Value::Object(map))
        }
        NodeValue::Scalar { .. } => match reader.scalar(id) {
            None | Some(Scalar::Null) => Ok(Value::Null),
            Some(Scalar::Bool(value)) => Ok(Value::Bool(value)),
            Some(Scalar::Text(text)) => Ok(Value::String(text.to_owned())),
            Some(Scalar::Integer(number)) => number
                .and_then(Number::from_i128)
                .map(Value::Number)
                .ok_or_else(|| place("a number beyond 64 bits")),
            Some(Scalar::Float(number)) => Number::from_f64(number)
                .map(Value::Number)
                .ok_or_else(|| place("a number that is infinite or none")),
        },
    }
}
