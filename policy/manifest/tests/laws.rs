//! Laws over arbitrary input: rendering is undone by reading, and no bytes make the reader panic.

use mur_manifest::{parse, yaml_to_json};
use proptest::prelude::*;
use serde_json::Value;

/// Any JSON value.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON numbers are finite", |number| number.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ \\-#:?,\\[\\]{}&*!|>'\"%@`a0\\n\\t~.]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[ -~]{0,6}|\\PC{0,4}", inner, 0..5)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Text that looks like YAML.
fn yaml_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("name: a\n"),
        Just("version: '1'\n"),
        Just("capabilities:\n"),
        Just("  shell:\n"),
        Just("    allow: [a, b]\n"),
        Just("- "),
        Just("  "),
        Just("\t"),
        Just("\n"),
        Just("\r\n"),
        Just("&a "),
        Just("*a"),
        Just("? "),
        Just(": "),
        Just("["),
        Just("]"),
        Just("{"),
        Just("}"),
        Just(", "),
        Just("'"),
        Just("\""),
        Just("|\n"),
        Just(">-\n"),
        Just("#"),
        Just("---\n"),
        Just("...\n"),
        Just("!!str "),
        Just("%YAML 1.2\n"),
        Just("<<: "),
        Just("~"),
        Just("\u{feff}"),
        Just("é"),
        Just("0x1F"),
        Just("\\"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_undoes_rendering_for_any_value(value in values()) {
        let yaml = mur_manifest::json_to_yaml(&value);
        match yaml_to_json(yaml.as_bytes()) {
            Ok(again) => prop_assert_eq!(again, value, "{}", yaml),
            Err(errors) => prop_assert!(false, "{}\n{}", errors, yaml),
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(yaml in yaml_like()) {
        if let Err(errors) = parse(yaml.as_bytes()) {
            prop_assert!(!errors.faults().is_empty());
            for fault in errors.faults() {
                prop_assert!(fault.at.line >= 1 && fault.at.column >= 1, "{}", fault);
            }
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }
}
