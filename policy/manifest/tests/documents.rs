//! What is written beside the code agrees with it: `docs/errors.md`.

#![expect(clippy::disallowed_methods, reason = "this test compares files of the repository")]

use std::path::Path;

/// Compares a file of the repository with what it should hold; writes it with `UPDATE_DOCS` set.
fn assert_current(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, wanted).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "`{path}` is stale: run with UPDATE_DOCS=1");
}

#[test]
fn the_page_of_codes_is_rendered_from_the_table() {
    assert_current("docs/errors.md", &mur_manifest::code::document());
}
