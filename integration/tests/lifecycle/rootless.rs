//! The same as an ordinary user: no root, no subordinate ids.

use mur_integration::{Bundle, OrdinaryUser, Run, Runtime, Scratch, leftover, need};

/// The runtime as the user calls it, with its state in the user's own folder.
fn command(user: &OrdinaryUser, words: &[&str]) -> std::process::Command {
    let mut command = user.command_of(Runtime::under_test());
    command.arg("--root").arg(user.home().join("state")).args(words);
    command
}

#[test]
fn an_ordinary_user_runs_a_container_in_a_user_namespace() {
    let scratch = Scratch::new();
    let user = OrdinaryUser::new(&scratch);
    let bundle =
        Bundle::busybox(&scratch, "b").rootless(user.uid()).shell("id -u; hostname; echo $$");
    user.own_all(bundle.folder());
    let id = scratch.name("c");
    let said =
        command(&user, &["run", "--bundle", bundle.folder().to_str().unwrap(), &id]).finish();
    assert_eq!(said.ok(), "0\ncapsule\n1\n");
    drop(user);
    leftover::nothing_of(&scratch);
}

#[test]
fn an_ordinary_user_creates_starts_execs_and_deletes() {
    let scratch = Scratch::new();
    let user = OrdinaryUser::new(&scratch);
    let bundle = Bundle::busybox(&scratch, "b").rootless(user.uid()).args(["sleep", "1000"]);
    user.own_all(bundle.folder());
    let id = scratch.name("c");
    let verb = |words: &[&str]| command(&user, words).finish();
    verb(&["create", "--bundle", bundle.folder().to_str().unwrap(), &id]).ok();
    verb(&["start", &id]).ok();
    assert!(verb(&["state", &id]).ok().contains("running"));
    assert_eq!(verb(&["exec", &id, "id", "-u"]).ok(), "0\n");
    verb(&["kill", &id, "KILL"]).ok();
    verb(&["delete", "--force", &id]).ok();
    verb(&["state", &id]).refused();
    drop(user);
    leftover::nothing_of(&scratch);
}

#[test]
fn an_ordinary_user_without_a_user_namespace_is_refused() {
    if !need::root() {
        return;
    }
    let scratch = Scratch::new();
    let user = OrdinaryUser::new(&scratch);
    let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
    user.own_all(bundle.folder());
    let id = scratch.name("c");
    command(&user, &["run", "--bundle", bundle.folder().to_str().unwrap(), &id]).finish().refused();
    drop(user);
    leftover::nothing_of(&scratch);
}
