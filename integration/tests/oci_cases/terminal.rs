//! Terminals: the caller's stays as it was, the container's gives the same bytes each time.

use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use mur_integration::{Bundle, ConsoleSocket, Container, InTerminal, Run, Runtime, leftover, need};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

fn settings(session: &InTerminal) -> String {
    let slave = session.slave.as_fd().try_clone_to_owned().unwrap();
    String::from_utf8(Command::new("stty").arg("-g").stdin(slave).output().unwrap().stdout).unwrap()
}

fn with_terminal(bundle: Bundle) -> Bundle {
    bundle.edit(|config| config["process"]["terminal"] = json!(true))
}

#[test]
fn a_new_size_of_the_callers_terminal_arrives_inside() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = with_terminal(Bundle::busybox(&scratch, "b").shell(
        "until [ \"$(stty size)\" = '40 90' ]; do sleep 0.02; done 2>/dev/null; echo ready; until [ \"$(stty size)\" = '11 22' ]; do sleep 0.02; done 2>/dev/null; echo resized; exit 3",
    ));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 loses the size at times") {
        return;
    }
    let mut session = InTerminal::start(&container.begin("run", &[]), 40, 90);
    let before = settings(&session);
    session.terminal.read_until("ready");
    let slave = session.slave.as_fd().try_clone_to_owned().unwrap();
    // The kernel sends SIGWINCH to whoever is in the foreground there.
    Command::new("stty").args(["rows", "11", "cols", "22"]).stdin(slave).status().unwrap();
    session.terminal.read_until("resized");
    assert_eq!(session.wait(), 3);
    assert_eq!(settings(&session), before);
    leftover::nothing_of(&scratch);
}

#[test]
fn the_callers_terminal_is_restored_when_the_runtime_is_ended() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done";
    let bundle = with_terminal(Bundle::busybox(&scratch, "b").shell(script));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let mut session = InTerminal::start(&container.begin("run", &[]), 40, 90);
    let before = settings(&session);
    session.terminal.read_until("ready");
    let runtime = runtime_below(session.child.id());
    kill(Pid::from_raw(runtime), Signal::SIGTERM).unwrap();
    session.wait();
    assert_eq!(settings(&session), before);
}

/// The runtime's process: the child of `setsid --wait`, or that itself where it did not need to fork.
fn runtime_below(parent: u32) -> i32 {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
        .unwrap_or_default();
    let first = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    first.unwrap_or_else(|| i32::try_from(parent).unwrap())
}

#[test]
fn a_shell_without_a_terminal_leaves_the_callers_alone() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("tty; exit 4");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let mut session = InTerminal::start(&container.begin("run", &[]), 40, 90);
    let before = settings(&session);
    assert_eq!(session.wait(), 4);
    assert_eq!(settings(&session), before);
}

#[test]
fn the_bytes_of_a_terminal_are_the_same_each_time() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").args(["sleep", "1000"]);
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.launch();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..40 {
        let socket = ConsoleSocket::new(&scratch, &format!("s{round}"));
        let flags = ["--tty", "--detach", "--console-socket", socket.as_str()];
        container.exec_with(&flags, &["echo", "hi"]).ok();
        seen.insert(socket.receive().read_to_end());
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn run_with_a_terminal_from_a_pipe_is_refused_or_runs_but_never_hangs() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = with_terminal(Bundle::busybox(&scratch, "b").shell("exit 3"));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    let mut command = Command::new("setsid");
    command
        .arg("--wait")
        .arg(Runtime::under_test().program())
        .args(container.begin("run", &[]).get_args());
    command.stdin(Stdio::piped());
    let finished = command.finish();
    assert_ne!(finished.code, 0, "{finished}");
    leftover::nothing_of(&scratch);
}
