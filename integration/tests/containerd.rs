//! containerd on the runtime under test, through its runc shim and `ctr`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mur_integration::{
    Bundle, Finished, InTerminal, Run, Runtime, Scratch, fill_with_busybox, leftover, need,
    read_limit,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

const IMAGE: &str = "docker.io/library/bb:1";

/// A containerd of its own, below a scratch folder, with one image.
struct Containerd {
    scratch: Scratch,
    daemon: Child,
}

impl Containerd {
    fn start() -> Option<Self> {
        if !(need::root() && need::program("containerd") && need::program("ctr")) {
            return None;
        }
        let scratch = Scratch::new();
        let at = scratch.path().display();
        let plugins: Vec<String> = [
            "grpc.v1.cri",
            "snapshotter.v1.btrfs",
            "snapshotter.v1.zfs",
            "snapshotter.v1.devmapper",
            "snapshotter.v1.aufs",
        ]
        .map(|name| format!("\"io.containerd.{name}\""))
        .into();
        let config = format!(
            "version = 2\nroot = \"{at}/root\"\nstate = \"{at}/state\"\ndisabled_plugins = [{}]\n\
             [grpc]\naddress = \"{at}/c.sock\"\n[plugins.\"io.containerd.internal.v1.opt\"]\npath = \"{at}/opt\"\n",
            plugins.join(", ")
        );
        let config = scratch.file("config.toml", config);
        let log = fs::File::create(scratch.path().join("log")).unwrap();
        let daemon = Command::new("containerd")
            .arg("-c")
            .arg(config)
            .args(["-l", "warn"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let containerd = Self { scratch, daemon };
        let deadline = Instant::now() + Duration::from_secs(60);
        while containerd.ctr(&["version"]).code != 0 {
            assert!(Instant::now() < deadline, "containerd does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        let archive = image_archive(&containerd.scratch);
        containerd.ctr(&["image", "import", archive.to_str().unwrap()]).ok();
        Some(containerd)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("ctr");
        command.args(words).env("CONTAINERD_ADDRESS", self.scratch.path().join("c.sock"));
        command
    }

    #[track_caller]
    fn ctr(&self, words: &[&str]) -> Finished {
        self.command(words).finish_within(Duration::from_secs(120))
    }

    /// `ctr run … IMAGE ID COMMAND…` on the runtime under test.
    fn run_command(&self, flags: &[&str], what: &[&str]) -> Command {
        let program = Runtime::under_test().program().to_str().unwrap();
        let all: Vec<&str> =
            ["run", "--runc-binary", program].iter().chain(flags).chain(what).copied().collect();
        self.command(&all)
    }

    #[track_caller]
    fn run(&self, flags: &[&str], what: &[&str]) -> Finished {
        self.run_command(flags, what).finish_within(Duration::from_secs(120))
    }

    fn status(&self, id: &str) -> String {
        let table = self.ctr(&["task", "ls"]).ok();
        let row = table.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        row.split_whitespace().last().unwrap_or("none").to_owned()
    }

    #[track_caller]
    fn wait_for(&self, id: &str, status: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.status(id) != status {
            assert!(Instant::now() < deadline, "{id} is {}, not {status}", self.status(id));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Containerd {
    fn drop(&mut self) {
        for id in self.ctr(&["task", "ls", "-q"]).stdout.lines() {
            let _ = self.command(&["task", "rm", "--force", id]).output();
        }
        for id in self.ctr(&["container", "ls", "-q"]).stdout.lines() {
            let _ = self.command(&["container", "rm", id]).output();
        }
        let _ = kill(Pid::from_raw(i32::try_from(self.daemon.id()).unwrap()), Signal::SIGTERM);
        let _ = self.daemon.wait();
        for mount in leftover::mounts_below(self.scratch.path()).iter().rev() {
            let _ = Command::new("umount").arg("-l").arg(mount).output();
        }
    }
}

/// An OCI image archive of one layer: a busybox.
fn image_archive(scratch: &Scratch) -> PathBuf {
    let root = scratch.folder("image");
    fill_with_busybox(&root);
    let layout = scratch.folder("layout");
    let blobs = scratch.folder("layout/blobs/sha256");
    let layer = scratch.path().join("layer.tar");
    Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&layer).arg(".").finish().ok();
    let blob = |content: &[u8]| -> Value {
        let file = scratch.file("blob", content);
        let sum = Command::new("sha256sum").arg(&file).finish().ok();
        let digest = sum.split(' ').next().unwrap();
        fs::rename(file, blobs.join(digest)).unwrap();
        json!({"digest": format!("sha256:{digest}"), "size": content.len()})
    };
    let describe = |kind: &str, mut found: Value| {
        found["mediaType"] = format!("application/vnd.oci.image.{kind}").into();
        found
    };
    let layer = describe("layer.v1.tar", blob(&fs::read(layer).unwrap()));
    let config = json!({
        "architecture": "amd64", "os": "linux",
        "config": {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    });
    let config = describe("config.v1+json", blob(config.to_string().as_bytes()));
    let manifest = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [layer],
    });
    let mut manifest = describe("manifest.v1+json", blob(manifest.to_string().as_bytes()));
    manifest["annotations"] = json!({"io.containerd.image.name": IMAGE});
    fs::write(
        layout.join("index.json"),
        json!({"schemaVersion": 2, "manifests": [manifest]}).to_string(),
    )
    .unwrap();
    fs::write(layout.join("oci-layout"), "{\"imageLayoutVersion\": \"1.0.0\"}").unwrap();
    let archive = scratch.path().join("image.tar");
    Command::new("tar").arg("-C").arg(&layout).arg("-cf").arg(&archive).arg(".").finish().ok();
    archive
}

#[test]
fn an_ordinary_image_runs_in_the_foreground() {
    let Some(containerd) = Containerd::start() else { return };
    let id = containerd.scratch.name("run");
    assert_eq!(containerd.run(&["--rm"], &[IMAGE, &id, "echo", "hi"]).ok(), "hi\n");
    containerd.run(&["--rm"], &[IMAGE, &id, "sh", "-c", "exit 42"]).exited(42);
    let root = containerd.scratch.folder("image");
    let plain =
        containerd.run(&["--rm", "--rootfs"], &[root.to_str().unwrap(), &id, "/bin/echo", "plain"]);
    assert_eq!(plain.ok(), "plain\n");
    let failed = containerd.run(&["--rm"], &[IMAGE, &id, "/no/such"]).refused();
    assert!(failed.stderr.contains("/no/such"), "{failed}");
    assert_eq!(containerd.ctr(&["task", "ls", "-q"]).ok(), "");
}

#[test]
fn a_task_runs_in_the_background_is_entered_paused_and_killed() {
    let Some(containerd) = Containerd::start() else { return };
    let id = containerd.scratch.name("task");
    containerd.run(&["--detach"], &[IMAGE, &id, "sleep", "1000"]).ok();
    containerd.wait_for(&id, "RUNNING");
    let exec = |words: &[&str]| {
        let all: Vec<&str> =
            ["task", "exec", "--exec-id", "e", &id].iter().chain(words).copied().collect();
        containerd.ctr(&all)
    };
    assert_eq!(exec(&["echo", "ok"]).ok(), "ok\n");
    exec(&["sh", "-c", "exit 6"]).exited(6);
    exec(&["/no/such"]).refused();
    assert_eq!(containerd.status(&id), "RUNNING");
    let pids = containerd.ctr(&["task", "ps", &id]).ok();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    containerd.ctr(&["task", "pause", &id]).ok();
    assert_eq!(containerd.status(&id), "PAUSED");
    containerd.ctr(&["task", "resume", &id]).ok();
    assert_eq!(containerd.status(&id), "RUNNING");
    containerd.ctr(&["task", "kill", "--signal", "KILL", &id]).ok();
    containerd.wait_for(&id, "STOPPED");
    let removed = containerd.ctr(&["task", "rm", &id]);
    assert!(removed.stderr.contains("exit code 137"), "{removed}");
    containerd.ctr(&["container", "rm", &id]).ok();
}

#[test]
fn a_terminal_is_one_inside() {
    let Some(containerd) = Containerd::start() else { return };
    let id = containerd.scratch.name("tty");
    let mut session = InTerminal::start(
        &containerd.run_command(&["--rm", "--tty"], &[IMAGE, &id, "tty"]),
        24,
        80,
    );
    session.terminal.read_until("/dev/pts/0");
    assert_eq!(session.wait(), 0);
    containerd.run(&["--detach"], &[IMAGE, &id, "sleep", "1000"]).ok();
    let exec = containerd.command(&["task", "exec", "--tty", "--exec-id", "e", &id, "tty"]);
    let mut session = InTerminal::start(&exec, 24, 80);
    session.terminal.read_until("/dev/pts/");
    assert_eq!(session.wait(), 0);
}

#[test]
fn a_config_of_our_own_runs() {
    let Some(containerd) = Containerd::start() else { return };
    let id = containerd.scratch.name("config");
    let bundle = Bundle::busybox(&containerd.scratch, "b").shell("hostname; id -u");
    let root = bundle.inside("").display().to_string();
    let bundle = bundle.edit(|config| config["root"]["path"] = root.into());
    let config = bundle.folder().join("config.json");
    let said = containerd.run(&["--rm", "--config", config.to_str().unwrap()], &[&id]).ok();
    assert_eq!(said, "capsule\n0\n");
}

#[test]
fn limits_and_mounts_given_to_containerd_hold_inside() {
    let Some(containerd) = Containerd::start() else { return };
    let id = containerd.scratch.name("limits");
    let shared = containerd.scratch.folder("shared");
    let mount = format!("type=bind,src={},dst=/shared,options=rbind:ro", shared.display());
    let script = "touch /shared/x 2>/dev/null || echo refused >/dev/shm/said; sleep 1000";
    let flags = ["--detach", "--memory-limit", "67108864", "--mount", &mount];
    containerd.run(&flags, &[IMAGE, &id, "sh", "-c", script]).ok();
    containerd.wait_for(&id, "RUNNING");
    let table = containerd.ctr(&["task", "ls"]).ok();
    let row = table.lines().find(|line| line.starts_with(&id)).unwrap();
    let pid = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert_eq!(read_limit(pid, "memory", "memory.limit_in_bytes", "memory.max"), "67108864");
    let said =
        containerd.ctr(&["task", "exec", "--exec-id", "e", &id, "cat", "/dev/shm/said"]).ok();
    assert_eq!(said, "refused\n");
}
