//! The harness itself: what the other tests lean on.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mur_integration::leftover::{self, Snapshot};
use mur_integration::{Attempt, OrdinaryUser, Run, Scratch, hierarchies, need, probe_program};

fn probe(words: &[&str]) -> Vec<(String, String)> {
    let output = Command::new(probe_program()).args(words).finish().ok();
    Attempt::read_all(&output).into_iter().map(|one| (one.result, one.detail)).collect()
}

#[test]
fn the_probe_says_how_each_attempt_ended() {
    let scratch = Scratch::new();
    let file = scratch.file("there", "content");
    let read = format!("read={}", file.display());
    let missing = format!("read={}", scratch.path().join("absent").display());
    let found = probe(&[&read, &missing, "exec=/nonexistent", "syscall=4095"]);
    let results: Vec<&str> = found.iter().map(|(result, _)| result.as_str()).collect();
    assert_eq!(results, ["ok", "ENOENT", "ENOENT", "ENOSYS"]);
    assert_eq!(found[0].1, "content");
}

#[test]
fn what_a_capsule_is_refused_works_outside_of_one() {
    if !need::root() {
        return;
    }
    let words = [
        "socket-unix",
        "socketpair-unix",
        "socket-inet",
        "socket-netlink",
        "socket-packet",
        "memfd",
        "unshare-user",
        "unshare-mount",
        "clone-user",
        "clone3",
        "bpf",
        "keyctl",
        "setuid-0",
        "io-uring",
        "open-tree",
        "i386-getpid",
    ];
    for (word, (result, _)) in words.iter().zip(probe(&words)) {
        // io_uring and the 32-bit gate may be configured away; then the control is worth nothing, and the
        // confinement tests take the errno that they expect as the only proof.
        let may_be_absent = ["io-uring", "i386-getpid", "bpf"].contains(word);
        assert!(result == "ok" || may_be_absent, "{word}: {result}");
    }
}

#[test]
fn a_command_that_hangs_is_ended_and_told() {
    let hang = std::panic::catch_unwind(|| {
        Command::new("sleep").arg("60").finish_within(Duration::from_millis(100))
    });
    let message = *hang.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("still running after 100ms"), "{message}");
}

#[test]
fn what_a_process_leaves_is_found() {
    let scratch = Scratch::new();
    let mut left = Command::new("sleep").arg0_of(&scratch).spawn().unwrap();
    let found = std::panic::catch_unwind(|| leftover::nothing_of(&scratch));
    left.kill().unwrap();
    left.wait().unwrap();
    assert!(found.unwrap_err().downcast::<String>().unwrap().contains("sleep"));
    leftover::nothing_of(&scratch);
}

/// A `sleep` whose words carry the scratch's tag.
trait Tagged {
    fn arg0_of(&mut self, scratch: &Scratch) -> &mut Self;
}

impl Tagged for Command {
    fn arg0_of(&mut self, scratch: &Scratch) -> &mut Self {
        std::os::unix::process::CommandExt::arg0(self, scratch.name("sleep")).arg("60")
    }
}

#[test]
fn a_control_group_that_stays_is_found() {
    if !need::root() {
        return;
    }
    let scratch = Scratch::new();
    let group = hierarchies()[0].mount.join(scratch.name("group"));
    fs::create_dir(&group).unwrap();
    let found = std::panic::catch_unwind(|| leftover::nothing_of(&scratch));
    fs::remove_dir(&group).unwrap();
    assert!(found.unwrap_err().downcast::<String>().unwrap().contains("cgroup "));
}

#[test]
fn a_changed_machine_is_not_the_same() {
    let (_exclusive, scratch) = Scratch::alone();
    let watched = scratch.folder("watched");
    let before = Snapshot::take(&[&watched]);
    before.still_holds(&[&watched]);
    fs::create_dir_all(watched.join("deep/er")).unwrap();
    let found = std::panic::catch_unwind(|| before.still_holds(&[&watched]));
    assert!(found.unwrap_err().downcast::<String>().unwrap().contains("deep/er"));
}

#[test]
fn an_ordinary_user_has_a_number_a_home_and_control_groups() {
    let scratch = Scratch::new();
    let user = OrdinaryUser::new(&scratch);
    let said = user.command("sh").args(["-c", "id -u; pwd; cat /proc/self/cgroup"]).finish().ok();
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some(user.uid().to_string().as_str()));
    assert_eq!(lines.next().map(Path::new), Some(user.home()));
    if nix::unistd::geteuid().is_root() {
        // On the unified tree each command has a group of its own below the user's.
        let group = format!("user-{}", user.uid());
        assert!(lines.any(|line| line.split('/').any(|part| part.ends_with(&group))), "{said}");
        let refused = user.command("cat").arg("/etc/shadow").finish().refused();
        assert!(refused.stderr.contains("Permission denied"), "{refused}");
    }
    drop(user);
    leftover::nothing_of(&scratch);
}
