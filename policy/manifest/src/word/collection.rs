//! Lists, and mappings whose keys the writer chooses.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Reading, Word, chain};
use crate::grammar::Grammar;
use crate::raw::{NodeId, NodeValue};
use crate::reader::Reader;
use crate::scalar::Scalar;

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
