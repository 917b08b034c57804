//! What the caller leaves open, and what the runtime itself opens: none of it belongs inside.

use std::process::Command;

use mur_integration::{Container, Finished, Run, Runtime, Scratch, leftover, need};

use crate::writable;

/// `run` with flags, called by a shell that first does what `prelude` says; lists the descriptors inside.
#[track_caller]
fn descriptors(scratch: &Scratch, prelude: &str, flags: &[&str]) -> Finished {
    let bundle = writable(scratch, "b")
        .shell("for f in /proc/self/fd/*; do echo ${f##*/} $(readlink $f); done; env");
    let container = Container::new(Runtime::under_test(), scratch, &bundle, "c");
    let finished = Command::new("sh")
        .args(["-c", &format!("{prelude}\nexec \"$@\""), "sh"])
        .arg(Runtime::under_test().program())
        .args(container.begin("run", flags).get_args())
        .finish();
    std::fs::remove_dir_all(bundle.folder()).unwrap();
    leftover::nothing_of(scratch);
    finished
}

/// Numbers of the open descriptors, without the one that the list was read through.
fn numbers(said: &str) -> Vec<u32> {
    let lines = said.lines().filter(|line| !line.ends_with("/fd") && line.contains(' '));
    lines.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn descriptors_of_the_caller_stay_outside() {
    let Some(scratch) = need::root_scratch() else { return };
    let said =
        descriptors(&scratch, "exec 3</ 4</etc 5</etc/hostname 6</dev/null 7</ 8</ 9</proc", &[])
            .ok();
    assert_eq!(numbers(&said), [0, 1, 2], "{said}");
}

#[test]
fn descriptors_to_preserve_that_are_not_open_never_let_one_of_the_runtimes_in() {
    let Some(scratch) = need::root_scratch() else { return };
    let finished = descriptors(&scratch, "exec 3<&- 4<&- 5<&-", &["--preserve-fds", "3"]);
    if finished.code == 0 {
        if !need::better_than_both(
            Runtime::under_test(),
            "runc lets its own in, crun starts without",
        ) {
            return;
        }
        assert_eq!(numbers(&finished.stdout), [0, 1, 2], "{finished}");
    }
    // The number that is missing is named.
    assert!(finished.refused().stderr.contains('3'));
}

#[test]
fn sockets_to_listen_on_are_passed_with_the_right_numbers() {
    let Some(scratch) = need::root_scratch() else { return };
    let said = descriptors(
        &scratch,
        "exec 3</etc/hostname 4</etc/passwd 5</ 6</\nexport LISTEN_FDS=2 LISTEN_PID=$$",
        &[],
    )
    .ok();
    assert_eq!(numbers(&said), [0, 1, 2, 3, 4], "{said}");
    assert!(said.contains("3 /etc/hostname\n4 /etc/passwd\n"), "{said}");
    if !need::as_runc_does(
        Runtime::under_test(),
        "crun 1.8 passes the sockets without their number",
    ) {
        return;
    }
    assert!(said.contains("LISTEN_FDS=2\n"), "{said}");
    assert!(said.contains("LISTEN_PID=1\n"), "{said}");
}
