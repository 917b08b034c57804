//! What a Landlock domain leaves of each path.

use std::collections::BTreeSet;
use std::path::Path;

use mur_policy::landlock::{
    FsAccess, LANDLOCK_ANNOTATION, LANDLOCK_TARGET_ABI, LandlockRuleset, handled_fs,
};
use oci_spec::runtime::Spec;

use super::{Changes, Direction, direction, listed};

/// Compares the two domains path by path; a configuration without one leaves everything possible.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let (before, after) = match (ruleset(before), ruleset(after)) {
        (None, None) => return,
        (None, Some(_)) => {
            return changes.add(Direction::Narrower, "Landlock", "no domain", "a domain");
        }
        (Some(_), None) => {
            return changes.add(Direction::Wider, "Landlock", "a domain", "no domain");
        }
        (Some(before), Some(after)) => (before, after),
    };
    let paths: BTreeSet<&Path> = paths(&before).chain(paths(&after)).collect();
    for path in paths {
        let (was, is) = (rights(&before, path), rights(&after, path));
        if let Some(direction) = direction(&was, &is) {
            let what = format!("Landlock rights at `{}`", path.display());
            changes.add(direction, what, listed(&was), listed(&is));
        }
    }
    // A scope shuts something out, so fewer of them are more possibilities.
    let scopes = |rules: &LandlockRuleset| -> BTreeSet<String> {
        rules.scoped.iter().map(|scope| format!("{scope:?}")).collect()
    };
    let (was, is) = (scopes(&before), scopes(&after));
    if let Some(direction) = direction(&is, &was) {
        changes.add(direction, "Landlock scopes", listed(&was), listed(&is));
    }
    let ports = |rules: &LandlockRuleset| {
        let ports = rules.rules.network_port.iter().flat_map(|rule| rule.ports.iter().copied());
        ports.collect::<BTreeSet<u16>>()
    };
    match (before.handled_access.net.is_empty(), after.handled_access.net.is_empty()) {
        (true, true) => {}
        (true, false) => changes.add(Direction::Narrower, "TCP ports", "all", "some"),
        (false, true) => changes.add(Direction::Wider, "TCP ports", "some", "all"),
        (false, false) => changes.sets("TCP ports", &ports(&before), &ports(&after)),
    }
}

/// The domain of a configuration. One that cannot be read is none here; whoever starts it refuses it.
pub(crate) fn ruleset(spec: &Spec) -> Option<LandlockRuleset> {
    serde_json::from_str(spec.annotations().as_ref()?.get(LANDLOCK_ANNOTATION)?).ok()
}

fn paths(ruleset: &LandlockRuleset) -> impl Iterator<Item = &Path> {
    ruleset.rules.path_beneath.iter().flat_map(|rule| rule.paths.iter().map(AsRef::as_ref))
}

/// What is possible at a path: the rights of every rule at or above it, and what is not mediated at all.
fn rights(ruleset: &LandlockRuleset, path: &Path) -> BTreeSet<String> {
    let granted = ruleset
        .rules
        .path_beneath
        .iter()
        .filter(|rule| rule.paths.iter().any(|own| path.starts_with(own)));
    let mut rights: BTreeSet<FsAccess> =
        granted.flat_map(|rule| rule.allowed_access.iter().copied()).collect();
    let every = handled_fs(LANDLOCK_TARGET_ABI);
    rights.extend(every.iter().filter(|own| !ruleset.handled_access.fs.contains(own)));
    rights.iter().map(|right| words(*right)).collect()
}

fn words(right: FsAccess) -> String {
    let text = format!("{right:?}");
    text.chars().fold(String::new(), |mut out, letter| {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
        out
    })
}
