//! What a plain scalar means: the core schema of YAML 1.2.

use crate::raw::{Node, NodeValue};

/// A scalar by its meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// Nothing: an empty value, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number; `None` where it is beyond 128 bits.
    Integer(Option<i128>),
    /// Another number.
    Float(f64),
    /// Text.
    Text(&'a str),
}

/// A node's meaning, where it is a scalar.
pub(crate) fn scalar<'n>(node: &'n Node<'_>) -> Option<Scalar<'n>> {
    match &node.value {
        NodeValue::Scalar { text, plain: true } => Some(resolve(text)),
        NodeValue::Scalar { text, plain: false } => Some(Scalar::Text(text)),
        NodeValue::List(_) | NodeValue::Map(_) => None,
    }
}

/// The meaning of a plain scalar.
fn resolve(text: &str) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        _ => number(text).unwrap_or(Scalar::Text(text)),
    }
}

fn number(text: &str) -> Option<Scalar<'static>> {
    if let Some(octal) = text.strip_prefix("0o") {
        return radix(octal, 8);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return radix(hex, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let infinity = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return Some(Scalar::Float(infinity));
    }
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if unsigned.is_empty() {
        return None;
    }
    if digits(unsigned) {
        return Some(Scalar::Integer(text.parse().ok()));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let shaped = digits(whole)
        && digits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(|e| !e.is_empty() && digits(e));
    if shaped { text.parse().ok().map(Scalar::Float) } else { None }
}

fn radix(digits: &str, radix: u32) -> Option<Scalar<'static>> {
    let shaped = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    shaped.then(|| Scalar::Integer(i128::from_str_radix(digits, radix).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_the_core_schema_says() {
        for (text, meaning) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("NULL", Scalar::Null),
            ("nUll", Scalar::Text("nUll")),
            ("true", Scalar::Bool(true)),
            ("FALSE", Scalar::Bool(false)),
            ("yes", Scalar::Text("yes")),
            ("on", Scalar::Text("on")),
            ("0", Scalar::Integer(Some(0))),
            ("-17", Scalar::Integer(Some(-17))),
            ("+017", Scalar::Integer(Some(17))),
            ("0o17", Scalar::Integer(Some(15))),
            ("0x1F", Scalar::Integer(Some(31))),
            ("0x", Scalar::Text("0x")),
            ("1_000", Scalar::Text("1_000")),
            ("18446744073709551616", Scalar::Integer(Some(18_446_744_073_709_551_616))),
            ("1e3", Scalar::Float(1000.0)),
            ("1.5", Scalar::Float(1.5)),
            (".5", Scalar::Float(0.5)),
            ("5.", Scalar::Float(5.0)),
            ("-.INF", Scalar::Float(f64::NEG_INFINITY)),
            (".", Scalar::Text(".")),
            ("-", Scalar::Text("-")),
            ("1.2.3", Scalar::Text("1.2.3")),
            ("1e", Scalar::Text("1e")),
            ("inf", Scalar::Text("inf")),
            ("nan", Scalar::Text("nan")),
            ("10Mi", Scalar::Text("10Mi")),
        ] {
            assert_eq!(resolve(text), meaning, "{text}");
        }
        assert!(matches!(resolve(&"9".repeat(60)), Scalar::Integer(None)));
        assert!(matches!(resolve(".nan"), Scalar::Float(value) if value.is_nan()));
        assert!(matches!(resolve("1e999"), Scalar::Float(value) if value.is_infinite()));
    }
}
