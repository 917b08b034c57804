//! Decides what the process itself is: program, ids, limits, scheduling.

use oci_spec::runtime as oci;
use serde::{Deserialize, Serialize};

use super::options::ExecOptions;
use super::step::{Affinity, Ids, Rlimit, Schedule, Terminal};
use crate::error::ExecPlanError;

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// `argv`; the first is looked for in `PATH` when it has no slash.
    pub args: Vec<String>,
    /// `KEY=value`; `HOME` is added from the container's passwd when it is missing or empty.
    pub env: Vec<String>,
    /// It is told its own number as `LISTEN_PID`.
    pub listens: bool,
}

impl Program {
    pub(crate) fn parse(
        process: &oci::Process,
        options: &ExecOptions,
    ) -> Result<Self, ExecPlanError> {
        let args = process.args().clone().unwrap_or_default();
        if args.is_empty() {
            return Err(ExecPlanError::Missing { key: "process.args" });
        }
        let mut env = process.env().clone().unwrap_or_default();
        check_text("process.args", &args)?;
        check_text("process.env", &env)?;
        if options.listen_fds > 0 {
            env.retain(|entry| {
                !entry.starts_with("LISTEN_FDS=") && !entry.starts_with("LISTEN_PID=")
            });
            env.push(format!("LISTEN_FDS={}", options.listen_fds));
        }
        Ok(Self { args, env, listens: options.listen_fds > 0 })
    }
}

fn check_text(key: &str, texts: &[String]) -> Result<(), ExecPlanError> {
    match texts.iter().position(|text| text.contains('\0')) {
        None => Ok(()),
        Some(index) => Err(ExecPlanError::Invalid {
            key: format!("{key}[{index}]"),
            value: texts[index].escape_default().to_string(),
            reason: "has a NUL byte",
        }),
    }
}

/// Reads `process.user`.
pub(crate) fn ids(user: &oci::User) -> Ids {
    Ids {
        uid: user.uid(),
        gid: user.gid(),
        additional: user.additional_gids().clone().unwrap_or_default(),
    }
}

/// Reads `process.terminal` and `process.consoleSize`.
pub(crate) fn terminal(process: &oci::Process) -> Result<Option<Terminal>, ExecPlanError> {
    if process.terminal() != Some(true) {
        return Ok(None);
    }
    let size = match process.console_size() {
        None => None,
        Some(size) => {
            let length = |name: &str, value: u64| {
                u16::try_from(value).map_err(|_| ExecPlanError::Invalid {
                    key: format!("process.consoleSize.{name}"),
                    value: value.to_string(),
                    reason: "is more than a terminal has",
                })
            };
            Some((length("height", size.height())?, length("width", size.width())?))
        }
    };
    Ok(Some(Terminal { size, uid: process.user().uid() }))
}

/// Reads `process.rlimits`.
pub(crate) fn rlimits(process: &oci::Process) -> Result<Vec<Rlimit>, ExecPlanError> {
    let mut limits: Vec<Rlimit> = Vec::new();
    for (index, limit) in process.rlimits().iter().flatten().enumerate() {
        let resource = resource(limit.typ());
        let key = format!("process.rlimits[{index}]");
        if limits.iter().any(|other| other.resource == resource) {
            return Err(ExecPlanError::Conflict { key, reason: "is the second limit of its type" });
        }
        if limit.soft() > limit.hard() {
            return Err(ExecPlanError::Conflict { key, reason: "has a `soft` above its `hard`" });
        }
        let name = limit.typ().to_string();
        limits.push(Rlimit { name, resource, soft: limit.soft(), hard: limit.hard() });
    }
    Ok(limits)
}

const fn resource(kind: oci::PosixRlimitType) -> u32 {
    match kind {
        oci::PosixRlimitType::RlimitCpu => libc::RLIMIT_CPU,
        oci::PosixRlimitType::RlimitFsize => libc::RLIMIT_FSIZE,
        oci::PosixRlimitType::RlimitData => libc::RLIMIT_DATA,
        oci::PosixRlimitType::RlimitStack => libc::RLIMIT_STACK,
        oci::PosixRlimitType::RlimitCore => libc::RLIMIT_CORE,
        oci::PosixRlimitType::RlimitRss => libc::RLIMIT_RSS,
        oci::PosixRlimitType::RlimitNproc => libc::RLIMIT_NPROC,
        oci::PosixRlimitType::RlimitNofile => libc::RLIMIT_NOFILE,
        oci::PosixRlimitType::RlimitMemlock => libc::RLIMIT_MEMLOCK,
        oci::PosixRlimitType::RlimitAs => libc::RLIMIT_AS,
        oci::PosixRlimitType::RlimitLocks => libc::RLIMIT_LOCKS,
        oci::PosixRlimitType::RlimitSigpending => libc::RLIMIT_SIGPENDING,
        oci::PosixRlimitType::RlimitMsgqueue => libc::RLIMIT_MSGQUEUE,
        oci::PosixRlimitType::RlimitNice => libc::RLIMIT_NICE,
        oci::PosixRlimitType::RlimitRtprio => libc::RLIMIT_RTPRIO,
        oci::PosixRlimitType::RlimitRttime => libc::RLIMIT_RTTIME,
    }
}

/// Reads `process.scheduler`.
pub(crate) fn schedule(process: &oci::Process) -> Result<Option<Schedule>, ExecPlanError> {
    let Some(scheduler) = process.scheduler() else { return Ok(None) };
    let policy = match scheduler.policy() {
        oci::LinuxSchedulerPolicy::SchedOther => 0,
        oci::LinuxSchedulerPolicy::SchedFifo => 1,
        oci::LinuxSchedulerPolicy::SchedRr => 2,
        oci::LinuxSchedulerPolicy::SchedBatch => 3,
        oci::LinuxSchedulerPolicy::SchedIso => 4,
        oci::LinuxSchedulerPolicy::SchedIdle => 5,
        oci::LinuxSchedulerPolicy::SchedDeadline => 6,
    };
    let priority = scheduler.priority().unwrap_or(0);
    let priority = u32::try_from(priority).map_err(|_| ExecPlanError::Invalid {
        key: "process.scheduler.priority".to_owned(),
        value: priority.to_string(),
        reason: "is negative",
    })?;
    let flag = |flag: &oci::LinuxSchedulerFlag| match flag {
        oci::LinuxSchedulerFlag::SchedResetOnFork => 0x01,
        oci::LinuxSchedulerFlag::SchedFlagReclaim => 0x02,
        oci::LinuxSchedulerFlag::SchedFlagDLOverrun => 0x04,
        oci::LinuxSchedulerFlag::SchedFlagKeepPolicy => 0x08,
        oci::LinuxSchedulerFlag::SchedFlagKeepParams => 0x10,
        oci::LinuxSchedulerFlag::SchedFlagUtilClampMin => 0x20,
        oci::LinuxSchedulerFlag::SchedFlagUtilClampMax => 0x40,
    };
    Ok(Some(Schedule {
        policy,
        nice: scheduler.nice().unwrap_or(0),
        priority,
        flags: scheduler.flags().iter().flatten().map(flag).fold(0, |all, bit| all | bit),
        runtime: scheduler.runtime().unwrap_or(0),
        deadline: scheduler.deadline().unwrap_or(0),
        period: scheduler.period().unwrap_or(0),
    }))
}

/// Reads `process.ioPriority` as `ioprio_set` takes it.
pub(crate) fn io_priority(process: &oci::Process) -> Result<Option<u32>, ExecPlanError> {
    let Some(priority) = process.io_priority() else { return Ok(None) };
    let class = match priority.class() {
        oci::IOPriorityClass::IoprioClassRt => 1,
        oci::IOPriorityClass::IoprioClassBe => 2,
        oci::IOPriorityClass::IoprioClassIdle => 3,
    };
    match u32::try_from(priority.priority()) {
        Ok(level) if level <= 7 => Ok(Some(class << 13 | level)),
        _ => Err(ExecPlanError::Invalid {
            key: "process.ioPriority.priority".to_owned(),
            value: priority.priority().to_string(),
            reason: "is not between 0 and 7",
        }),
    }
}

/// Reads `process.execCPUAffinity`.
pub(crate) fn affinity(process: &oci::Process) -> Result<Affinity, ExecPlanError> {
    let Some(affinity) = process.exec_cpu_affinity() else { return Ok(Affinity::default()) };
    let read = |name: &str, list: &Option<String>| {
        list.as_deref().filter(|list| !list.is_empty()).map(|list| bit_list(name, list)).transpose()
    };
    Ok(Affinity {
        initial: read("process.execCPUAffinity.initial", affinity.initial())?,
        last: read("process.execCPUAffinity.final", affinity.cpu_affinity_final())?,
    })
}

/// Reads `0-3,7` as bits: bit n of word n / 64.
pub(crate) fn bit_list(key: &str, list: &str) -> Result<Vec<u64>, ExecPlanError> {
    const MOST: usize = 16 * 1024;
    let invalid = || ExecPlanError::Invalid {
        key: key.to_owned(),
        value: list.to_owned(),
        reason: "is no list such as `0-3,7`",
    };
    let mut bits = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let low: usize = low.trim().parse().map_err(|_| invalid())?;
        let high: usize = high.trim().parse().map_err(|_| invalid())?;
        if low > high || high >= MOST {
            return Err(invalid());
        }
        if bits.len() <= high / 64 {
            bits.resize(high / 64 + 1, 0u64);
        }
        for bit in low..=high {
            bits[bit / 64] |= 1 << (bit % 64);
        }
    }
    Ok(bits)
}

/// Reads `process.cwd`.
pub(crate) fn cwd(process: &oci::Process) -> Result<std::path::PathBuf, ExecPlanError> {
    let cwd = process.cwd();
    if cwd.as_os_str().is_empty() {
        return Err(ExecPlanError::Missing { key: "process.cwd" });
    }
    if !cwd.is_absolute() {
        let key = "process.cwd".to_owned();
        return Err(ExecPlanError::Relative { key, path: cwd.clone() });
    }
    Ok(cwd.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_become_bits() {
        for (list, bits) in [
            ("0", Some(vec![1])),
            ("0-3,7", Some(vec![0b1000_1111])),
            ("64", Some(vec![0, 1])),
            ("3-1", None),
            ("", None),
            ("1,", None),
            ("99999999", None),
        ] {
            assert_eq!(bit_list("k", list).ok(), bits, "{list}");
        }
    }
}
