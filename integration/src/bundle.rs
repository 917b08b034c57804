//! OCI bundles around a static busybox.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::{Run, Scratch};

/// A bundle on disk; each change is written at once.
#[derive(Debug)]
pub struct Bundle {
    folder: PathBuf,
    config: Value,
}

impl Bundle {
    /// A bundle below `scratch` whose root file system is a busybox with its links, and whose config is the
    /// one that `spec` verbs write, without a terminal.
    #[must_use]
    pub fn busybox(scratch: &Scratch, name: &str) -> Self {
        let folder = scratch.folder(name);
        fill_with_busybox(&folder.join("rootfs"));
        let bundle = Self { folder, config: config() };
        bundle.write();
        bundle
    }

    /// A bundle that is there already.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("config.json")).unwrap();
        Self { folder: folder.to_owned(), config: serde_json::from_str(&text).unwrap() }
    }

    /// The same, running these words.
    #[must_use]
    pub fn args<const N: usize>(self, args: [&str; N]) -> Self {
        self.edit(|config| config["process"]["args"] = json!(args.as_slice()))
    }

    /// The same, running this shell script.
    #[must_use]
    pub fn shell(self, script: &str) -> Self {
        self.args(["/bin/sh", "-c", script])
    }

    /// The same with another config.
    #[must_use]
    pub fn edit(mut self, change: impl FnOnce(&mut Value)) -> Self {
        self.change(change);
        self
    }

    /// Changes the config.
    pub fn change(&mut self, change: impl FnOnce(&mut Value)) {
        change(&mut self.config);
        self.write();
    }

    /// The same with one more mount, after the others.
    #[must_use]
    pub fn mount(self, mount: Value) -> Self {
        self.edit(|config| config["mounts"].as_array_mut().unwrap().push(mount))
    }

    /// The same without the mounts on these places.
    #[must_use]
    pub fn without_mounts(self, places: &[&str]) -> Self {
        self.edit(|config| {
            config["mounts"].as_array_mut().unwrap().retain(|mount| {
                !places.iter().any(|place| mount["destination"].as_str() == Some(place))
            });
        })
    }

    /// The same for a caller without root: a user namespace that maps container root to `uid`, and nothing
    /// that an ordinary user may not have.
    #[must_use]
    pub fn rootless(self, uid: u32) -> Self {
        self.edit(|config| {
            let linux = &mut config["linux"];
            linux["uidMappings"] = json!([{"containerID": 0, "hostID": uid, "size": 1}]);
            linux["gidMappings"] = json!([{"containerID": 0, "hostID": uid, "size": 1}]);
            linux["namespaces"].as_array_mut().unwrap().push(json!({"type": "user"}));
            linux.as_object_mut().unwrap().remove("resources");
            for mount in config["mounts"].as_array_mut().unwrap() {
                if let Some(options) = mount["options"].as_array_mut() {
                    options.retain(|option| option != "gid=5");
                }
            }
        })
    }

    /// The folder that holds `config.json`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path inside the root file system, seen from outside.
    pub fn inside(&self, path: &str) -> PathBuf {
        self.folder.join("rootfs").join(path.trim_start_matches('/'))
    }

    /// What `config.json` says.
    pub fn config(&self) -> &Value {
        &self.config
    }

    fn write(&self) {
        let text = serde_json::to_vec_pretty(&self.config).unwrap();
        fs::write(self.folder.join("config.json"), text).unwrap();
    }
}

/// Fills a folder with a static busybox, a link for each of its programs, and the folders that mounts
/// are made on.
pub fn fill_with_busybox(root: &Path) {
    for folder in ["bin", "dev", "etc", "proc", "root", "sys", "tmp", "usr", "var"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::set_permissions(root.join("tmp"), Permissions::from_mode(0o1777)).unwrap();
    let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new).into_iter();
    let busybox =
        busybox.clone().find(|path| path.is_file()).expect("needs Debian's busybox-static");
    fs::copy(busybox, root.join("bin/busybox")).unwrap();
    let list = Command::new(busybox).arg("--list").finish().ok();
    for applet in list.lines().filter(|applet| *applet != "busybox") {
        symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").unwrap();
    fs::write(root.join("etc/group"), "root:x:0:\n").unwrap();
}

fn config() -> Value {
    let capabilities = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"];
    json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false,
            "user": {"uid": 0, "gid": 0},
            "args": ["sh"],
            "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm"],
            "cwd": "/",
            "capabilities": {
                "bounding": capabilities, "effective": capabilities, "permitted": capabilities,
            },
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
            "noNewPrivileges": true,
        },
        "root": {"path": "rootfs", "readonly": true},
        "hostname": "capsule",
        "mounts": mounts(),
        "linux": {
            "resources": {"devices": [{"allow": false, "access": "rwm"}]},
            "namespaces": [
                {"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"},
                {"type": "cgroup"},
            ],
            "maskedPaths": [
                "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/sys/firmware", "/proc/scsi",
            ],
            "readonlyPaths": [
                "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
            ],
        },
    })
}

fn mounts() -> Value {
    json!([
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
         "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
        {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
         "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm",
         "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
        {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue",
         "options": ["nosuid", "noexec", "nodev"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs",
         "options": ["nosuid", "noexec", "nodev", "ro"]},
        {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
         "options": ["nosuid", "noexec", "nodev", "relatime", "ro"]},
    ])
}
