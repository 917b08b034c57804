//! Makes the process what its plan says: ids, limits, clocks, labels, working folder.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::prctl::{set_dumpable, set_keepcaps, set_pdeathsig};
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, fstat, umask};
use nix::unistd::{Gid, Pid, Uid, fchdir, fchown, getcwd, setgroups, setresgid, setresuid, setsid};

use super::beneath::Beneath;
use super::fault::Fault;
use crate::confine::capability;
use crate::plan::{Clock, ClockOffset, Identity, Ids, NamespaceKind, Rlimit, Schedule};
use crate::sys::id::{self, CapabilitySets};
use crate::sys::schedule::SchedAttr;
use crate::sys::{clone, schedule};

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}

fn write_file(path: &str, text: &str) -> nix::Result<()> {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| errno_of(&error))
}

/// Makes a time namespace, shifts its clocks, and enters it: only those who come later can be shifted.
pub(super) fn time_namespace(offsets: &[ClockOffset]) -> Result<(), Fault> {
    clone::unshare(NamespaceKind::Time.flag())?;
    let line = |offset: &ClockOffset| {
        let clock = match offset.clock {
            Clock::Monotonic => "monotonic",
            Clock::Boottime => "boottime",
        };
        format!("{clock} {} {}\n", offset.seconds, offset.nanoseconds)
    };
    let text: String = offsets.iter().map(line).collect();
    if !text.is_empty() {
        write_file("/proc/self/timens_offsets", &text).map_err(Fault::part("offsets"))?;
    }
    let own = open("/proc/self/ns/time_for_children", OFlag::O_CLOEXEC, Mode::empty())?;
    clone::setns(&own, NamespaceKind::Time.flag())?;
    Ok(())
}

/// How eagerly the kernel kills this process when memory is short.
pub(super) fn oom_score_adjust(score: i32) -> Result<(), Fault> {
    match write_file("/proc/self/oom_score_adj", &score.to_string()) {
        // Lower than the caller's own needs CAP_SYS_RESOURCE on the host: where it is what it is
        // already, nothing is asked for.
        Err(Errno::EACCES | Errno::EPERM) if current_oom_score() == Some(score) => Ok(()),
        other => Ok(other?),
    }
}

fn current_oom_score() -> Option<i32> {
    std::fs::read_to_string("/proc/self/oom_score_adj").ok()?.trim().parse().ok()
}

/// Takes the first of some ids that exists in this user namespace.
pub(super) fn take_first(candidates: &[Ids]) -> Result<(), Fault> {
    let mut refused = Fault::from(Errno::EINVAL);
    for ids in candidates {
        match take_ids(ids) {
            Ok(()) => return Ok(()),
            Err(fault) => refused = fault,
        }
    }
    Err(refused)
}

/// Takes ids. Capabilities are kept over the change; what is in force of them is not, but for root.
pub(super) fn take_ids(ids: &Ids) -> Result<(), Fault> {
    let groups: Vec<Gid> = ids.additional.iter().copied().map(Gid::from_raw).collect();
    match setgroups(&groups) {
        // Where groups cannot be set (user_namespaces(7)) there are none to be taken away but the caller's.
        Err(Errno::EPERM) if groups.is_empty() => {}
        Err(errno) => return Err(Fault::part("additional groups")(errno)),
        Ok(()) => {}
    }
    let gid = Gid::from_raw(ids.gid);
    setresgid(gid, gid, gid).map_err(Fault::part("group"))?;
    set_keepcaps(true)?;
    let uid = Uid::from_raw(ids.uid);
    setresuid(uid, uid, uid).map_err(Fault::part("user"))?;
    set_keepcaps(false)?;
    Ok(())
}

/// Pipes and sockets among the standard streams become the user's, so that `/dev/stdout` can be opened
/// again. Files and terminals of the caller stay as they are.
pub(super) fn own_pipes(uid: u32) {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for stream in [input.as_fd(), output.as_fd(), errors.as_fd()] {
        let Ok(status) = fstat(stream) else { continue };
        let kind = status.st_mode & libc::S_IFMT;
        if status.st_uid != uid && (kind == libc::S_IFIFO || kind == libc::S_IFSOCK) {
            // Where it may not, the stream is as usable as it is now.
            let _ = fchown(stream, Some(Uid::from_raw(uid)), None);
        }
    }
}

/// Puts everything this process may hold in force.
pub(super) fn regain_capabilities() -> Result<(), Fault> {
    let held = id::capget()?;
    id::capset(CapabilitySets { effective: held.permitted, ..held })?;
    Ok(())
}

/// Joins a session keyring that its owner may search, as engines expect (keyctl(2), SETPERM).
pub(super) fn keyring(name: &str) -> Result<(), Fault> {
    const USER_SEARCH: u32 = 0x0008_0000;
    let name = CString::new(name).map_err(|_| Errno::EINVAL)?;
    let Some(ring) = id::join_session_keyring(&name)? else { return Ok(()) };
    let described = id::describe_key(ring)?;
    let mask = described.split(';').nth(3).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let mask = mask.ok_or(Errno::EPROTO)?;
    id::set_key_permissions(ring, mask | USER_SEARCH)?;
    Ok(())
}

/// Sets a limit.
pub(super) fn limit(limit: &Rlimit) -> Result<(), Fault> {
    id::prlimit(Pid::from_raw(0), limit.resource, limit.soft, limit.hard)?;
    Ok(())
}

/// Sets how it is scheduled.
pub(super) fn scheduler(wanted: &Schedule) -> Result<(), Fault> {
    schedule::sched_setattr(SchedAttr {
        policy: wanted.policy,
        flags: wanted.flags,
        nice: wanted.nice,
        priority: wanted.priority,
        runtime: wanted.runtime,
        deadline: wanted.deadline,
        period: wanted.period,
        ..SchedAttr::default()
    })?;
    Ok(())
}

/// Asks `AppArmor` for a profile at the next exec, by the host's procfs.
pub(super) fn apparmor(profile: &str) -> Result<(), Fault> {
    let own = "/proc/self/attr/apparmor/exec";
    let path = if Path::new(own).exists() { own } else { "/proc/self/attr/exec" };
    if !Path::new("/sys/kernel/security/apparmor").exists() && path != own {
        return Err(Fault::refused("the host has no AppArmor"));
    }
    Ok(write_file(path, &format!("exec {profile}"))?)
}

/// Asks `SELinux` for a label at the next exec, by the host's procfs.
pub(super) fn selinux(label: &str) -> Result<(), Fault> {
    if !Path::new("/sys/fs/selinux/enforce").exists() {
        return Err(Fault::refused("the host has no SELinux"));
    }
    Ok(write_file("/proc/self/attr/exec", label)?)
}

/// Enters the working folder, by no magic link, and proves that it is inside (CVE-2024-21626).
pub(super) fn enter_folder(path: &Path) -> Result<(), Fault> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = open("/", flags, Mode::empty())?;
    let folder = Beneath(root.as_fd()).open(path, OFlag::O_PATH | OFlag::O_DIRECTORY)?;
    fchdir(&folder)?;
    prove_inside()
}

/// A current folder outside the root reads `(unreachable)…` (getcwd(3)).
pub(super) fn prove_inside() -> Result<(), Fault> {
    let outside =
        || Fault::refused("the current working directory is outside of the container's root");
    match getcwd() {
        Ok(path) if path.is_absolute() => Ok(()),
        Ok(_) | Err(Errno::ENOENT) => Err(outside()),
        Err(errno) => Err(errno.into()),
    }
}

/// The home folder of `uid` by the container's own `/etc/passwd`; `/` when it does not say.
pub(super) fn home_of(uid: u32) -> PathBuf {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let read = || -> Option<Vec<u8>> {
        let root = open("/", flags, Mode::empty()).ok()?;
        let passwd = Beneath(root.as_fd())
            .open(Path::new("/etc/passwd"), OFlag::O_RDONLY | OFlag::O_NONBLOCK)
            .ok()?;
        let mut text = Vec::new();
        let mut limited = std::io::Read::take(std::fs::File::from(passwd), 4 << 20);
        std::io::Read::read_to_end(&mut limited, &mut text).ok()?;
        Some(text)
    };
    let text = read().unwrap_or_default();
    home_in(&text, uid).unwrap_or_else(|| PathBuf::from("/"))
}

fn home_in(passwd: &[u8], uid: u32) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let wanted = uid.to_string();
    passwd.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let home = fields.get(5)?;
        let own = fields.get(2)? == &wanted.as_bytes() && home.first() == Some(&b'/');
        own.then(|| PathBuf::from(std::ffi::OsString::from_vec(home.to_vec())))
    })
}

/// What the process makes of itself needs nothing but the step.
pub(super) fn take_on(step: &Identity) -> Result<(), Fault> {
    match step {
        Identity::OomScoreAdjust(score) => oom_score_adjust(*score),
        Identity::NotDumpable => Ok(set_dumpable(false)?),
        Identity::EndWithParent => Ok(set_pdeathsig(Signal::SIGKILL)?),
        Identity::MakerIds(candidates) => take_first(candidates),
        Identity::UserIds(ids) => {
            own_pipes(ids.uid);
            take_ids(ids)
        }
        Identity::NewSession => Ok(setsid().map(drop)?),
        Identity::Keyring(name) => keyring(name),
        Identity::ApparmorProfile(name) => apparmor(name),
        Identity::SelinuxLabel(label) => selinux(label),
        Identity::CpuAffinity(cpus) => Ok(schedule::set_affinity(cpus)?),
        Identity::Schedule(wanted) => scheduler(wanted),
        Identity::IoPriority(value) => Ok(schedule::ioprio_set(*value)?),
        Identity::MemoryPolicy(policy) => Ok(schedule::set_mempolicy(policy.mode, &policy.nodes)?),
        Identity::Personality(domain) => Ok(schedule::personality(*domain)?),
        Identity::Rlimit(wanted) => limit(wanted),
        Identity::Umask(mask) => {
            umask(Mode::from_bits_truncate(*mask));
            Ok(())
        }
        Identity::Cwd(path) => enter_folder(path),
        Identity::BoundingSet(kept) => Ok(capability::limit_bounding(*kept)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_that_of_the_first_line_with_the_id() {
        let passwd =
            b"root:x:0:0::/root:/bin/sh\nbroken:x\nu:x:1000:1::/home/u:/x\nv:x:1000:1::/v:\n";
        for (uid, home) in [(0, Some("/root")), (1000, Some("/home/u")), (4242, None)] {
            assert_eq!(home_in(passwd, uid), home.map(PathBuf::from), "{uid}");
        }
    }
}
