//! Compiles `linux.seccomp` to a BPF program: a range tree over the calls of each architecture.

mod arch;
mod bpf;
mod calls;
mod mux;
mod rule;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use oci_spec::runtime::{LinuxSeccomp, LinuxSeccompFilterFlag};
use serde::{Deserialize, Serialize};

use crate::error::ExecPlanError;
use arch::{Table, X32_BIT};
use bpf::{Code, Range};
use rule::{KILL_PROCESS, NOT_THERE, Profile, Verdict};

/// A compiled filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFilter {
    /// Classic BPF, one instruction a word: code, jt, jf from the high bits, k below.
    pub program: Vec<u64>,
    /// `SECCOMP_FILTER_FLAG_*`.
    pub flags: u32,
    /// Where the notify descriptor goes; set when an action notifies.
    pub listener: Option<Listener>,
}

/// Who answers notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// A unix socket of the host.
    pub path: PathBuf,
    /// Passed on as it is.
    pub metadata: String,
}

const FLAG_TSYNC: u32 = 1;
const FLAG_LOG: u32 = 1 << 1;
const FLAG_SPEC_ALLOW: u32 = 1 << 2;
const FLAG_NEW_LISTENER: u32 = 1 << 3;
const FLAG_WAIT_KILLABLE: u32 = 1 << 5;

/// The most instructions the kernel takes (`BPF_MAXINSNS`).
const MOST_INSTRUCTIONS: usize = 4096;

/// Compiles a profile. Calls that an architecture does not have are left out, which only narrows.
///
/// # Errors
/// A value that no filter can express, by its key path.
pub fn compile(seccomp: &LinuxSeccomp) -> Result<SyscallFilter, ExecPlanError> {
    let profile = Profile::parse(seccomp)?;
    let declared = seccomp.architectures().as_deref().unwrap_or_default();
    let tables = arch::chosen(declared).ok_or(ExecPlanError::Conflict {
        key: "linux.seccomp".to_owned(),
        reason: "cannot be compiled: the call numbers of this machine are not known",
    })?;
    let code = program(&profile, &tables);
    if code.len() > MOST_INSTRUCTIONS {
        return Err(ExecPlanError::Conflict {
            key: "linux.seccomp.syscalls".to_owned(),
            reason: "needs more instructions than the kernel takes (4096)",
        });
    }
    Ok(SyscallFilter {
        program: code.into_iter().map(bpf::Instruction::pack).collect(),
        flags: flags(seccomp, profile.notifies),
        listener: listener(seccomp, profile.notifies)?,
    })
}

/// Native first: it is asked most. A call by an architecture that is not declared ends the process, as
/// does an x32 call where x32 is not declared.
fn program(profile: &Profile<'_>, tables: &[Table]) -> Code {
    let mut code = vec![bpf::load_arch()];
    for &table in tables.iter().filter(|table| **table != Table::X32) {
        let mut body = vec![bpf::load_number()];
        let x32 = (table == Table::X86_64).then(|| tables.contains(&Table::X32));
        body.extend(calls(profile, table, x32));
        code.extend(bpf::when_equal(table.audit(), body));
    }
    code.push(bpf::answer(KILL_PROCESS));
    code
}

/// The tree of one architecture. `x32`: its numbers begin within this one, and are declared or not.
fn calls(profile: &Profile<'_>, table: Table, x32: Option<bool>) -> Code {
    let own = profile.verdicts(table);
    let beyond = if x32 == Some(true) { profile.verdicts(Table::X32) } else { Vec::new() };
    let default = Verdict::always(profile.default);
    // Beyond the newest call a profile speaks of: libc tries an older call on ENOSYS only.
    let missing = Verdict::always(NOT_THERE);
    let newer = if profile.denies_by_errno() { &missing } else { &default };
    let foreign = Verdict::always(KILL_PROCESS);

    let mut segment = Segment { ranges: Vec::with_capacity(64), default: &default, newer };
    segment.lay(0, &own, table.narrow());
    match x32 {
        None => {}
        Some(true) => segment.lay(X32_BIT, &beyond, Table::X32.narrow()),
        Some(false) => {
            segment.push(X32_BIT, &foreign, false);
            // A number that never was one, which some programs try: not a call of x32.
            segment.push(u32::MAX, newer, false);
        }
    }
    bpf::tree(&segment.ranges)
}

/// Ranges of call numbers, in ascending order and without a gap.
struct Segment<'a> {
    ranges: Vec<Range<'a>>,
    default: &'a Verdict,
    newer: &'a Verdict,
}

impl<'a> Segment<'a> {
    /// Lays the verdicts of one table from number `base` on.
    fn lay(&mut self, base: u32, verdicts: &'a [(u32, Verdict)], narrow: bool) {
        let (default, newer) = (self.default, self.newer);
        let mut next = base;
        for (number, verdict) in verdicts {
            let number = base | number;
            if number > next {
                self.push(next, default, narrow);
            }
            self.push(number, verdict, narrow);
            next = number + 1;
        }
        self.push(next, if verdicts.is_empty() { default } else { newer }, narrow);
    }

    /// Begins a range, unless it would only go on with the one before.
    fn push(&mut self, first: u32, verdict: &'a Verdict, narrow: bool) {
        let same = |last: &Range<'_>| {
            last.verdict == verdict && (last.narrow == narrow || verdict.branches.is_empty())
        };
        if !self.ranges.last().is_some_and(same) {
            self.ranges.push(Range { first, verdict, narrow });
        }
    }
}

fn flags(seccomp: &LinuxSeccomp, notifies: bool) -> u32 {
    let bit = |flag: &LinuxSeccompFilterFlag| match flag {
        LinuxSeccompFilterFlag::SeccompFilterFlagTsync => FLAG_TSYNC,
        LinuxSeccompFilterFlag::SeccompFilterFlagLog => FLAG_LOG,
        LinuxSeccompFilterFlag::SeccompFilterFlagSpecAllow => FLAG_SPEC_ALLOW,
        LinuxSeccompFilterFlag::SeccompFilterFlagWaitKillableRecv => FLAG_WAIT_KILLABLE,
    };
    // Not asked about flags, other runtimes let speculation be; asked, they take the list as it is.
    let asked = seccomp.flags().as_ref().map(|flags| flags.iter().map(bit).fold(0, |a, b| a | b));
    let flags = asked.unwrap_or(FLAG_SPEC_ALLOW);
    if notifies {
        // The process has one thread to synchronise, and the kernel takes only one of the two.
        (flags & !FLAG_TSYNC) | FLAG_NEW_LISTENER
    } else {
        flags & !FLAG_WAIT_KILLABLE
    }
}

fn listener(seccomp: &LinuxSeccomp, notifies: bool) -> Result<Option<Listener>, ExecPlanError> {
    if !notifies {
        return Ok(None);
    }
    let Some(path) = seccomp.listener_path().clone() else {
        let key = "linux.seccomp.listenerPath".to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "is needed by `SCMP_ACT_NOTIFY`" });
    };
    let metadata = seccomp.listener_metadata().clone().unwrap_or_default();
    Ok(Some(Listener { path, metadata }))
}
