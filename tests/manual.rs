//! `docs/manifest.md` agrees with the language: its tables are rendered from the schema, its examples are manifests.
//!
//! `UPDATE_DOCS=1 cargo test --test manual` writes the tables anew. The page's commands are run by `cmd.rs`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use mur_manifest::Code;
use mur_policy::{Language, review};
use serde_json::Value;

/// The page, from the root of the repository.
const PAGE: &str = "docs/manifest.md";

/// Marks of a region and its end; what is between them is rendered.
const KEYS: &str = "<!-- keys: ";
const RETIRED: &str = "<!-- retired -->";
const CODES: &str = "<!-- codes -->";
const END: &str = "<!-- end -->";

/// The shape of the whole document, as the page calls it.
const DOCUMENT: &str = "murmur.yaml";

/// Has the shape of `capabilities`, and no tables of its own.
const SAME_SHAPE: &str = "artifacts[].capabilities";

/// What `mur check` can say of a manifest that reads as YAML or does not.
const CODES_OF_MANIFESTS: &[Code] = &[
    Code::EMan001,
    Code::EMan002,
    Code::EMan003,
    Code::ECap001,
    Code::ECap002,
    Code::ECap004,
    Code::ECap008,
    Code::ECap009,
    Code::ECap010,
    Code::ECap011,
    Code::ECap012,
    Code::ECap013,
    Code::ECap016,
    Code::ECap018,
    Code::ECap020,
    Code::ECap200,
    Code::ECap201,
    Code::ECap202,
    Code::ECap207,
    Code::WSec006,
    Code::WSec007,
    Code::WSec008,
    Code::WSec009,
    Code::WSec011,
    Code::WSec014,
    Code::WSec016,
    Code::WSec019,
    Code::WSec024,
    Code::WSec025,
    Code::WSec030,
    Code::WSec202,
];

fn page_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(PAGE)
}

fn page() -> String {
    std::fs::read_to_string(page_path()).unwrap()
}

/// A key of the language.
struct Key {
    /// Its dotted path.
    path: String,
    /// Its schema; `false` where the key is refused.
    schema: Value,
    /// Whether its block needs it.
    required: bool,
}

/// Every key, in the order of the tables; blocks before the keys in them.
fn keys() -> Vec<Key> {
    let mut found = Vec::new();
    collect("", &mur_manifest::schema(), &mut found);
    found
}

fn collect(path: &str, schema: &Value, found: &mut Vec<Key>) {
    if path == SAME_SHAPE {
        return;
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let required = required.contains(&key.as_str());
        found.push(Key { path: path.clone(), schema: inner.clone(), required });
        collect(&path, inner, found);
    }
    if schema["items"].is_object() {
        collect(&format!("{path}[]"), &schema["items"], found);
    }
    if schema["additionalProperties"].is_object() {
        collect(&format!("{path}.<name>"), &schema["additionalProperties"], found);
    }
}

/// The words for what a key accepts.
fn value(schema: &Value) -> String {
    let words = |list: &[Value]| {
        let words = list.iter().filter_map(Value::as_str).map(|word| format!("`{word}`"));
        words.collect::<Vec<_>>().join(", ")
    };
    if let Some(list) = schema["enum"].as_array() {
        return words(list);
    }
    let one = schema["type"].as_str();
    let several = schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let types: Vec<&str> = one.into_iter().chain(several).collect();
    if types.contains(&"string") && types.contains(&"integer") {
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        return if pattern.contains("Ki") { "size" } else { "duration" }.to_owned();
    }
    match types[0] {
        "string" => "text".to_owned(),
        "boolean" => "`true`, `false`".to_owned(),
        "integer" => numbers("whole number", schema),
        "number" => numbers("number", schema),
        "array" => list_of(&schema["items"]),
        "object" if schema["properties"].is_object() => "block".to_owned(),
        "object" => "mapping".to_owned(),
        other => panic!("no words for `{other}`"),
    }
}

fn numbers(kind: &str, schema: &Value) -> String {
    let above = schema["exclusiveMinimum"].as_f64().map(|n| format!(" above {n}"));
    let least = schema["minimum"].as_f64().filter(|n| *n > 0.0).map(|n| format!(" from {n}"));
    let most = schema["maximum"].as_f64().filter(|n| *n < 4e9).map(|n| format!(" to {n}"));
    let parts = [above, least, most].into_iter().flatten().collect::<String>();
    format!("{kind}{parts}")
}

fn list_of(items: &Value) -> String {
    match value(items).as_str() {
        "text" => "list of text".to_owned(),
        "block" => "list of blocks".to_owned(),
        words => format!("list of {words}"),
    }
}

/// The words for what holds without a key.
fn default(key: &Key) -> String {
    let default = &key.schema["default"];
    if key.required {
        "required".to_owned()
    } else if let Some(text) = default.as_str() {
        format!("`{text}`")
    } else if default.is_null() || *default == serde_json::json!({}) {
        "–".to_owned()
    } else {
        format!("`{default}`")
    }
}

/// The table of the keys below a block that no region below it has.
fn table(block: &str, regions: &BTreeSet<String>, keys: &[Key]) -> String {
    let below = |path: &str, block: &str| {
        block == DOCUMENT || path.strip_prefix(block).is_some_and(|rest| rest.starts_with('.'))
    };
    let nearest = |path: &str| {
        let holds = regions.iter().filter(|region| below(path, region));
        holds.max_by_key(|region| if *region == DOCUMENT { 0 } else { region.len() }).cloned()
    };
    let mut text = String::from("\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
    for key in keys.iter().filter(|key| nearest(&key.path).as_deref() == Some(block)) {
        if !key.schema.is_object() {
            continue;
        }
        let name = key.path.strip_prefix(block).map_or(key.path.as_str(), |rest| &rest[1..]);
        let meaning = key.schema["description"].as_str().unwrap_or_default().replace('|', "\\|");
        let (value, default) = (value(&key.schema), default(key));
        writeln!(text, "| `{name}` | {value} | {default} | {meaning} |").unwrap();
    }
    text + "\n"
}

/// The table of keys that are refused, with what the parser says of each.
fn retired(keys: &[Key]) -> String {
    let mut text = String::from("\n| Key | Instead |\n|---|---|\n");
    for key in keys.iter().filter(|key| key.schema == Value::Bool(false)) {
        let yaml = match key.path.split_once('.') {
            None => format!("{}: x\n", key.path),
            Some((block, key)) => format!("{block}:\n  {key}: x\n"),
        };
        let found = review(Language::Manifest, yaml.as_bytes());
        let finding = found.findings.iter().find(|finding| finding.at.path == key.path).unwrap();
        let instead = finding.message.strip_prefix("the key is refused: ").unwrap();
        writeln!(text, "| `{}` | {instead} |", key.path).unwrap();
    }
    text + "\n"
}

fn codes() -> String {
    let mut text = String::from("\n| Code | Says | Fix |\n|---|---|---|\n");
    for code in CODES_OF_MANIFESTS {
        let info = code.info();
        writeln!(text, "| `{code}` | {} | {} |", info.title, info.fix).unwrap();
    }
    text + "\n"
}

/// The blocks that have a region, as the page has them.
fn regions(page: &str) -> Vec<String> {
    let marks = page.lines().filter_map(|line| line.strip_prefix(KEYS)?.strip_suffix(" -->"));
    marks.map(str::to_owned).collect()
}

/// The page with each region rendered.
fn rendered(page: &str) -> String {
    let keys = keys();
    let regions: BTreeSet<String> = regions(page).into_iter().collect();
    let mut text = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        writeln!(text, "{line}").unwrap();
        let block = line.strip_prefix(KEYS).and_then(|rest| rest.strip_suffix(" -->"));
        let region = match (block, line) {
            (Some(block), _) => table(block, &regions, &keys),
            (None, RETIRED) => retired(&keys),
            (None, CODES) => codes(),
            (None, _) => continue,
        };
        text.push_str(&region);
        let end = lines.by_ref().find(|line| *line == END);
        writeln!(text, "{}", end.expect("each region has its end")).unwrap();
    }
    text
}

#[test]
fn the_tables_are_those_of_the_schema() {
    let page = page();
    let wanted = rendered(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page_path(), &wanted).unwrap();
        return;
    }
    assert!(page == wanted, "`{PAGE}` is stale: run with UPDATE_DOCS=1");
}

#[test]
fn each_key_stands_in_one_table() {
    let page = page();
    let keys = keys();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let accepted = keys.iter().filter(|key| key.schema.is_object()).count();
    let refused = keys.len() - accepted;
    assert!(accepted > 150 && refused >= 6, "{accepted} {refused}");
    let tables = regions(&page);
    for block in &tables {
        let is_block = block == DOCUMENT
            || keys.iter().any(|key| key.path == *block || format!("{}[]", key.path) == *block);
        assert!(is_block, "`{block}` is no block of the language");
    }
    let unique: BTreeSet<&String> = tables.iter().collect();
    assert_eq!(unique.len(), tables.len(), "a block has two tables");
    let of_codes = CODES_OF_MANIFESTS.len();
    let by_hand = rows.iter().filter(|row| row.matches(" | ").count() == 1).count() - refused;
    assert_eq!(rows.len(), accepted + refused + of_codes + by_hand);
}

#[test]
fn each_example_is_a_manifest_without_a_doubt() {
    let page = page();
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).collect();
    assert!(blocks.len() >= 6);
    for block in blocks {
        let (yaml, _) = block.split_once("```").unwrap();
        let whole = if yaml.contains("name: ")
            && yaml.contains("version: ")
            && !yaml.starts_with("artifacts")
        {
            yaml.to_owned()
        } else {
            format!("name: demo\nversion: \"1\"\n{yaml}")
        };
        let found = review(Language::Manifest, whole.as_bytes()).findings;
        // What a version cannot enforce yet is right all the same.
        let wrong: Vec<_> =
            found.iter().filter(|finding| finding.code != Some(Code::ECap200)).collect();
        assert!(wrong.is_empty(), "{whole}\n{wrong:#?}");
    }
}

#[test]
fn the_first_example_is_the_one_that_is_checked() {
    let page = page();
    let first = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let checked = page_path().with_extension("in").join("murmur.yaml");
    assert_eq!(std::fs::read_to_string(checked).unwrap(), first);
}

#[test]
fn each_code_that_the_page_names_is_one() {
    for word in page().split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let is_code = word.starts_with("E-") || word.starts_with("W-");
        if is_code && word.len() > 2 {
            assert!(word.parse::<Code>().is_ok(), "{word}");
        }
    }
}
