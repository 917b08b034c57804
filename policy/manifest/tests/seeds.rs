//! Replays the seeds of the fuzz targets: what holds for any bytes holds for these.

#![expect(clippy::disallowed_methods, reason = "this test reads seeds of the repository")]

use std::path::Path;

#[path = "../../../fuzz/claims.rs"]
mod claims;

/// Tries a claim on every seed of a target.
fn replay(target: &str, claim: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut seeds = 0;
    for entry in std::fs::read_dir(&folder).expect("the target has seeds") {
        let path = entry.expect("a seed can be listed").path();
        claim(&std::fs::read(&path).expect("a seed can be read"));
        seeds += 1;
    }
    assert!(seeds > 0, "`{target}` has no seeds");
}

#[test]
fn seeds_of_manifests_hold() {
    replay("manifest", claims::manifest);
}

#[test]
fn seeds_of_network_entries_hold() {
    replay("network", claims::network);
}

#[test]
fn seeds_of_lock_files_hold() {
    replay("lock", claims::lock);
}

#[test]
fn seeds_of_operator_files_hold() {
    replay("operator", claims::operator);
}
