//! Running as an ordinary user: an id without a name, with a control group that root handed over.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::unistd::{Gid, Uid, chown, geteuid};

use crate::{Runtime, Scratch, hierarchies};

/// An ordinary user with a home, a runtime folder and control groups of its own. Where the tests already
/// run as one, it is that user.
#[derive(Debug)]
pub struct OrdinaryUser {
    uid: u32,
    home: PathBuf,
    cgroups: Vec<PathBuf>,
    is_self: bool,
}

impl OrdinaryUser {
    /// Makes the user's folders below `scratch` and its control groups, empty and delegated.
    #[must_use]
    pub fn new(scratch: &Scratch) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let is_self = !geteuid().is_root();
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        let uid = if is_self {
            geteuid().as_raw()
        } else {
            700_000 + std::process::id() % 2000 + serial * 2000
        };
        let home = scratch.folder(&format!("home-{uid}-{serial}"));
        let mut user = Self { uid, home, cgroups: Vec::new(), is_self };
        fs::create_dir(user.runtime_folder()).unwrap();
        if !is_self {
            user.own(&user.home);
            user.own(&user.runtime_folder());
            user.delegate(&scratch.name(&format!("user-{uid}")));
        }
        user
    }

    /// Its number, also its group's.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Its home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// `XDG_RUNTIME_DIR`.
    pub fn runtime_folder(&self) -> PathBuf {
        self.home.join(".run")
    }

    /// Hands a file or folder over, alone.
    pub fn own(&self, path: &Path) {
        if !self.is_self {
            chown(path, Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.uid))).unwrap();
        }
    }

    /// Hands a folder over with everything in it.
    pub fn own_all(&self, path: &Path) {
        if !self.is_self {
            let owner = format!("{0}:{0}", self.uid);
            let status = Command::new("chown").args(["-hR", &owner]).arg(path).status().unwrap();
            assert!(status.success());
        }
    }

    /// A command of this user, in its control groups and home, with nothing of our environment but `PATH`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_behind(None, program.as_ref())
    }

    /// A command of a runtime, which is copied to where the user may run it. What root must do for it first
    /// is done.
    pub fn command_of(&self, runtime: &Runtime) -> Command {
        let (program, before) = runtime.plain();
        if self.is_self {
            return self.command(program);
        }
        let folder = self.home.parent().unwrap().join("programs");
        fs::create_dir_all(&folder).unwrap();
        let copy = folder.join(program.file_name().unwrap());
        if !copy.exists() {
            fs::copy(program, &copy).unwrap();
        }
        self.command_behind(before.as_deref(), copy.as_os_str())
    }

    fn command_behind(&self, before: Option<&Path>, program: &OsStr) -> Command {
        // Written as `0` to `tasks`, and by a shell that then becomes the command: no process in between.
        let mut script = String::new();
        for folder in &self.cgroups {
            let file = if folder.join("tasks").exists() {
                folder.join("tasks")
            } else {
                self.part_of(folder).join("cgroup.procs")
            };
            let _ = write!(script, "echo 0 >{} && ", file.display());
        }
        script.push_str("exec ");
        if let Some(before) = before {
            let _ = write!(script, "{} ", before.display());
        }
        if !self.is_self {
            let _ = write!(script, "setpriv --reuid {0} --regid {0} --clear-groups ", self.uid);
        }
        script.push_str("\"$@\"");
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg("sh").arg(program);
        command.env_clear().current_dir(&self.home);
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", &self.home).env("XDG_RUNTIME_DIR", self.runtime_folder());
        if self.is_self {
            // The session's own, through which a service manager may be asked for a control group.
            let session = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
            command
                .envs(session.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command
    }

    /// A group of its own for each command on v2: whoever limits groups below its own leaves, so that nobody
    /// else may enter it.
    fn part_of(&self, folder: &Path) -> PathBuf {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let part = folder.join(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&part).unwrap();
        self.hand_over(&part);
        part
    }

    /// A control group with the files that delegation is about.
    fn hand_over(&self, group: &Path) {
        self.own(group);
        for file in ["tasks", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"] {
            if group.join(file).exists() {
                self.own(&group.join(file));
            }
        }
    }

    fn delegate(&mut self, name: &str) {
        for hierarchy in hierarchies() {
            let folder = hierarchy.mount.join(name);
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if let Ok(value) = fs::read(hierarchy.mount.join(file)) {
                    let _ = fs::write(folder.join(file), value);
                }
            }
            self.hand_over(&folder);
            if hierarchy.is_v2 {
                // What the kernel can give goes on to the groups of the commands.
                let all = fs::read_to_string(folder.join("cgroup.controllers")).unwrap_or_default();
                for controller in all.split_whitespace() {
                    let _ =
                        fs::write(folder.join("cgroup.subtree_control"), format!("+{controller}"));
                }
            }
            self.cgroups.push(folder);
        }
    }
}

impl Drop for OrdinaryUser {
    fn drop(&mut self) {
        for folder in &self.cgroups {
            remove_groups(folder);
        }
    }
}

/// Removes a control group and those inside it, innermost first; what still lives in one keeps it.
fn remove_groups(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_groups(&entry.path());
        }
    }
    for _ in 0..50 {
        if fs::remove_dir(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
