//! Decides which device nodes a container gets.

use std::path::PathBuf;

use oci_spec::runtime::{LinuxDevice, LinuxDeviceType};
use serde::{Deserialize, Serialize};

use super::mount::clean;
use crate::error::ExecPlanError;

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Absolute in the container.
    pub path: PathBuf,
    /// What it is.
    pub kind: DeviceKind,
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// Permission bits.
    pub mode: u32,
    /// Owner in the container.
    pub uid: u32,
    /// Group in the container.
    pub gid: u32,
}

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// Character device.
    Character,
    /// Block device.
    Block,
    /// Named pipe.
    Fifo,
}

impl DeviceKind {
    pub(crate) const fn mode_bits(self) -> u32 {
        match self {
            Self::Character => libc::S_IFCHR,
            Self::Block => libc::S_IFBLK,
            Self::Fifo => libc::S_IFIFO,
        }
    }
}

/// The devices that every container has (runtime-spec, config-linux.md, "Default Devices").
const DEFAULTS: [(&str, u32, u32); 6] = [
    ("/dev/null", 1, 3),
    ("/dev/zero", 1, 5),
    ("/dev/full", 1, 7),
    ("/dev/random", 1, 8),
    ("/dev/urandom", 1, 9),
    ("/dev/tty", 5, 0),
];

/// The links that every container has (the same chapter).
pub(crate) const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The default devices and `linux.devices`; an entry of the latter replaces a default at its path.
pub(crate) fn devices(entries: &[LinuxDevice]) -> Result<Vec<Device>, ExecPlanError> {
    let asked = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| device(index, entry))
        .collect::<Result<Vec<_>, _>>()?;
    let default = |(path, major, minor): (&str, u32, u32)| Device {
        path: PathBuf::from(path),
        kind: DeviceKind::Character,
        major,
        minor,
        mode: 0o666,
        uid: 0,
        gid: 0,
    };
    let mut all: Vec<Device> = DEFAULTS.map(default).into();
    all.retain(|device| asked.iter().all(|other| other.path != device.path));
    all.extend(asked);
    Ok(all)
}

fn device(index: usize, entry: &LinuxDevice) -> Result<Device, ExecPlanError> {
    let invalid = |name: &str, value: String, reason| ExecPlanError::Invalid {
        key: format!("linux.devices[{index}].{name}"),
        value,
        reason,
    };
    let number = |name: &str, value: i64| {
        u32::try_from(value).map_err(|_| invalid(name, value.to_string(), "is no device number"))
    };
    let kind = match entry.typ() {
        LinuxDeviceType::C | LinuxDeviceType::U => DeviceKind::Character,
        LinuxDeviceType::B => DeviceKind::Block,
        LinuxDeviceType::P => DeviceKind::Fifo,
        LinuxDeviceType::A => {
            return Err(invalid("type", "a".to_owned(), "is a rule for all devices, not a device"));
        }
    };
    if !entry.path().is_absolute() {
        let key = format!("linux.devices[{index}].path");
        return Err(ExecPlanError::Relative { key, path: entry.path().clone() });
    }
    let fifo = kind == DeviceKind::Fifo;
    Ok(Device {
        path: clean(entry.path()),
        kind,
        major: if fifo { 0 } else { number("major", entry.major())? },
        minor: if fifo { 0 } else { number("minor", entry.minor())? },
        mode: entry.file_mode().unwrap_or(0o666) & 0o7777,
        uid: entry.uid().unwrap_or(0),
        gid: entry.gid().unwrap_or(0),
    })
}
