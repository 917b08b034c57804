//! Values to YAML, in one canonical form: block style, text quoted where a reader could doubt it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::manifest::Manifest;
use crate::text::is_unseen;
use crate::word::Word;

/// A manifest as YAML: keys in the order of the tables, defaults left out.
///
/// Parsing the text gives the same manifest again. Literal keys of gateways are in the text.
pub fn render(manifest: &Manifest) -> String {
    json_to_yaml(&manifest.render())
}

/// A JSON value as a YAML document.
pub fn json_to_yaml(value: &Value) -> String {
    let mut yaml = String::new();
    block(&mut yaml, value, 0);
    yaml
}

/// Writes a value that begins on a line of its own, `depth` levels in.
fn block(yaml: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                indent(yaml, depth);
                text(yaml, key);
                yaml.push(':');
                below(yaml, value, depth);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                indent(yaml, depth);
                yaml.push('-');
                below(yaml, item, depth);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            indent(yaml, depth);
            inline(yaml, value);
            yaml.push('\n');
        }
    }
}

/// Writes a value after its key or dash: on the same line where it has one line.
fn below(yaml: &mut String, value: &Value, depth: usize) {
    let nested = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if nested {
        yaml.push('\n');
        block(yaml, value, depth + 1);
    } else {
        yaml.push(' ');
        inline(yaml, value);
        yaml.push('\n');
    }
}

fn indent(yaml: &mut String, depth: usize) {
    for _ in 0..depth {
        yaml.push_str("  ");
    }
}

/// Writes a value that has one line.
fn inline(yaml: &mut String, value: &Value) {
    match value {
        Value::Null => yaml.push_str("null"),
        Value::Bool(value) => yaml.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => yaml.push_str(&number.to_string()),
        Value::String(value) => text(yaml, value),
        Value::Array(_) => yaml.push_str("[]"),
        Value::Object(_) => yaml.push_str("{}"),
    }
}

/// Writes text: plain where it can be nothing else, in double quotes otherwise.
fn text(yaml: &mut String, text: &str) {
    if is_plain(text) {
        yaml.push_str(text);
        return;
    }
    yaml.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => yaml.extend(['\\', c]),
            '\n' => yaml.push_str("\\n"),
            '\t' => yaml.push_str("\\t"),
            '\r' => yaml.push_str("\\r"),
            c if is_unseen(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{A0}') => {
                let _ = write!(yaml, "\\u{:04X}", u32::from(c));
            }
            c => yaml.push(c),
        }
    }
    yaml.push('"');
}

/// Whether text means itself in every version of YAML.
fn is_plain(text: &str) -> bool {
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./+@".contains(&b))
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_is_rendered_in_block_style() {
        let value = json!({
            "name": "demo", "version": "1.0", "on": true, "none": null, "list": ["a", ["b"], {}],
            "map": {"k": [], "two words": "a: b"}, "text": "x\n\u{85}\"\\",
            "items": [{"a": 1, "b": {"c": 2.5}}],
        });
        let yaml = "name: demo\nversion: \"1.0\"\n\"on\": true\nnone: null\nlist:\n  - a\n  -\n    - b\n  - {}\n\
                    map:\n  k: []\n  \"two words\": \"a: b\"\ntext: \"x\\n\\u0085\\\"\\\\\"\n\
                    items:\n  -\n    a: 1\n    b:\n      c: 2.5\n";
        assert_eq!(json_to_yaml(&value), yaml);
    }
}
