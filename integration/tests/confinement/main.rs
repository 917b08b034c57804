//! What holds a capsule, tried from inside it: in both classes, called by root and by an ordinary user, each with
//! the same act outside of it as the proof that the act itself can succeed.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bundle;
mod calls;
mod ending;
mod files;
mod identity;
mod programs;
mod refusals;
mod report;

use std::panic::AssertUnwindSafe;

use mur_integration::{Caller, Capsule, Class, Runtime, Scratch, need};

/// Whether the capsule tests can run: ours, by root, with Landlock.
#[track_caller]
fn possible() -> bool {
    need::ours(Runtime::under_test()) && need::landlock()
}

/// Both classes by both callers; as an ordinary user those of a user alone.
fn shapes(scratch: &Scratch) -> Vec<(Class, Caller, Capsule)> {
    let is_root = nix::unistd::geteuid().is_root();
    [
        (Class::Sealed, Caller::Root),
        (Class::Scoped, Caller::Root),
        (Class::Sealed, Caller::User),
        (Class::Scoped, Caller::User),
    ]
    .into_iter()
    .filter(|(_, caller)| is_root || *caller == Caller::User)
    .map(|(class, caller)| (class, caller, Capsule::new(scratch, class, caller)))
    .collect()
}

/// Tries every shape, whatever came of the others, and then says in which it failed.
#[track_caller]
fn in_each_shape(scratch: &Scratch, test: impl Fn(Class, Caller, Capsule)) {
    let mut failed = Vec::new();
    for (class, caller, capsule) in shapes(scratch) {
        let tried = AssertUnwindSafe(|| test(class, caller, capsule));
        if std::panic::catch_unwind(tried).is_err() {
            failed.push(format!("{class:?} by {caller:?}"));
        }
    }
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
}

/// Asserts what each attempt comes to inside, after it came to `ok` outside where `has_control` says so.
#[track_caller]
fn expect(capsule: &Capsule, what: &str, table: &[(&str, &str, Control)]) {
    let words: Vec<&str> = table.iter().map(|(word, _, _)| *word).collect();
    let outside = capsule.probe_outside(&words);
    for ((word, _, control), found) in table.iter().zip(&outside) {
        let as_said = match control {
            Control::Succeeds => found.result == "ok" || found.result == "ran",
            Control::Differs(result) => found.result == *result,
        };
        assert!(
            as_said,
            "{what}: outside, `{word}` gave `{}`: the test shows nothing",
            found.result
        );
    }
    let inside = capsule.probe(&words);
    let wrong: Vec<String> = table
        .iter()
        .zip(&inside)
        .filter(|((_, wanted, _), found)| !wanted.split('|').any(|one| one == found.result))
        .map(|((word, wanted, _), found)| {
            format!("`{word}` gave `{}` {}, not `{wanted}`", found.result, found.detail)
        })
        .collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

/// What the same attempt comes to outside.
#[derive(Debug, Clone, Copy)]
enum Control {
    /// It works.
    Succeeds,
    /// It is refused there as well, but for another reason than inside.
    Differs(&'static str),
}
