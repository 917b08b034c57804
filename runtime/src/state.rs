//! Decides what is remembered of a container, and what its status is.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::unistd::Pid;
use oci_spec::runtime::{Hooks, LinuxResources};
use serde::{Deserialize, Serialize};

use crate::cgroup::{Manager, Motion, Placement};
use crate::id::ContainerId;
use crate::kernel_file::read_text;
use crate::sys::process::pidfd_open;

/// The version of the runtime-spec that states and reports of ours follow.
pub const OCI_VERSION: &str = "1.3.0";

/// Number of the layout of [`Record`]; another number is another program's file.
pub const RECORD_FORMAT: u32 = 1;

/// What is kept of a container in `state.json`: what start, kill and delete need, and no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// [`RECORD_FORMAT`].
    pub format: u32,
    /// Its name.
    pub id: ContainerId,
    /// Absolute folder of the bundle.
    pub bundle: PathBuf,
    /// Absolute folder of the root file system.
    pub rootfs: PathBuf,
    /// When it was created, RFC 3339 in UTC.
    pub created: String,
    /// The caller who created it.
    pub owner: u32,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// How far its creation came.
    pub phase: Phase,
    /// Its first process; absent while it is being created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<ProcessMark>,
    /// Its control groups.
    #[serde(default)]
    pub placement: Placement,
    /// Who keeps them.
    pub manager: Manager,
    /// True when it has a pid namespace that ends with its first process.
    pub own_pids: bool,
    /// Hooks that run after its creation: `poststart` and `poststop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
    /// The limits in force, without device rules; what `update` changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LinuxResources>,
}

/// How far the creation of a container came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Not finished; when nobody holds its lock, its creator died.
    Creating,
    /// Finished.
    Made,
}

/// A process that is known again after its number was reused: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Its number in the caller's pid namespace.
    pub pid: i32,
    /// Ticks since boot, field 22 of `/proc/PID/stat`.
    pub started: u64,
}

/// The status of a container, as `state` and `list` print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Its creation is not finished.
    Creating,
    /// Its first process waits for `start`.
    Created,
    /// Its program runs.
    Running,
    /// Its processes are frozen.
    Paused,
    /// Its first process has ended.
    Stopped,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Creating => "creating",
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        })
    }
}

/// What `state` and `list` print of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateView {
    /// Version of the runtime-spec this follows.
    #[serde(rename = "ociVersion")]
    pub oci_version: &'static str,
    /// Its name.
    pub id: ContainerId,
    /// Number of its first process; 0 when that has ended.
    pub pid: i32,
    /// Its status.
    pub status: Status,
    /// Absolute folder of the bundle.
    pub bundle: PathBuf,
    /// Absolute folder of the root file system.
    pub rootfs: PathBuf,
    /// When it was created, RFC 3339 in UTC.
    pub created: String,
    /// Name or number of the caller who created it.
    pub owner: String,
    /// Its annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl ProcessMark {
    /// Marks the living process `pid`; `None`: there is none.
    pub fn read(pid: Pid) -> Option<Self> {
        let started = started(pid.as_raw())?;
        Some(Self { pid: pid.as_raw(), started })
    }

    /// True while the process lives; one that only waits to be reaped does not.
    pub fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// A handle to the process, or `None` when it has ended.
    ///
    /// The mark is compared after the handle is open, so the handle is never another process's.
    pub fn open(&self) -> Option<OwnedFd> {
        let pidfd = pidfd_open(Pid::from_raw(self.pid)).ok()?;
        self.is_alive().then_some(pidfd)
    }
}

/// Reads when `pid` started; `None`: it is not there, or a zombie.
fn started(pid: i32) -> Option<u64> {
    parse_started(&read_text(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_started(stat: &str) -> Option<u64> {
    // The name may hold anything, a `)` included.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    (!matches!(state, "Z" | "X" | "x")).then(|| fields.nth(18)?.parse().ok()).flatten()
}

impl Record {
    /// Tells the status; `gate` is the file that exists until `start`.
    pub fn status(&self, gate: &Path) -> Status {
        let Some(init) = &self.init else {
            return match self.phase {
                Phase::Creating => Status::Creating,
                Phase::Made => Status::Stopped,
            };
        };
        if !init.is_alive() {
            return Status::Stopped;
        }
        if gate.exists() {
            return Status::Created;
        }
        match self.placement.motion() {
            Motion::Frozen => Status::Paused,
            Motion::Thawed => Status::Running,
        }
    }

    /// What `state` prints.
    pub fn view(&self, status: Status) -> StateView {
        let alive = self.init.filter(|_| status != Status::Stopped);
        StateView {
            oci_version: OCI_VERSION,
            id: self.id.clone(),
            pid: alive.map_or(0, |init| init.pid),
            status,
            bundle: self.bundle.clone(),
            rootfs: self.rootfs.clone(),
            created: self.created.clone(),
            owner: user_name(self.owner),
            annotations: self.annotations.clone(),
        }
    }
}

/// The name of a user in `/etc/passwd`, else the number.
fn user_name(uid: u32) -> String {
    let text = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let number = uid.to_string();
    let line = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then_some(name)
    });
    line.map_or(number.clone(), str::to_owned)
}

/// Writes `time` as RFC 3339 in UTC with nanoseconds.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86400, since.as_secs() % 86400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let nanos = since.subsec_nanos();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// The date `days` after 1970-01-01. Counts from March, so that a leap day ends its year.
fn date(days: u64) -> (u64, u64, u64) {
    let day = days + 719_468;
    let era = day / 146_097;
    let of_era = day % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_its_date_in_utc() {
        for (seconds, nanos, text) in [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_399, 5, "2000-02-28T23:59:59.000000005Z"),
            (951_782_400, 0, "2000-02-29T00:00:00.000000000Z"),
            (1_798_761_599, 0, "2026-12-31T23:59:59.000000000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::new(seconds, nanos)), text);
        }
    }

    #[test]
    fn a_process_is_known_by_its_start_and_a_zombie_is_none() {
        let line = "7 (a) b) S 1 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4242 9 9";
        assert_eq!(parse_started(line), Some(4242));
        assert_eq!(parse_started(&line.replace(" S ", " Z ")), None);
        assert_eq!(parse_started(""), None);
        let own = ProcessMark::read(Pid::this()).unwrap();
        assert!(own.is_alive() && own.open().is_some());
        let reused = ProcessMark { started: own.started + 1, ..own };
        assert!(!reused.is_alive() && reused.open().is_none());
    }

    #[test]
    fn root_is_known_by_name_and_a_stranger_by_number() {
        assert_eq!(user_name(0), "root");
        assert_eq!(user_name(4_000_000_001), "4000000001");
    }
}
