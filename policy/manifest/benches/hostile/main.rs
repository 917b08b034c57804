//! How long and how much memory hostile and large manifests take to read: each at most 100 ms and 50 MB, a
//! typical one at most 1 ms. Run with `cargo bench -p mur-manifest`; exits 1 where a bound is broken.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod cases;
mod measure;

use std::process::ExitCode;

fn main() -> ExitCode {
    let typical = include_bytes!("../../tests/accepted/test-runner.yaml").to_vec();
    let mut all = vec![("a typical manifest", typical)];
    all.extend(cases::cases());
    measure::run(|yaml| drop(mur_manifest::parse(yaml)), all)
}
