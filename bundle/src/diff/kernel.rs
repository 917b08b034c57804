//! Namespaces, ids, paths of the kernel, and the network that was granted.

use std::collections::BTreeSet;

use oci_spec::runtime::{Linux, LinuxIdMapping, Spec};

use super::{Changes, Direction, direction, listed};

/// The annotation with the destinations of the capsule's network, as JSON.
const NETWORK: &str = "org.murmur.network.allow";

/// Compares what stands between a process and the kernel's shared parts.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let none = Linux::default();
    let was = before.linux().as_ref().unwrap_or(&none);
    let is = after.linux().as_ref().unwrap_or(&none);
    shut_out(changes, "namespaces of its own", &namespaces(was), &namespaces(is));
    let listed_paths = |paths: &Option<Vec<String>>| -> BTreeSet<String> {
        paths.iter().flatten().cloned().collect()
    };
    shut_out(
        changes,
        "hidden paths",
        &listed_paths(was.masked_paths()),
        &listed_paths(is.masked_paths()),
    );
    shut_out(
        changes,
        "read-only paths",
        &listed_paths(was.readonly_paths()),
        &listed_paths(is.readonly_paths()),
    );
    let map = |map: &Option<Vec<LinuxIdMapping>>| map.clone().unwrap_or_default();
    ids(changes, "users", &map(was.uid_mappings()), &map(is.uid_mappings()));
    ids(changes, "groups", &map(was.gid_mappings()), &map(is.gid_mappings()));
    let sysctl = |linux: &Linux| -> BTreeSet<String> {
        let settings = linux.sysctl().iter().flatten();
        settings.map(|(name, value)| format!("{name}={value}")).collect()
    };
    changes.other("sysctl", &sysctl(was), &sysctl(is), listed);
    changes.sets("network destinations", &destinations(before), &destinations(after));
}

/// Compares two sets of things that shut something out: fewer of them are more possibilities.
fn shut_out(changes: &mut Changes, what: &str, was: &BTreeSet<String>, is: &BTreeSet<String>) {
    if let Some(direction) = direction(is, was) {
        changes.add(direction, what, listed(was), listed(is));
    }
}

fn namespaces(linux: &Linux) -> BTreeSet<String> {
    let namespaces = linux.namespaces().iter().flatten();
    namespaces
        .map(|own| match own.path() {
            Some(path) => format!("{} of `{}`", own.typ(), path.display()),
            None => own.typ().to_string(),
        })
        .collect()
}

/// The host's root among the ids is more; any other difference is another user.
fn ids(changes: &mut Changes, what: &str, was: &[LinuxIdMapping], is: &[LinuxIdMapping]) {
    let text = |map: &[LinuxIdMapping]| match map {
        [] => "the host's own".to_owned(),
        map => {
            let lines = map
                .iter()
                .map(|own| format!("{}→{} ({})", own.container_id(), own.host_id(), own.size()));
            lines.collect::<Vec<_>>().join(", ")
        }
    };
    let has_root = |map: &[LinuxIdMapping]| match map {
        [] => true,
        map => map.iter().any(|own| own.host_id() == 0 && own.size() > 0),
    };
    if text(was) == text(is) {
        return;
    }
    let direction = match (has_root(was), has_root(is)) {
        (false, true) => Direction::Wider,
        (true, false) => Direction::Narrower,
        (true, true) | (false, false) => Direction::Other,
    };
    changes.add(direction, what, text(was), text(is));
}

fn destinations(spec: &Spec) -> BTreeSet<String> {
    let text = spec.annotations().as_ref().and_then(|all| all.get(NETWORK));
    let list: Vec<String> =
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    list.into_iter().collect()
}
