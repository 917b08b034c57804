//! How a capsule ends: by itself, by a signal, by its limits, and with the `mur` that runs it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use mur_integration::{Caller, Capsule, Class, Run, Scratch};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{in_each_shape, possible};

#[test]
fn the_commands_exit_code_is_murs() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |_, _, capsule| {
        let capsule = capsule.allowing("bash");
        capsule.run(&["bash", "-c", "exit 7"]).finish().exited(7);
        let manifest = fs::read_to_string(capsule.manifest()).unwrap();
        let without = manifest.replace("process:\n  args: [mur-probe, ids]\n", "");
        fs::write(capsule.manifest(), without).unwrap();
        let nothing = capsule.verb("run", &[]).finish().exited(2);
        assert!(nothing.stderr.contains("E-CAP-208"), "{nothing:?}");
        capsule.run(&["bash", "-c", "kill -KILL $$"]).finish().exited(137);
        capsule.run(&["bash", "-c", "kill -TERM $$"]).finish().exited(143);
    });
}

#[test]
fn a_limit_that_ends_the_command_is_named() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let limits =
        "  resources: {cpu_seconds: 1, max_file_size_bytes: 4096, cgroup_memory_bytes: 33554432}\n";
    let capsule = Capsule::new(&scratch, Class::Sealed, Caller::Root).allowing("bash").with(limits);
    let endless = capsule.run(&["bash", "-c", "while :; do :; done"]).finish().exited(152);

    assert!(endless.stderr.contains("E-RUN-011"), "{endless:?}");
    assert!(endless.stderr.contains("cpu_seconds"), "{endless:?}");
    let large = "printf '%8000s' x >large";
    let large = capsule.run(&["bash", "-c", large]).finish();
    assert!(large.stderr.contains("max_file_size_bytes"), "{large:?}");
    let hungry = "x=x; while :; do x=$x$x$x$x; done";
    let hungry = capsule.run(&["bash", "-c", hungry]).finish().exited(137);

    assert!(hungry.stderr.contains("cgroup_memory_bytes"), "{hungry:?}");
}

/// Control groups of capsules, of any hierarchy.
fn groups() -> Vec<String> {
    let found = std::process::Command::new("find")
        .args(["/sys/fs/cgroup", "-type", "d", "-name", "murmur-ses_*"])
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_mur_takes_its_capsule_along_and_the_next_launch_cleans_up() {
    if !possible() {
        return;
    }
    let (_alone, scratch) = Scratch::alone();
    let capsule = Capsule::new(&scratch, Class::Sealed, Caller::Root).allowing("bash");
    let started = capsule.work().join("started");
    let script = "echo $BASHPID >started; while :; do read -r -t 1 <>/dev/null; done";
    let mut mur = capsule.run(&["bash", "-c", script]).spawn().unwrap();
    until("the command starts", || fs::read_to_string(&started).is_ok_and(|text| !text.is_empty()));
    let before = groups();
    assert!(!before.is_empty(), "a running capsule has a control group");
    let children = format!("/proc/{0}/task/{0}/children", mur.id());
    let first = fs::read_to_string(children).unwrap();
    let first = first.split_whitespace().next().unwrap().to_owned();
    kill(Pid::from_raw(mur.id().cast_signed()), Signal::SIGKILL).unwrap();
    mur.wait().unwrap();
    until("its first process ends", || !Path::new(&format!("/proc/{first}")).exists());
    capsule.run(&["bash", "-c", "true"]).finish().ok();
    let after = groups();
    let left: Vec<_> = before.iter().filter(|group| after.contains(group)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_native_module_that_will_not_load_is_named_before_the_command_runs() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let capsule = Capsule::new(&scratch, Class::Sealed, Caller::Root).allowing("bash");
    fs::write(capsule.work().join("native.so"), "").unwrap();
    let said = capsule.run(&["bash", "-c", "true"]).finish();
    assert!(said.stderr.contains("W-RUN-200") && said.stderr.contains("native.so"), "{said:?}");
    fs::remove_file(capsule.work().join("native.so")).unwrap();
    let said = capsule.run(&["bash", "-c", "true"]).finish();
    assert!(!said.stderr.contains("W-RUN-200"), "{said:?}");
}
