//! What fuzzing found of interest stays right: the seeds of manifests, operator files and locks, judged as a whole.

#![expect(clippy::disallowed_methods, reason = "this test reads files of the repository")]

use std::path::Path;

#[path = "../../fuzz/review.rs"]
mod review;

#[test]
fn each_seed_is_judged_as_is_claimed() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let mut count = 0;
    for kind in ["manifest", "operator", "lock"] {
        for entry in std::fs::read_dir(seeds.join(kind)).expect("the seeds are there") {
            let path = entry.expect("an entry").path();
            review::review(&std::fs::read(&path).expect("a seed"));
            count += 1;
        }
    }
    assert!(count > 30, "{count} seeds");
}
