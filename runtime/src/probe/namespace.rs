//! Makes a capsule's namespaces and root in children, with what a capsule really needs.

use std::fs;
use std::path::Path;

use mur_policy::NamespaceProbe;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{chdir, getegid, geteuid, mkdir, pivot_root};

use crate::probe::report::{AtStep as _, Refusal, Reporter, try_in_child};
use crate::sys::net::loopback_up;
use crate::sys::rehearsal::{has_mount_setattr, in_child};

/// The folder that attempts mount over, in a namespace of their own.
const SCRATCH: &str = "/tmp";

/// Tries each namespace, the later ones inside the earlier.
pub(crate) fn probe() -> NamespaceProbe {
    let answers = try_in_child(|reporter| {
        if reporter.say("network", network()) && reporter.say("mount", private_mounts()) {
            let tried = aside(|| {
                reporter.say("composed root", composed_root());
            });
            if let Err(refusal) = tried {
                reporter.say("composed root", Err(refusal));
            }
            fresh_procfs(reporter);
        }
    });
    NamespaceProbe {
        network: answers.attempt("network"),
        mount: answers.attempt("mount"),
        composed_root: answers.attempt("composed root"),
        procfs: answers.attempt("procfs"),
        mount_setattr: has_mount_setattr(),
        openat2: has_openat2(),
    }
}

/// The session's network namespace with nothing allowed: its owner's user namespace, and a loopback that is up.
fn network() -> Result<(), Refusal> {
    let ids = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).at("unshare(NEWUSER|NEWNET)")?;
    map_to_itself(ids)?;
    loopback_up().at("loopback")
}

/// Maps one user and group to themselves, as a capsule's are.
fn map_to_itself((uid, gid): (u32, u32)) -> Result<(), Refusal> {
    fs::write("/proc/self/setgroups", "deny").at("setgroups")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1\n")).at("uid_map")?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1\n")).at("gid_map")
}

/// A private mount namespace with a bind over `/tmp`.
fn private_mounts() -> Result<(), Refusal> {
    unshare(CloneFlags::CLONE_NEWNS).at("unshare(NEWNS)")?;
    make_private()?;
    let none: Option<&str> = None;
    // With what is mounted below it: one's own part of a tree that a more privileged namespace made cannot be
    // bound alone (`mount_namespaces(7)`).
    mount(Some(SCRATCH), SCRATCH, none, MsFlags::MS_BIND | MsFlags::MS_REC, none).at("bind(/tmp)")
}

fn make_private() -> Result<(), Refusal> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).at("private(/)")
}

/// The root of a sealed capsule, empty: nested namespaces, a tmpfs, the pivot, the old root gone.
fn composed_root() -> Result<(), Refusal> {
    let ids = (geteuid().as_raw(), getegid().as_raw());
    let scratch = Path::new(SCRATCH);
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).at("unshare(NEWUSER|NEWNS)")?;
    map_to_itself(ids)?;
    make_private()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), scratch, Some("tmpfs"), flags, Some("mode=0755")).at("tmpfs")?;
    let parking = scratch.join("old");
    mkdir(&parking, nix::sys::stat::Mode::S_IRWXU).at("parking")?;
    pivot_root(scratch, &parking).at("pivot_root")?;
    chdir("/").at("pivot_root")?;
    umount2("/old", MntFlags::MNT_DETACH).at("detach")
}

/// A fresh procfs for a new pid namespace, which only a child of the one who made it is in.
fn fresh_procfs(reporter: &mut Reporter) {
    if let Err(refusal) = unshare(CloneFlags::CLONE_NEWPID).at("unshare(NEWPID)") {
        reporter.say("procfs", Err(refusal));
        return;
    }
    let tried = aside(|| {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let mounted = mount(Some("proc"), SCRATCH, Some("proc"), flags, Some("hidepid=2"));
        reporter.say("procfs", mounted.at("mount(proc)"));
    });
    if let Err(refusal) = tried {
        reporter.say("procfs", Err(refusal));
    }
}

/// Does something in a child and waits for it, so that what it changes is gone again.
fn aside(work: impl FnOnce()) -> Result<(), Refusal> {
    let child = in_child(work).at("fork")?;
    // Whoever ended it ended the attempt.
    let ended = matches!(waitpid(child, None).at("fork")?, WaitStatus::Signaled(..));
    if ended { Err(Refusal { step: "fork", errno: Errno::EINTR }) } else { Ok(()) }
}

/// Whether the kernel has `openat2`.
fn has_openat2() -> bool {
    let how = nix::fcntl::OpenHow::new().flags(nix::fcntl::OFlag::O_PATH);
    nix::fcntl::openat2(nix::fcntl::AT_FDCWD, ".", how).err() != Some(Errno::ENOSYS)
}
