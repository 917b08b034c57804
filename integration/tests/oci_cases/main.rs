//! Failures that users of OCI runtimes had, as small inputs: each was somebody's outage or somebody's escape.
//! They run on the runtime that `MUR_RUNTIME` names; where runc and crun differ, a test says whom we follow,
//! and where we do better than both, it says what they do.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod devices;
mod errors;
mod filter;
mod hooks;
mod ids;
mod inherited;
mod links;
mod overwrite;
mod terminal;

use mur_integration::{Bundle, Container, Finished, Runtime, Scratch, leftover};

/// Runs a bundle to its end and finds nothing left of it.
#[track_caller]
fn run(scratch: &Scratch, bundle: &Bundle) -> Finished {
    let finished = Container::new(Runtime::under_test(), scratch, bundle, "run").run();
    leftover::nothing_of(scratch);
    finished
}

/// A busybox bundle whose root may be written.
fn writable(scratch: &Scratch, name: &str) -> Bundle {
    Bundle::busybox(scratch, name).edit(|config| config["root"]["readonly"] = false.into())
}
