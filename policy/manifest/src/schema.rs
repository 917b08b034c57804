//! JSON Schema of what is written by hand, made from the tables that read it.

use serde_json::{Map, Value, json};

use crate::manifest::Manifest;
use crate::word::Word;

/// Whether a key must be written, and what its absence means.
#[derive(Debug)]
pub(crate) enum Presence {
    /// It must be written.
    Required,
    /// It may be left out.
    Optional {
        /// Whether an empty value is the same as leaving it out.
        nullable: bool,
    },
    /// It may be left out and is then this value.
    Default {
        /// The value.
        value: Value,
        /// Whether an empty value is the same as leaving it out.
        nullable: bool,
    },
}

/// The schema of a block while its keys are added.
#[derive(Debug)]
pub(crate) struct Block {
    description: String,
    properties: Map<String, Value>,
    required: Vec<Value>,
    closed: bool,
}

impl Block {
    /// A block without keys.
    pub(crate) fn new(doc: &[&str]) -> Self {
        Self {
            description: words_of(doc),
            properties: Map::new(),
            required: Vec::new(),
            closed: false,
        }
    }

    /// Adds a key.
    pub(crate) fn key(&mut self, key: &str, doc: &[&str], schema: Value, presence: Presence) {
        let mut schema = match presence {
            Presence::Required => {
                self.required.push(json!(key));
                schema
            }
            Presence::Optional { nullable } => nullable_if(nullable, schema),
            Presence::Default { value, nullable } => {
                let mut schema = nullable_if(nullable, schema);
                schema["default"] = value;
                schema
            }
        };
        schema["description"] = json!(words_of(doc));
        self.properties.insert(key.to_owned(), schema);
    }

    /// Adds a key that is refused.
    pub(crate) fn retired(&mut self, key: &str) {
        self.properties.insert(key.to_owned(), Value::Bool(false));
    }

    /// Refuses keys that are not added.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// The schema. Keys it does not know are accepted, as the parser does, unless it is closed.
    pub(crate) fn finish(self) -> Value {
        let mut schema = json!({
            "description": self.description,
            "type": "object",
            "properties": self.properties,
        });
        if self.closed {
            schema["additionalProperties"] = Value::Bool(false);
        }
        if !self.required.is_empty() {
            schema["required"] = Value::Array(self.required);
        }
        schema
    }
}

/// Accepts an empty value as well.
fn nullable_if(nullable: bool, mut schema: Value) -> Value {
    if !nullable {
        return schema;
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push(json!("null")),
        Some(one) => *one = json!([one.take(), "null"]),
        None => {}
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

/// The lines of a documentation comment as one text.
fn words_of(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}

/// JSON Schema of a capsule manifest, draft 2020-12.
pub fn schema() -> Value {
    finish("Capsule manifest (murmur.yaml)", Manifest::schema())
}

/// A whole schema: with its draft and a title.
pub(crate) fn finish(title: &str, body: Value) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    });
    if let (Value::Object(whole), Value::Object(body)) = (&mut schema, body) {
        whole.extend(body);
    }
    schema
}
