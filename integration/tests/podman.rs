//! podman on the runtime under test: what an engine really asks of it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mur_integration::{
    Finished, InTerminal, Kind, Run, Runtime, Scratch, fill_with_busybox, leftover, need,
};
use serde_json::Value;

/// A podman with storage of its own and one image, `localhost/bb:1`.
struct Podman {
    scratch: Scratch,
    root: PathBuf,
}

impl Podman {
    fn new() -> Option<Self> {
        if !(need::root() && need::program("podman") && need::program("conmon")) {
            return None;
        }
        let scratch = Scratch::new();
        let root = scratch.folder("image");
        fill_with_busybox(&root);
        let runtime = Runtime::under_test().program().display().to_string();
        // The limits: podman's default ones are above what a machine without CAP_SYS_RESOURCE may set.
        let config = format!(
            "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\nnetns = \"none\"\n\
             log_driver = \"k8s-file\"\n[engine]\nruntime = \"{runtime}\"\ncgroup_manager = \"cgroupfs\"\n\
             events_logger = \"file\"\nruntime_supports_nocgroup = [\"crun\", \"mur\"]\n\
             runtime_supports_json = [\"crun\", \"runc\", \"mur\"]\n"
        );
        scratch.file("containers.conf", config);
        scratch.file("policy.json", "{\"default\": [{\"type\": \"insecureAcceptAnything\"}]}");
        let podman = Self { scratch, root };
        let archive = podman.scratch.path().join("bb.tar");
        Command::new("tar")
            .arg("-C")
            .arg(&podman.root)
            .arg("-cf")
            .arg(&archive)
            .arg(".")
            .finish()
            .ok();
        let import =
            ["import", "-c", "CMD [\"/bin/sh\"]", archive.to_str().unwrap(), "localhost/bb:1"];
        podman.call(&import).ok();
        Some(podman)
    }

    fn command(&self, words: &[&str]) -> Command {
        let at = |name: &str| self.scratch.path().join(name);
        let mut command = Command::new("podman");
        command.arg("--root").arg(at("root")).arg("--runroot").arg(at("run"));
        command.args(["--storage-driver", "overlay"]).args(words);
        command
            .env("CONTAINERS_CONF", at("containers.conf"))
            .env("TMPDIR", self.scratch.folder("tmp"));
        command
    }

    #[track_caller]
    fn call(&self, words: &[&str]) -> Finished {
        self.command(words).finish_within(Duration::from_secs(120))
    }

    /// `podman run --rm FLAG… IMAGE COMMAND…`
    #[track_caller]
    fn run(&self, flags: &[&str], words: &[&str]) -> Finished {
        let all: Vec<&str> = ["run", "--rm"]
            .iter()
            .chain(flags)
            .chain(&["localhost/bb:1"])
            .chain(words)
            .copied()
            .collect();
        self.call(&all)
    }

    /// A container in the background, removed with the scratch.
    #[track_caller]
    fn background(&self, name: &str, flags: &[&str], words: &[&str]) -> String {
        let name = self.scratch.name(name);
        let all: Vec<&str> = ["run", "-d", "--name", &name]
            .iter()
            .chain(flags)
            .chain(&["localhost/bb:1"])
            .chain(words)
            .copied()
            .collect();
        self.call(&all).ok();
        name
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.command(&["rm", "--all", "--force", "--time", "0"]).output();
        let _ = self.command(&["image", "rm", "--all", "--force"]).output();
        for mount in leftover::mounts_below(self.scratch.path()).iter().rev() {
            let _ = Command::new("umount").arg("-l").arg(mount).output();
        }
    }
}

#[test]
fn an_ordinary_image_runs_and_gives_output_and_code() {
    let Some(podman) = Podman::new() else { return };
    assert_eq!(podman.run(&[], &["echo", "hi"]).ok(), "hi\n");
    podman.run(&[], &["sh", "-c", "exit 42"]).exited(42);
    let root = podman.root.to_str().unwrap().to_owned();
    assert_eq!(podman.call(&["run", "--rm", "--rootfs", &root, "echo", "plain"]).ok(), "plain\n");
    leftover::no_state_in(&PathBuf::from(format!("/run/{}", podman.scratch.tag())));
}

#[test]
fn limits_given_to_podman_hold_inside() {
    let Some(podman) = Podman::new() else { return };
    let script = "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max 2>/dev/null ||
        cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max";
    let said = podman.run(&["--memory", "64m", "--pids-limit", "50"], &["sh", "-c", script]).ok();
    assert_eq!(said, "67108864\n50\n");
}

#[test]
fn exec_stop_kill_and_rm_reach_a_running_container() {
    let Some(podman) = Podman::new() else { return };
    let name = podman.background("c", &[], &["sleep", "1000"]);
    assert_eq!(podman.call(&["exec", &name, "echo", "ok"]).ok(), "ok\n");
    podman.call(&["exec", &name, "sh", "-c", "exit 5"]).exited(5);
    let user = podman.call(&[
        "exec",
        "--user",
        "12:34",
        "--workdir",
        "/tmp",
        "--env",
        "A=b",
        &name,
        "sh",
        "-c",
        "id -u; pwd; echo $A",
    ]);
    assert_eq!(user.ok(), "12\n/tmp\nb\n");
    let inspected: Value = serde_json::from_str(&podman.call(&["inspect", &name]).ok()).unwrap();
    assert_eq!(inspected[0]["State"]["Status"], "running");
    podman.call(&["stop", "--time", "1", &name]).ok();
    let inspected: Value = serde_json::from_str(&podman.call(&["inspect", &name]).ok()).unwrap();
    assert_eq!(inspected[0]["State"]["Status"], "exited");
    assert_eq!(inspected[0]["State"]["ExitCode"], 137);
    podman.call(&["start", &name]).ok();
    podman.call(&["kill", "--signal", "KILL", &name]).ok();
    podman.call(&["rm", "--force", &name]).ok();
    podman.call(&["inspect", &name]).refused();
}

#[test]
fn a_process_that_handles_the_stop_signal_ends_by_itself() {
    let Some(podman) = Podman::new() else { return };
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let name = podman.background("c", &[], &["sh", "-c", script]);
    while !podman.call(&["logs", &name]).ok().contains("ready") {}
    let stopped = podman.call(&["stop", "--time", "20", &name]);
    assert!(stopped.took < Duration::from_secs(15), "{stopped}");
    assert_eq!(podman.call(&["wait", &name]).ok(), "7\n");
}

#[test]
fn pause_and_unpause_go_through() {
    let Some(podman) = Podman::new() else { return };
    let name = podman.background("c", &[], &["sleep", "1000"]);
    podman.call(&["pause", &name]).ok();
    assert_eq!(podman.call(&["inspect", "--format", "{{.State.Status}}", &name]).ok(), "paused\n");
    podman.call(&["unpause", &name]).ok();
    assert_eq!(podman.call(&["exec", &name, "echo", "on"]).ok(), "on\n");
}

#[test]
fn a_terminal_is_one_inside_for_run_and_for_exec() {
    let Some(podman) = Podman::new() else { return };
    let mut session = InTerminal::start(
        &podman.command(&["run", "--rm", "-it", "localhost/bb:1", "tty"]),
        24,
        80,
    );
    session.terminal.read_until("/dev/pts/0");
    assert_eq!(session.wait(), 0);
    let name = podman.background("c", &[], &["sleep", "1000"]);
    let mut session = InTerminal::start(
        &podman.command(&["exec", "-it", &name, "sh", "-c", "tty; read l; echo got $l"]),
        24,
        80,
    );
    session.terminal.read_until("/dev/pts/");
    std::io::Write::write_all(&mut session.terminal.master, b"typed\r").unwrap();
    session.terminal.read_until("got typed");
    assert_eq!(session.wait(), 0);
}

#[test]
fn binds_users_and_read_only_roots_are_honoured() {
    let Some(podman) = Podman::new() else { return };
    let shared = podman.scratch.folder("shared");
    let bind = format!("{}:/shared:rw", shared.display());
    let script = "id -u; echo from inside >/shared/file; touch /etc/x 2>/dev/null || echo refused";
    let said = podman
        .run(&["--volume", &bind, "--read-only", "--user", "0:0"], &["sh", "-c", script])
        .ok();
    assert_eq!(said, "0\nrefused\n");
    assert_eq!(std::fs::read_to_string(shared.join("file")).unwrap(), "from inside\n");
    assert_eq!(
        podman.run(&["--user", "1234:55"], &["sh", "-c", "id -u; id -g"]).ok(),
        "1234\n55\n"
    );
}

#[test]
fn a_container_in_a_user_namespace_is_mapped() {
    let Some(podman) = Podman::new() else { return };
    let maps = ["--uidmap", "0:200000:65536", "--gidmap", "0:200000:65536"];
    let said = podman.run(&maps, &["sh", "-c", "id -u; awk '{print $2}' /proc/self/uid_map"]).ok();
    assert_eq!(said, "0\n200000\n");
}

#[test]
fn standard_input_and_error_are_passed() {
    let Some(podman) = Podman::new() else { return };
    let mut command =
        podman.command(&["run", "--rm", "-i", "localhost/bb:1", "sh", "-c", "cat; echo err >&2"]);
    let finished = command.finish_with(b"typed\n");
    assert_eq!(
        (finished.stdout.as_str(), finished.stderr.as_str()),
        ("typed\n", "err\n"),
        "{finished}"
    );
}

#[test]
fn programs_that_cannot_be_started_get_podmans_own_codes() {
    let Some(podman) = Podman::new() else { return };
    for (program, code) in [("/no/such", 127), ("nosuch", 127), ("/etc/passwd", 126), ("/etc", 126)]
    {
        if program == "/etc"
            && !need::as_runc_does(Runtime::under_test(), "crun's words give 127 or 126 by version")
        {
            continue;
        }
        podman.run(&[], &[program]).refused().exited(code);
    }
    let name = podman.background("c", &[], &["sleep", "1000"]);
    podman.call(&["exec", &name, "/no/such"]).refused().exited(127);
    assert_eq!(podman.call(&["exec", &name, "echo", "alive"]).ok(), "alive\n");
}

#[test]
fn without_control_groups_where_the_runtime_can() {
    let Some(podman) = Podman::new() else { return };
    // podman goes by the runtime's name.
    let name = Runtime::under_test().program().file_name().unwrap().to_str().unwrap().to_owned();
    if Runtime::under_test().kind() == Kind::Runc {
        podman.run(&["--cgroups=disabled"], &["echo", "hi"]).refused();
    } else {
        assert_eq!(podman.run(&["--cgroups=disabled"], &["echo", "hi"]).ok(), "hi\n", "{name}");
    }
}

#[test]
fn stats_top_and_update_find_the_container() {
    let Some(podman) = Podman::new() else { return };
    let name = podman.background("c", &["--memory", "64m"], &["sleep", "1000"]);
    let stats: Value = serde_json::from_str(
        &podman.call(&["stats", "--no-stream", "--format", "json", &name]).ok(),
    )
    .unwrap();
    assert_eq!(stats[0]["pids"], "1", "{stats}");
    let top = podman.call(&["top", &name, "args"]).ok();
    assert!(top.contains("sleep 1000"), "{top}");
}

#[test]
fn many_containers_one_after_another_leave_nothing() {
    let Some(podman) = Podman::new() else { return };
    for _ in 0..5 {
        podman.run(&[], &["true"]).ok();
    }
    assert_eq!(podman.call(&["ps", "--all", "--quiet"]).ok(), "");
}

/// `mur bundle --print`'s policy of a capsule that may run `programs`, as podman takes an annotation: one CSV field.
fn policy(podman: &Podman, programs: &str) -> String {
    let manifest = format!(
        "name: boxed\nversion: 0.1.0\nprocess: {{args: [sh]}}\ncapabilities:\n  containment: sealed\n  \
         shell: {{allow: [{programs}]}}\n"
    );
    let manifest = podman.scratch.file("murmur.yaml", manifest);
    let printed = Command::new(Runtime::under_test().program())
        .args(["bundle", "--print", "--manifest", manifest.to_str().unwrap()])
        .env("HOME", podman.scratch.folder("home"))
        .finish()
        .ok();
    let config: Value = serde_json::from_str(&printed).unwrap();
    let policy = config["annotations"]["org.murmur.policy"].as_str().unwrap();
    format!("\"org.murmur.policy={}\"", policy.replace('"', "\"\""))
}

#[test]
fn a_container_with_a_policy_is_narrowed_by_it() {
    if !need::ours(Runtime::under_test()) {
        return;
    }
    let Some(podman) = Podman::new() else { return };
    let policy = policy(&podman, "sh, cat, ls");
    let work = podman.scratch.folder("work");
    let bind = format!("{}:/work", work.display());
    let narrowed = ["--annotation", &policy, "--volume", &bind, "--workdir", "/work"];
    let plain = ["--volume", &bind, "--workdir", "/work"];
    let script = "cp /bin/busybox ./true; cat /proc/self/status | cat >status; ./true; echo ran $?
        mount -t tmpfs none /mnt; echo mount $?; echo x >/made; echo root $?";
    let inside = podman.run(&narrowed, &["sh", "-c", script]).ok();
    assert_eq!(inside, "ran 126\nmount 1\nroot 1\n");
    let status = std::fs::read_to_string(work.join("status")).unwrap();
    let line = |key: &str| status.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(line(set), format!("{set}:\t0000000000000000"));
    }
    assert_eq!(line("NoNewPrivs"), "NoNewPrivs:\t1");
    // The same without the policy: the copy runs, and the image may be written.
    let script = "./true; echo ran $?; echo x >/made; echo root $?";
    assert_eq!(podman.run(&plain, &["sh", "-c", script]).ok(), "ran 0\nroot 0\n");
}

#[test]
fn a_program_that_a_policy_does_not_name_does_not_start_by_run_or_exec() {
    if !need::ours(Runtime::under_test()) {
        return;
    }
    let Some(podman) = Podman::new() else { return };
    let policy = policy(&podman, "sh, sleep");
    let said = "program `id` is not one that the policy's `shell.allow` names";
    let refused = podman.run(&["--annotation", &policy], &["id"]);
    assert!(refused.stderr.contains(said), "{refused:?}");
    let name = podman.background("n", &["--annotation", &policy], &["sleep", "1000"]);
    assert_eq!(podman.call(&["exec", &name, "sh", "-c", "echo in"]).ok(), "in\n");
    let refused = podman.call(&["exec", &name, "id"]);
    assert!(refused.stderr.contains(said), "{refused:?}");
    // What exec asks for beyond the policy is not given either.
    let words = [
        "exec",
        "--privileged",
        &name,
        "sh",
        "-c",
        "while read -r l; do case $l in CapEff*) echo $l;; esac; done </proc/self/status",
    ];
    assert_eq!(podman.call(&words).ok(), "CapEff: 0000000000000000\n");
}

#[test]
fn a_policy_that_cannot_hold_in_a_container_refuses_it() {
    if !need::ours(Runtime::under_test()) {
        return;
    }
    let Some(podman) = Podman::new() else { return };
    let policy = policy(&podman, "sh");
    for (flags, said) in [
        (&["--pid", "host"][..], "shares the host's `pid` namespace"),
        (&["--annotation", "org.murmur.manifest=web"][..], "are both given"),
    ] {
        let all = [&["--annotation", &policy][..], flags].concat();
        let refused = podman.run(&all, &["sh", "-c", "true"]);
        assert!(refused.stderr.contains(said), "{flags:?}: {refused:?}");
    }
    for (annotation, said) in [
        ("org.murmur.policy=junk", "annotation `org.murmur.policy` is not a policy"),
        ("org.murmur.manifest=../x", "`../x` is not the name of a capsule"),
    ] {
        let refused = podman.run(&["--annotation", annotation], &["sh", "-c", "true"]);
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
}
