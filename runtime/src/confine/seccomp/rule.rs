//! `linux.seccomp` as verdicts: which call, under which conditions, gets which answer.

use oci_spec::runtime::{
    LinuxSeccomp, LinuxSeccompAction, LinuxSeccompArg, LinuxSeccompOperator, LinuxSyscall,
};

use super::arch::Table;
use super::mux;
use crate::error::ExecPlanError;

/// `SECCOMP_RET_*`: kill the whole process.
pub(super) const KILL_PROCESS: u32 = 0x8000_0000;
const KILL_THREAD: u32 = 0;
const TRAP: u32 = 0x0003_0000;
const ERRNO: u32 = 0x0005_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const TRACE: u32 = 0x7ff0_0000;
const LOG: u32 = 0x7ffc_0000;
const ALLOW: u32 = 0x7fff_0000;
/// Answer `ENOSYS`.
pub(super) const NOT_THERE: u32 = ERRNO | libc::ENOSYS as u32;

/// A test of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Condition {
    /// 0 to 5.
    pub index: u32,
    pub test: Test,
}

/// What is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    Equal(u64),
    NotEqual(u64),
    Less(u64),
    LessOrEqual(u64),
    Greater(u64),
    GreaterOrEqual(u64),
    /// The bits of the mask have this value.
    Masked {
        mask: u64,
        value: u64,
    },
}

/// What happens to one call: the first branch whose conditions all hold, else the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub branches: Vec<(Vec<Condition>, u32)>,
    pub otherwise: u32,
}

impl Verdict {
    /// The same answer whatever the arguments.
    pub(super) const fn always(answer: u32) -> Self {
        Self { branches: Vec::new(), otherwise: answer }
    }
}

/// A checked profile.
#[derive(Debug)]
pub(super) struct Profile<'a> {
    pub default: u32,
    rules: Vec<Rule<'a>>,
    /// Some answer is a notification.
    pub notifies: bool,
}

#[derive(Debug)]
struct Rule<'a> {
    names: &'a [String],
    answer: u32,
    /// Any of these lists; empty: no condition.
    any_of: Vec<Vec<Condition>>,
}

impl<'a> Profile<'a> {
    pub(super) fn parse(seccomp: &'a LinuxSeccomp) -> Result<Self, ExecPlanError> {
        let key = "linux.seccomp.defaultAction";
        let default = answer(key, seccomp.default_action(), seccomp.default_errno_ret())?;
        if default == NOTIFY {
            let reason = "cannot notify: nothing could tell the listener";
            return Err(ExecPlanError::Conflict { key: key.to_owned(), reason });
        }
        let entries = seccomp.syscalls().as_deref().unwrap_or_default();
        let rules = entries
            .iter()
            .enumerate()
            .map(|(index, entry)| Rule::parse(index, entry))
            .collect::<Result<Vec<_>, _>>()?;
        let notifies = rules.iter().any(|rule| rule.answer == NOTIFY);
        Ok(Self { default, rules, notifies })
    }

    /// Whether the default answers an error, so that a newer call can be told apart from a denied one.
    pub(super) fn denies_by_errno(&self) -> bool {
        self.default & 0xffff_0000 == ERRNO
    }

    /// The verdicts for one architecture, sorted by number.
    ///
    /// Narrow before wide: of several entries for a call those with conditions are asked first, in
    /// their order; the first without conditions answers for what is left.
    pub(super) fn verdicts(&self, table: Table) -> Vec<(u32, Verdict)> {
        let mut found: Vec<(u32, Verdict)> = Vec::with_capacity(512);
        let mut slots = std::collections::HashMap::new();
        let mut settled = Vec::new();
        for rule in &self.rules {
            for number in rule.names.iter().filter_map(|name| table.number(name)) {
                let slot = *slots.entry(number).or_insert_with(|| {
                    found.push((number, Verdict::always(self.default)));
                    settled.push(false);
                    found.len() - 1
                });
                let verdict = &mut found[slot].1;
                if rule.any_of.is_empty() {
                    if !settled[slot] {
                        verdict.otherwise = rule.answer;
                        settled[slot] = true;
                    }
                } else {
                    let branches = rule.any_of.iter().cloned();
                    verdict.branches.extend(branches.map(|all| (all, rule.answer)));
                }
            }
        }
        if table == Table::X86 {
            mux::complete(&mut found, self.default);
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        found
    }
}

impl<'a> Rule<'a> {
    fn parse(index: usize, entry: &'a LinuxSyscall) -> Result<Self, ExecPlanError> {
        let key = format!("linux.seccomp.syscalls[{index}]");
        let answer = answer(&format!("{key}.action"), entry.action(), entry.errno_ret())?;
        if entry.names().is_empty() {
            return Err(ExecPlanError::Conflict { key, reason: "names no system call" });
        }
        // The descriptor reaches the listener by write(2): it would wait for itself.
        if answer == NOTIFY && entry.names().iter().any(|name| name == "write") {
            return Err(ExecPlanError::Conflict { key, reason: "cannot notify on `write`" });
        }
        let args = entry.args().as_deref().unwrap_or_default();
        let conditions =
            args.iter().map(|arg| condition(&key, arg)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { names: entry.names(), answer, any_of: alternatives(conditions) })
    }
}

/// All conditions must hold, but where an argument is named twice any one does: so do the profiles that
/// engines write, and the runtimes that read them.
fn alternatives(conditions: Vec<Condition>) -> Vec<Vec<Condition>> {
    let twice =
        |one: &Condition| conditions.iter().filter(|two| two.index == one.index).count() > 1;
    if conditions.is_empty() {
        Vec::new()
    } else if conditions.iter().any(twice) {
        conditions.into_iter().map(|condition| vec![condition]).collect()
    } else {
        vec![conditions]
    }
}

fn condition(key: &str, arg: &LinuxSeccompArg) -> Result<Condition, ExecPlanError> {
    let index = u32::try_from(arg.index()).ok().filter(|index| *index < 6).ok_or_else(|| {
        ExecPlanError::Invalid {
            key: format!("{key}.args"),
            value: arg.index().to_string(),
            reason: "is no argument of a system call, which has six",
        }
    })?;
    let value = arg.value();
    let test = match arg.op() {
        LinuxSeccompOperator::ScmpCmpEq => Test::Equal(value),
        LinuxSeccompOperator::ScmpCmpNe => Test::NotEqual(value),
        LinuxSeccompOperator::ScmpCmpLt => Test::Less(value),
        LinuxSeccompOperator::ScmpCmpLe => Test::LessOrEqual(value),
        LinuxSeccompOperator::ScmpCmpGt => Test::Greater(value),
        LinuxSeccompOperator::ScmpCmpGe => Test::GreaterOrEqual(value),
        LinuxSeccompOperator::ScmpCmpMaskedEq => {
            Test::Masked { mask: value, value: arg.value_two().unwrap_or(0) }
        }
    };
    Ok(Condition { index, test })
}

/// What the kernel is to answer.
fn answer(key: &str, action: LinuxSeccompAction, errno: Option<u32>) -> Result<u32, ExecPlanError> {
    let base = match action {
        LinuxSeccompAction::ScmpActKill | LinuxSeccompAction::ScmpActKillThread => KILL_THREAD,
        LinuxSeccompAction::ScmpActKillProcess => KILL_PROCESS,
        LinuxSeccompAction::ScmpActTrap => TRAP,
        LinuxSeccompAction::ScmpActErrno => ERRNO,
        LinuxSeccompAction::ScmpActNotify => NOTIFY,
        LinuxSeccompAction::ScmpActTrace => TRACE,
        LinuxSeccompAction::ScmpActLog => LOG,
        LinuxSeccompAction::ScmpActAllow => ALLOW,
    };
    match (base, errno) {
        (ERRNO | TRACE, None) => Ok(base | libc::EPERM as u32),
        (ERRNO, Some(errno)) if errno <= 4095 => Ok(base | errno),
        (TRACE, Some(message)) if message <= 0xffff => Ok(base | message),
        (ERRNO | TRACE, Some(errno)) => Err(ExecPlanError::Invalid {
            key: key.to_owned(),
            value: errno.to_string(),
            reason: "is no error number",
        }),
        (_, None) => Ok(base),
        (_, Some(_)) => {
            Err(ExecPlanError::Conflict { key: key.to_owned(), reason: "takes no error number" })
        }
    }
}

/// The stricter of two answers: the kernel ranks them, the lowest wins but for killing the process.
pub(super) fn stricter(one: u32, two: u32) -> u32 {
    let rank = |answer: u32| i32::from_ne_bytes((answer & 0xffff_0000).to_ne_bytes());
    if rank(two) < rank(one) { two } else { one }
}
