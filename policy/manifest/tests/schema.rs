//! The JSON Schemas accept what the parser accepts, and refuse a sample of what it refuses.

use regex_lite::Regex;
use serde_json::{Value, json};

/// Judges instances by a schema. Knows the keywords that our schemas use and refuses any other, so
/// that no keyword goes unjudged.
struct Judge {
    schema: Value,
}

impl Judge {
    const fn new(schema: Value) -> Self {
        Self { schema }
    }

    fn accepts(&self, instance: &Value) -> Result<(), String> {
        judge(&self.schema, instance, "")
    }
}

fn judge(schema: &Value, instance: &Value, path: &str) -> Result<(), String> {
    if let Some(accepted) = schema.as_bool() {
        return if accepted { Ok(()) } else { Err(format!("{path}: nothing is accepted")) };
    }
    let keywords = schema.as_object().expect("a schema is a boolean or an object");
    for (keyword, rule) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => is_type(rule, instance),
            "enum" => rule.as_array().expect("enum is a list").contains(instance),
            "const" => rule == instance,
            "minimum" => number(instance).is_none_or(|n| n >= number(rule).expect("a bound")),
            "maximum" => number(instance).is_none_or(|n| n <= number(rule).expect("a bound")),
            "exclusiveMinimum" => {
                number(instance).is_none_or(|n| n > number(rule).expect("a bound"))
            }
            "pattern" => matches(rule, instance),
            "required" => has_all(rule, instance),
            "items" => {
                for (index, item) in instance.as_array().into_iter().flatten().enumerate() {
                    judge(rule, item, &format!("{path}[{index}]"))?;
                }
                true
            }
            "properties" | "propertyNames" | "additionalProperties" => {
                judge_members(keywords, keyword, rule, instance, path)?;
                true
            }
            other => panic!("the keyword `{other}` is not known to this test"),
        };
        if !holds {
            return Err(format!("{path}: `{keyword}` does not hold for {instance}"));
        }
    }
    Ok(())
}

fn judge_members(
    keywords: &serde_json::Map<String, Value>,
    keyword: &str,
    rule: &Value,
    instance: &Value,
    path: &str,
) -> Result<(), String> {
    for (key, value) in instance.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        let named = keywords.get("properties").and_then(|properties| properties.get(key));
        match (keyword, named) {
            ("propertyNames", _) => judge(rule, &json!(key), &path)?,
            ("properties", Some(schema)) => judge(schema, value, &path)?,
            ("additionalProperties", None) => judge(rule, value, &path)?,
            _ => {}
        }
    }
    Ok(())
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn is_type(rule: &Value, instance: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => instance.is_null(),
        Some("boolean") => instance.is_boolean(),
        Some("integer") => instance.is_u64() || instance.is_i64(),
        Some("number") => instance.is_number(),
        Some("string") => instance.is_string(),
        Some("array") => instance.is_array(),
        Some("object") => instance.is_object(),
        other => panic!("{other:?} is no type"),
    };
    rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
}

fn matches(rule: &Value, instance: &Value) -> bool {
    let pattern = Regex::new(rule.as_str().expect("a pattern is text")).expect("it is a pattern");
    instance.as_str().is_none_or(|text| pattern.is_match(text))
}

fn has_all(rule: &Value, instance: &Value) -> bool {
    let has = |map: &serde_json::Map<String, Value>| {
        let mut keys = rule.as_array().expect("required is a list").iter();
        keys.all(|key| map.contains_key(key.as_str().expect("a key is text")))
    };
    instance.as_object().is_none_or(has)
}

/// A manifest that parses, as the JSON value that an editor would see.
fn as_json(yaml: &str) -> Value {
    mur_manifest::parse(yaml.as_bytes()).expect("the manifest is accepted");
    mur_manifest::yaml_to_json(yaml.as_bytes()).expect("a manifest is one document")
}

const ACCEPTED: &[&str] = &[
    include_str!("accepted/summariser.yaml"),
    include_str!("accepted/test-runner.yaml"),
    include_str!("accepted/sealed-build.yaml"),
    include_str!("accepted/everything.yaml"),
    include_str!("accepted/process.yaml"),
    "name: a\nversion: '1'\nexports: {files: {root: '.', mode: read-only, max_bytes: 1024}}\n",
];

#[test]
fn each_accepted_manifest_is_accepted_by_the_schema() {
    let judge = Judge::new(mur_manifest::schema());
    for yaml in ACCEPTED {
        if let Err(error) = judge.accepts(&as_json(yaml)) {
            panic!("{yaml}\n{error}");
        }
    }
}

#[test]
fn a_sample_of_what_is_refused_is_refused_by_the_schema() {
    let judge = Judge::new(mur_manifest::schema());
    let good = json!({"name": "a", "version": "1"});
    assert_eq!(judge.accepts(&good), Ok(()));
    for (pointer, value) in [
        ("name", json!(7)),
        ("version", json!(1.1)),
        ("registry", json!("x")),
        ("mur_version", Value::Null),
        ("capabilities", json!("sealed")),
        ("capabilities", json!({"containment": "strict"})),
        ("capabilities", json!({"filesystem": {"workdir_exec": "yes"}})),
        ("capabilities", json!({"filesystem": {"read_only": null}})),
        ("capabilities", json!({"shell": {}})),
        ("capabilities", json!({"shell": {"allow": ["bin/sh"]}})),
        ("capabilities", json!({"shell": {"allow": [".."]}})),
        ("capabilities", json!({"resources": {"max_processes": 0}})),
        ("capabilities", json!({"resources": {"cpu_seconds": 1.5}})),
        ("capabilities", json!({"plan": {}})),
        ("capabilities", json!({"install": {"tool": ["*/x"]}})),
        ("capabilities", json!({"spawn": {"allow": ["child"]}})),
        ("artifacts", json!([{"name": "Acme/x"}])),
        ("artifacts", json!([{"name": "a/x", "version": "1", "runtime": "wasm"}])),
        ("artifacts", json!([{"name": "a/x", "version": "1", "config": null}])),
        ("inference", json!({})),
        ("inference", json!({"driver": {"artifact": "a/b"}, "endpoint": "x"})),
        ("inference", json!({"driver": {"artifact": "a/b"}, "retry": {"max_retries": 21}})),
        ("context", json!({"seed_budget": 1.5})),
        ("context", json!({"record": true})),
        ("trace", json!({"capture": "all"})),
        ("trace", json!({"retain": {"max_sesions": 3}})),
        ("exports", json!({"files": {"root": "/out", "mode": "read-only"}})),
        ("exports", json!({"files": {"root": "out", "mode": "read-only", "max_bytes": "10MB"}})),
        ("network", json!({"internal_port": 70000})),
        ("network", json!({"authentication": {"scheme": "bearer", "credentials": {"Bob": {}}}})),
        ("process", json!({"args": "sh"})),
        ("process", json!({"args": ["sh"], "env": {"A": 1}})),
    ] {
        let mut manifest = good.clone();
        manifest[pointer] = value.clone();
        assert!(judge.accepts(&manifest).is_err(), "{pointer}: {value}");
    }
}

#[test]
fn the_operators_schema_judges_the_operators_file() {
    let judge = Judge::new(mur_manifest::operator_schema());
    for accepted in [
        json!({}),
        json!({"containment": "sealed", "credentials": {"LLM_KEY": "x"}, "spend": {"machine_tokens_per_day": 1}}),
        json!({"host_paths": [{"path": "~/.cache", "access": "read"}], "beta": {"enabled": ["x"]}}),
        json!({"registry": {"sources": [{"repo": "a/b", "token": "t"}], "index_url": "https://x"}}),
    ] {
        assert_eq!(judge.accepts(&accepted), Ok(()), "{accepted}");
    }
    for refused in [
        json!({"containment": "strict"}),
        json!({"credentials": {"lower": "x"}}),
        json!({"host_paths": [{"path": "/srv"}]}),
        json!({"host_paths": [{"path": "srv", "access": "read"}]}),
        json!({"spend": {"machine_tokens_per_day": 0}}),
    ] {
        assert!(judge.accepts(&refused).is_err(), "{refused}");
    }
}

#[test]
fn each_key_is_described_and_says_its_default() {
    let schema = mur_manifest::schema();
    let grants = &schema["properties"]["capabilities"]["properties"];
    assert_eq!(grants["filesystem"]["properties"]["workdir_exec"]["default"], json!(false));
    assert_eq!(grants["resources"]["properties"]["max_open_files"]["default"], json!(1024));
    assert_eq!(schema["required"], json!(["name", "version"]));
    assert_described(&schema, "");
}

/// Every property has a description, at every depth.
fn assert_described(schema: &Value, path: &str) {
    let Some(properties) = schema["properties"].as_object() else {
        if schema["items"].is_object() {
            assert_described(&schema["items"], path);
        }
        return;
    };
    for (key, property) in properties.iter().filter(|(_, property)| property.is_object()) {
        let path = format!("{path}.{key}");
        assert!(property["description"].as_str().is_some_and(|text| text.len() > 4), "{path}");
        assert_described(property, &path);
    }
}

#[test]
fn each_default_is_the_one_the_tables_say() {
    let schema = mur_manifest::schema();
    for (path, value) in [
        ("capabilities.filesystem.workdir_exec", json!(false)),
        ("capabilities.filesystem.read_only", json!([])),
        ("capabilities.filesystem.records", json!(false)),
        ("capabilities.network.unix_sockets", json!(false)),
        ("capabilities.install.from", json!(["stores"])),
        ("capabilities.limits.memory_bytes", json!(536_870_912)),
        ("capabilities.limits.table_elements", json!(100_000)),
        ("capabilities.limits.instances", json!(1_000)),
        ("capabilities.limits.deadline_seconds", json!(600)),
        ("capabilities.resources.max_processes", json!(128)),
        ("capabilities.resources.max_open_files", json!(1024)),
        ("capabilities.resources.max_file_size_bytes", json!(4_294_967_296_u64)),
        ("capabilities.resources.cpu_seconds", json!(3600)),
        ("capabilities.resources.memory_bytes", json!(2_147_483_648_u64)),
        ("capabilities.resources.cgroup_memory_bytes", json!(4_294_967_296_u64)),
        ("capabilities.resources.cgroup_pids_max", json!(256)),
        ("capabilities.resources.cgroup_cpu_percent", json!(200)),
        ("capabilities.resources.cgroup_io_bytes_per_sec", json!(104_857_600)),
        ("capabilities.resources.workdir_max_bytes", json!(10_737_418_240_u64)),
        ("inference.transport", json!("http")),
        ("inference.retry.max_retries", json!(6)),
        ("inference.retry.initial_delay_ms", json!(1000)),
        ("inference.retry.max_delay_ms", json!(60_000)),
        ("context.seed_budget", json!(0.1)),
        ("context.seed_overflow_margin", json!(0.1)),
        ("lifecycle.task_acceptance", json!("single")),
        ("lifecycle.after_task", json!("exit")),
        ("lifecycle.queue_depth", json!(1)),
        ("lifecycle.max_task_reopens", json!(1)),
        ("lifecycle.shell_grace_secs", json!(10)),
        ("lifecycle.delegation_deadline_secs", json!(600)),
        ("lifecycle.done_check.timeout_secs", json!(600)),
        ("trace.capture", json!("meta")),
        ("network.internal_port", json!(14159)),
        ("exports.files.max_bytes", json!("10Mi")),
        ("exports.peer_files.max_bytes", json!("10Mi")),
        ("process.terminal", json!(false)),
    ] {
        let key = path.split('.').fold(&schema, |schema, key| &schema["properties"][key]);
        assert_eq!(key["default"], value, "{path}");
    }
}
