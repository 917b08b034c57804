//! Terminals: the container's own, by console socket or in the foreground.

use std::os::fd::AsFd;
use std::process::Command;

use mur_integration::{Bundle, ConsoleSocket, Container, InTerminal, Run, Runtime, leftover, need};
use serde_json::json;

use crate::sleeper;

fn with_terminal(bundle: Bundle) -> Bundle {
    bundle.edit(|config| {
        config["process"]["terminal"] = json!(true);
        config["process"]["consoleSize"] = json!({"height": 33, "width": 77});
    })
}

#[test]
fn the_terminal_is_sent_through_the_console_socket() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b")
        .shell("tty; stty size; test -c /dev/console && echo console");
    let bundle = with_terminal(bundle);
    let socket = ConsoleSocket::new(&scratch, "s");
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.begin("create", &["--console-socket", socket.as_str()]).finish().ok();
    let mut terminal = socket.receive();
    container.start().ok();
    let said = terminal.read_to_end().replace('\r', "");
    assert_eq!(said, "/dev/pts/0\n33 77\nconsole\n");
    container.wait_until("stopped");
    container.delete().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn a_terminal_asked_for_without_a_socket_to_send_it_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = with_terminal(Bundle::busybox(&scratch, "b").args(["true"]));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    container.create().refused();
    let missing = scratch.path().join("no-such-socket");
    container.begin("create", &["--console-socket", missing.to_str().unwrap()]).finish().refused();
    leftover::nothing_of(&scratch);
}

#[test]
fn exec_gets_a_terminal_of_its_own() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let socket = ConsoleSocket::new(&scratch, "s");
    let flags = ["--tty", "--detach", "--console-socket", socket.as_str()];
    container.exec_with(&flags, &["sh", "-c", "tty; read line; echo got $line"]).ok();
    let mut terminal = socket.receive();
    assert!(terminal.read_until("\n").starts_with("/dev/pts/"));
    std::io::Write::write_all(&mut terminal.master, b"typed\n").unwrap();
    assert!(terminal.read_to_end().contains("got typed"));
    container.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn run_in_the_foreground_passes_terminal_size_and_code() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell(
        // runc and crun set the size when the process already runs.
        "until [ \"$(stty size)\" = '40 90' ]; do sleep 0.01; done 2>/dev/null\n\
         stty size; read line; echo got $line; exit 3",
    );
    let bundle = bundle.edit(|config| config["process"]["terminal"] = json!(true));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 sets the size after the process began")
    {
        return;
    }
    if !need::as_runc_does(Runtime::under_test(), "crun 1.8 loses the size at times") {
        return;
    }
    let mut session = InTerminal::start(&container.begin("run", &[]), 40, 90);
    let before = settings(&session);
    let mut said = session.terminal.read_until("40 90");
    std::io::Write::write_all(&mut session.terminal.master, b"typed\r").unwrap();
    said.push_str(&session.terminal.read_until("got typed"));
    assert_eq!(session.wait(), 3, "{said}");
    assert_eq!(settings(&session), before, "the caller's terminal was left changed");
    leftover::nothing_of(&scratch);
}

fn settings(session: &InTerminal) -> String {
    let slave = session.slave.as_fd().try_clone_to_owned().unwrap();
    let output = Command::new("stty").arg("-g").stdin(slave).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn run_with_a_terminal_but_none_to_use_is_refused_clearly() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = with_terminal(Bundle::busybox(&scratch, "b").args(["true"]));
    let container = Container::new(Runtime::under_test(), &scratch, &bundle, "c");
    if !need::as_runc_does(Runtime::under_test(), "crun runs on without a terminal") {
        return;
    }
    let mut command = Command::new("setsid");
    command
        .arg("--wait")
        .arg(Runtime::under_test().program())
        .args(container.begin("run", &[]).get_args());
    command.finish().refused();
    leftover::nothing_of(&scratch);
}
