//! Renders what was found in files: as lines for people, as JSON, and as SARIF for code scanning.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mur_manifest::{Coded, Location, Severity};
use mur_policy::{Finding, Review};
use mur_shim::session::error::PrepareError;
use serde_json::{Value, json};

/// A file and what was found in it.
#[derive(Debug)]
pub(crate) struct Reviewed {
    /// As it was given; `-` is standard input.
    pub(crate) path: PathBuf,
    /// What was found.
    pub(crate) review: Review,
}

impl Reviewed {
    /// The file as it is shown.
    fn name(&self) -> String {
        if self.is_stdin() { "<stdin>".to_owned() } else { self.path.display().to_string() }
    }

    fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// What is found of a file that cannot be read.
pub(crate) fn of_unreadable(path: &Path, source: std::io::Error) -> Review {
    let message = format!("cannot be read: {source}");
    let code = PrepareError::ReadManifest { path: path.into(), source }.code();
    let finding = Finding {
        code: Some(code),
        severity: Severity::Error,
        at: Location::default(),
        message,
        fix: Some(code.info().fix.to_owned()),
    };
    Review { findings: vec![finding], omitted: 0 }
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Whether text for people has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Words alone.
    Plain,
    /// Severities stand out.
    Terminal,
}

impl Colour {
    fn paint(self, severity: Severity, text: &str) -> String {
        match (self, severity) {
            (Self::Plain, _) => text.to_owned(),
            (Self::Terminal, Severity::Error) => format!("\x1b[1;31m{text}\x1b[0m"),
            (Self::Terminal, Severity::Warning) => format!("\x1b[1;33m{text}\x1b[0m"),
        }
    }
}

/// The findings, one or two lines each, and a line that counts them.
pub(crate) fn to_text(files: &[Reviewed], colour: Colour) -> String {
    let mut text = String::new();
    for file in files {
        let name = file.name();
        for finding in &file.review.findings {
            let code = finding.code.map(|code| format!("[{code}]")).unwrap_or_default();
            let head = colour.paint(finding.severity, &format!("{}{code}", word(finding.severity)));
            let place = match finding.at.line {
                0 => name.clone(),
                line => format!("{name}:{line}:{}", finding.at.column),
            };
            let _ = writeln!(text, "{place}: {head}: {}", sentence(finding));
            if let Some(fix) = &finding.fix {
                let _ = writeln!(text, "  fix: {fix}");
            }
        }
        if file.review.omitted > 0 {
            let _ = writeln!(text, "{name}: and {} more errors", file.review.omitted);
        }
    }
    let (errors, warnings) = totals(files);
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    let _ = writeln!(text, "checked {}: {errors}, {warnings}", counted(files.len(), "file"));
    text
}

/// The key and what is the matter with it.
fn sentence(finding: &Finding) -> String {
    // A key nobody knows is named by the message itself, together with its block.
    let key = match finding.severity {
        Severity::Error => mur_manifest::visible(&finding.at.path),
        Severity::Warning => "".into(),
    };
    if key.is_empty() { finding.message.clone() } else { format!("{key}: {}", finding.message) }
}

fn counted(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

/// Errors and warnings of all files.
pub(crate) fn totals(files: &[Reviewed]) -> (usize, usize) {
    let sum = |of: fn(&Review) -> usize| files.iter().map(|file| of(&file.review)).sum();
    (sum(Review::errors), sum(Review::warnings))
}

/// The findings as one object: per file, and counted.
pub(crate) fn to_json(files: &[Reviewed]) -> Value {
    let finding = |own: &Finding| {
        json!({
            "severity": word(own.severity),
            "code": own.code,
            "key": own.at.path,
            "line": (own.at.line > 0).then_some(own.at.line),
            "column": (own.at.line > 0).then_some(own.at.column),
            "message": own.message,
            "fix": own.fix,
        })
    };
    let file = |own: &Reviewed| {
        json!({
            "path": own.name(),
            "findings": own.review.findings.iter().map(finding).collect::<Vec<_>>(),
            "omitted": own.review.omitted,
        })
    };
    let (errors, warnings) = totals(files);
    json!({
        "files": files.iter().map(file).collect::<Vec<_>>(),
        "errors": errors,
        "warnings": warnings,
    })
}

/// The rule of a finding that has no code.
const REMARK: &str = "remark";

/// The findings as a SARIF 2.1.0 log of one run.
pub(crate) fn sarif(files: &[Reviewed]) -> Value {
    let mut rules: Vec<Value> = Vec::new();
    let mut results = Vec::new();
    for file in files {
        for finding in &file.review.findings {
            let id = finding.code.map_or(REMARK, |code| code.as_str());
            let known = rules.iter().position(|rule| rule["id"] == id);
            let index = known.unwrap_or_else(|| {
                rules.push(rule(id, finding));
                rules.len() - 1
            });
            results.push(result(file, finding, id, index));
        }
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "mur",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(id: &str, finding: &Finding) -> Value {
    let mut rule = json!({"id": id, "defaultConfiguration": {"level": word(finding.severity)}});
    if let Some(code) = finding.code {
        let info = code.info();
        rule["shortDescription"] = json!({"text": info.title});
        rule["fullDescription"] = json!({"text": info.meaning});
        rule["help"] = json!({"text": format!("Cause: {} Fix: {}", info.cause, info.fix)});
    }
    rule
}

fn result(file: &Reviewed, finding: &Finding, id: &str, index: usize) -> Value {
    let fix = finding.fix.as_ref().map(|fix| format!("; fix: {fix}")).unwrap_or_default();
    let mut place = json!({"artifactLocation": {"uri": uri(file)}});
    if finding.at.line > 0 {
        place["region"] = json!({"startLine": finding.at.line, "startColumn": finding.at.column});
    }
    let mut location = json!({"physicalLocation": place});
    if !finding.at.path.is_empty() {
        location["logicalLocations"] =
            json!([{"fullyQualifiedName": finding.at.path, "kind": "member"}]);
    }
    json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": word(finding.severity),
        "message": {"text": format!("{}{fix}", sentence(finding))},
        "locations": [location],
    })
}

/// The path as a URI reference: absolute with its scheme, else relative to where the check ran.
fn uri(file: &Reviewed) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    if file.is_stdin() {
        return "stdin".to_owned();
    }
    let mut uri = String::from(if file.path.is_absolute() { "file://" } else { "" });
    for &byte in file.path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use mur_policy::Language;

    fn reviewed(path: &str, yaml: &str) -> Reviewed {
        let review = mur_policy::review(Language::Manifest, yaml.as_bytes());
        Reviewed { path: path.into(), review }
    }

    #[test]
    fn each_result_of_sarif_points_at_its_rule() {
        let files = [
            reviewed("a b/ü.yaml", "name: a\nversion: 1\ntrce: {}\n"),
            reviewed("/b.yaml", "name: 2\nversion: '1'\n"),
        ];
        let log = sarif(&files);
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 3);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            let rule = &run["tool"]["driver"]["rules"][index];
            assert_eq!(rule["id"], result["ruleId"]);
            assert_eq!(rule["defaultConfiguration"]["level"], result["level"]);
        }
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
        let place = |index: usize| &results[index]["locations"][0]["physicalLocation"];
        assert_eq!(place(0)["artifactLocation"]["uri"], "a%20b/%C3%BC.yaml");
        assert_eq!(place(0)["region"], json!({"startLine": 2, "startColumn": 10}));
        assert_eq!(place(2)["artifactLocation"]["uri"], "file:///b.yaml");
    }

    #[test]
    fn numbers_are_counted_in_words() {
        assert_eq!(counted(0, "error"), "no errors");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(2, "warning"), "2 warnings");
    }

    #[test]
    fn colours_stand_around_the_severity_alone() {
        let files = [reviewed("m.yaml", "name: a\nversion: 1\n")];
        let text = to_text(&files, Colour::Terminal);
        assert!(text.starts_with("m.yaml:2:10: \x1b[1;31merror[E-MAN-003]\x1b[0m: version: "));
        assert_eq!(
            text.replace("\x1b[1;31m", "").replace("\x1b[0m", ""),
            to_text(&files, Colour::Plain)
        );
    }
}
