//! What holds for any bytes at all. The fuzz targets try arbitrary ones, an ordinary test the seeds.
#![allow(dead_code, reason = "each target uses one of these")]

use mur_manifest::{
    Fault, Lock, Manifest, NetworkAllowRule, OperatorConfig, OperatorFiles, parse, render,
};

/// A manifest is read without a panic; one that is accepted renders to the same again.
pub(crate) fn manifest(bytes: &[u8]) {
    match parse(bytes) {
        Ok(manifest) => {
            let yaml = render(&manifest);
            let again: Manifest = parse(yaml.as_bytes()).expect("what is rendered is accepted");
            // A number that JSON has no form for is not rendered; everything else is.
            let free_form = format!("{manifest:?}").contains("NotJson");
            assert!(free_form || again == manifest, "{yaml}");
            for warning in manifest.warnings() {
                assert_shown(&warning.to_string());
            }
        }
        Err(errors) => {
            assert!(!errors.faults().is_empty());
            errors.faults().iter().for_each(assert_fault);
        }
    }
}

/// A network entry is refused with a reason, or has one form, covers itself and asks for a port.
pub(crate) fn network(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<NetworkAllowRule>() {
        Ok(rule) => {
            let shown = rule.to_string();
            assert_eq!(shown.parse::<NetworkAllowRule>().as_ref(), Ok(&rule), "{shown}");
            assert!(rule.covers(&rule));
            assert!(shown.is_ascii() && !shown.contains(['*', '@', ' ', '%', '\\']), "{shown}");
            let ports = mur_manifest::grammar::listening_ports([&rule]);
            assert!(!ports.is_empty() && !ports.contains(&0));
        }
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

/// A lock file is read without a panic; one that is accepted renders to the same again.
pub(crate) fn lock(bytes: &[u8]) {
    match Lock::parse(bytes) {
        Ok(lock) => {
            let yaml = lock.render();
            let again = Lock::parse(yaml.as_bytes()).expect("what is rendered is accepted");
            assert_eq!(again, lock, "{yaml}");
        }
        Err(errors) => errors.faults().iter().for_each(assert_fault),
    }
}

/// The operator's files are read without a panic, and never show a secret.
pub(crate) fn operator(bytes: &[u8]) {
    let files = OperatorFiles { machine: None, global: Some(bytes), project: Some(bytes) };
    match OperatorConfig::parse(files) {
        Ok(config) => {
            for secret in config.credentials.values() {
                assert_eq!(format!("{secret:?} {secret}"), "<redacted> <redacted>");
            }
            for warning in &config.warnings {
                assert_shown(&warning.to_string());
            }
        }
        Err(errors) => {
            errors.faults().iter().map(|fault| &fault.fault).for_each(assert_fault);
        }
    }
}

/// A fault has a place, and is shown on one line without characters that move a cursor.
fn assert_fault(fault: &Fault) {
    assert!(fault.at.line >= 1 && fault.at.column >= 1, "{fault}");
    assert_shown(&fault.to_string());
}

fn assert_shown(text: &str) {
    assert!(!text.contains(char::is_control), "{text:?}");
}
