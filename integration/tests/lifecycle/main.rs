//! A container's life by the command line that engines use, each on the runtime that `MUR_RUNTIME` names.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod confine;
mod exec;
mod files;
mod hooks;
mod limits;
mod namespaces;
mod process;
mod rootless;
mod terminal;
mod verbs;

use mur_integration::{Bundle, Container, Finished, Runtime, Scratch, leftover};

/// Runs a shell script in a fresh container of `bundle` to its end, and finds nothing left of it.
#[track_caller]
fn run(scratch: &Scratch, bundle: &Bundle) -> Finished {
    let finished = Container::new(Runtime::under_test(), scratch, bundle, "run").run();
    leftover::nothing_of(scratch);
    finished
}

/// A container of a busybox that sleeps.
fn sleeper<'a>(scratch: &Scratch) -> Container<'a> {
    let bundle = Bundle::busybox(scratch, "sleeper").args(["sleep", "1000"]);
    Container::new(Runtime::under_test(), scratch, &bundle, "sleeper")
}
