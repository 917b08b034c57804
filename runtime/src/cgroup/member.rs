//! Pauses, resumes, lists and ends the processes of a group.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc::SIGKILL;
use nix::unistd::Pid;

use super::error::MemberError;
use super::folder::children;
use super::place::Placement;
use crate::kernel_file::{read_text, write_text};
use crate::sys::signal::send_to_pid;

/// How long the kernel may take to stop or end every process of a group.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the processes of a group run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// None is scheduled.
    Frozen,
    /// They run.
    Thawed,
}

/// The file that pauses a group.
enum Freezer {
    V1(PathBuf),
    V2(PathBuf),
}

impl Placement {
    fn freezer(&self) -> Option<Freezer> {
        if let Some(folder) = self.v1_of("freezer") {
            return Some(Freezer::V1(folder.to_path_buf()));
        }
        self.v2.clone().map(Freezer::V2)
    }

    /// Reads whether the group is paused; a group that cannot be is thawed.
    pub fn motion(&self) -> Motion {
        let frozen = match self.freezer() {
            Some(Freezer::V1(folder)) => {
                read_text(folder.join("freezer.state")).is_ok_and(|state| state.trim() != "THAWED")
            }
            Some(Freezer::V2(folder)) => {
                read_text(folder.join("cgroup.freeze")).is_ok_and(|state| state.trim() == "1")
            }
            None => false,
        };
        if frozen { Motion::Frozen } else { Motion::Thawed }
    }

    /// Pauses or resumes every process and waits until the kernel has done it.
    pub fn set_motion(&self, motion: Motion) -> Result<(), MemberError> {
        let action = match motion {
            Motion::Frozen => "pause the container",
            Motion::Thawed => "resume the container",
        };
        match self.freezer() {
            None => Err(MemberError::NoGroup { action: "pause or resume it" }),
            Some(Freezer::V1(folder)) => set_v1(&folder.join("freezer.state"), motion, action),
            Some(Freezer::V2(folder)) => set_v2(&folder, motion, action),
        }
    }

    /// Every process of the group and of those inside it.
    pub fn pids(&self) -> Result<Vec<Pid>, MemberError> {
        let folder =
            self.member_folder().ok_or(MemberError::NoGroup { action: "list its processes" })?;
        let mut found = BTreeSet::new();
        collect(folder, &mut found).map_err(|source| MemberError::File {
            action: "list the processes of the container",
            path: folder.join("cgroup.procs"),
            source,
        })?;
        Ok(found.into_iter().map(Pid::from_raw).collect())
    }

    /// Sends signal `number` to every process; SIGKILL reaches those that are forked meanwhile too.
    pub fn signal_all(&self, number: i32) -> Result<(), MemberError> {
        if number == SIGKILL {
            if self.kill_by_kernel() {
                return Ok(());
            }
            return self.kill_by_rounds();
        }
        for pid in self.pids()? {
            let _ = send_to_pid(pid, number);
        }
        Ok(())
    }

    /// Ends every process and waits until none is left in the group.
    pub fn end_all(&self) -> Result<(), MemberError> {
        if self.member_folder().is_none() {
            return Ok(());
        }
        self.signal_all(SIGKILL)?;
        let deadline = Instant::now() + PATIENCE;
        let mut wait = Duration::from_micros(200);
        while !self.pids()?.is_empty() {
            if Instant::now() > deadline {
                return Err(MemberError::TimedOut { state: "empty", seconds: PATIENCE.as_secs() });
            }
            sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The folder in which the processes are counted: v2 if there is one, which sees them all.
    fn member_folder(&self) -> Option<&Path> {
        let v1 = || self.v1_of("freezer").or_else(|| self.v1_of("pids"));
        let first = || self.v1.first().map(|folder| folder.path.as_path());
        self.v2.as_deref().or_else(v1).or_else(first)
    }

    /// Uses `cgroup.kill` (5.14), which no fork escapes.
    fn kill_by_kernel(&self) -> bool {
        let Some(folder) = &self.v2 else { return false };
        // A group paused through v1 must be let go, or its processes do not die.
        if write_text(folder.join("cgroup.kill"), "1").is_err() {
            return false;
        }
        self.thaw_if_frozen();
        true
    }

    fn kill_by_rounds(&self) -> Result<(), MemberError> {
        // Stopped processes cannot fork while their list is read.
        let stopped = self.set_motion(Motion::Frozen).is_ok();
        for _ in 0..if stopped { 1 } else { 5 } {
            for pid in self.pids()? {
                let _ = send_to_pid(pid, SIGKILL);
            }
        }
        self.thaw_if_frozen();
        Ok(())
    }

    fn thaw_if_frozen(&self) {
        if self.motion() == Motion::Frozen
            && let Err(error) = self.set_motion(Motion::Thawed)
        {
            tracing::debug!(%error, "group not thawed");
        }
    }
}

fn set_v1(file: &Path, motion: Motion, action: &'static str) -> Result<(), MemberError> {
    let failed = |source| MemberError::File { action, path: file.to_path_buf(), source };
    let word = match motion {
        Motion::Frozen => "FROZEN",
        Motion::Thawed => "THAWED",
    };
    let deadline = Instant::now() + PATIENCE;
    let mut wait = Duration::from_micros(50);
    loop {
        write_text(file, word).map_err(failed)?;
        if read_text(file).map_err(failed)?.trim() == word {
            return Ok(());
        }
        if Instant::now() > deadline {
            let _ = write_text(file, "THAWED");
            let state = if motion == Motion::Frozen { "frozen" } else { "thawed" };
            return Err(MemberError::TimedOut { state, seconds: PATIENCE.as_secs() });
        }
        sleep(wait);
        // A process that is being traced or forks may keep FREEZING: it is asked again.
        wait = (wait * 2).min(Duration::from_millis(10));
    }
}

fn set_v2(folder: &Path, motion: Motion, action: &'static str) -> Result<(), MemberError> {
    let file = folder.join("cgroup.freeze");
    let word = if motion == Motion::Frozen { "1" } else { "0" };
    write_text(&file, word).map_err(|source| MemberError::File { action, path: file, source })?;
    let events = folder.join("cgroup.events");
    let wanted = format!("frozen {word}");
    let deadline = Instant::now() + PATIENCE;
    let mut wait = Duration::from_micros(50);
    loop {
        let text = read_text(&events).map_err(|source| MemberError::File {
            action,
            path: events.clone(),
            source,
        })?;
        if text.lines().any(|line| line == wanted) {
            return Ok(());
        }
        if Instant::now() > deadline {
            let state = if motion == Motion::Frozen { "frozen" } else { "thawed" };
            return Err(MemberError::TimedOut { state, seconds: PATIENCE.as_secs() });
        }
        sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(10));
    }
}

/// Reads the processes of `folder` and of every group inside it; a folder that is gone has none.
fn collect(folder: &Path, found: &mut BTreeSet<i32>) -> io::Result<()> {
    match read_text(folder.join("cgroup.procs")) {
        Ok(text) => found.extend(text.lines().filter_map(|line| line.parse::<i32>().ok())),
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) => return Err(error),
    }
    for child in children(folder) {
        collect(&child, found)?;
    }
    Ok(())
}

/// Removed before it was opened, or while it was read.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::ENODEV as i32)
}
