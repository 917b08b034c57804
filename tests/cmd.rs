//! The command line as its callers see it: one file a verb in `cmd/`, refusals included.
//!
//! `TRYCMD=overwrite cargo test --test cmd` writes what is printed into the files; read the difference.

#[test]
fn each_verb_prints_what_its_file_says() {
    trycmd::TestCases::new()
        .default_bin_path(trycmd::cargo::cargo_bin!("mur"))
        .register_bin("mur", trycmd::cargo::cargo_bin!("mur"))
        .env("NO_COLOR", "1")
        .case("tests/cmd/*.trycmd")
        .case("docs/manifest.md");
}
