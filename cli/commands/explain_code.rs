//! `mur explain --code`: what a code means, where it comes from, what to do.

use anyhow::anyhow;
use mur_manifest::code::RETIRED;
use mur_manifest::{Code, Severity};
use serde_json::{Value, json};

use crate::context::Context;
use crate::report::Exit;

/// The word that stands for every code.
const ALL: &str = "all";

/// Prints one code, or a list of all.
pub(super) fn run(text: &str, json: bool, context: &mut Context) -> anyhow::Result<Exit> {
    if text.eq_ignore_ascii_case(ALL) {
        return list(json, context);
    }
    let code: Code = text.parse().map_err(|_| unknown(text))?;
    if json {
        context.out.json(&object(code))?;
    } else {
        context.out.text(&paragraph(code))?;
    }
    Ok(Exit::Success)
}

fn list(json: bool, context: &mut Context) -> anyhow::Result<Exit> {
    if json {
        let codes: Vec<Value> = Code::ALL.iter().map(|code| object(*code)).collect();
        context.out.json(&codes)?;
        return Ok(Exit::Success);
    }
    let lines = Code::ALL.iter().map(|code| format!("{code}  {}\n", code.info().title));
    context.out.text(&lines.collect::<String>())?;
    Ok(Exit::Success)
}

fn object(code: Code) -> Value {
    let info = code.info();
    json!({
        "code": code,
        "severity": match info.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "title": info.title,
        "meaning": info.meaning,
        "cause": info.cause,
        "fix": info.fix,
        "never_said_because": info.absent,
    })
}

fn paragraph(code: Code) -> String {
    let info = code.info();
    let absent = info.absent.map(|reason| format!("  never said by this program: {reason}\n"));
    format!(
        "{code}: {}\n\n  meaning: {}\n  cause:   {}\n  fix:     {}\n{}",
        info.title,
        info.meaning,
        info.cause,
        info.fix,
        absent.unwrap_or_default(),
    )
}

/// What may be meant: a retired number, the codes of the same family, else the families.
fn unknown(text: &str) -> anyhow::Error {
    let wanted = text.trim().to_ascii_uppercase();
    let family = |code: &Code| code.as_str().rsplit_once('-').map_or("", |(family, _)| family);
    let own = wanted.rsplit_once('-').map_or(wanted.as_str(), |(family, _)| family);
    let codes: Vec<&str> =
        Code::ALL.iter().filter(|code| family(code) == own).map(|code| code.as_str()).collect();
    let hint = if RETIRED.contains(&wanted.as_str()) {
        "the number was used once and is retired".to_owned()
    } else if codes.is_empty() {
        let mut families: Vec<&str> = Code::ALL.iter().map(family).collect();
        families.dedup();
        families.sort_unstable();
        families.dedup();
        format!("codes begin with {}; `--code {ALL}` lists them", families.join(", "))
    } else {
        format!("those of its family are {}", codes.join(", "))
    };
    anyhow!(hint).context(format!("`{text}` is no code of this program"))
}
