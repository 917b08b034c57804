//! Which system calls go through.

use std::collections::{BTreeMap, BTreeSet};

use oci_spec::runtime::{LinuxSeccomp, LinuxSeccompAction, Spec};

use super::{Changes, Direction};

/// How far a call goes through.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// Never.
    Refused,
    /// With some arguments: each condition as text.
    Sometimes(BTreeSet<String>),
    /// Always.
    Allowed,
}

/// Compares the two filters call by call.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let (before, after) = match (filter(before), filter(after)) {
        (None, None) => return,
        (None, Some(_)) => {
            return changes.add(Direction::Narrower, "syscall filter", "none", "a filter");
        }
        (Some(_), None) => {
            return changes.add(Direction::Wider, "syscall filter", "a filter", "none");
        }
        (Some(before), Some(after)) => (before, after),
    };
    let (was, is) = (verdicts(before), verdicts(after));
    let rest = |filter: &LinuxSeccomp| verdict(filter.default_action());
    let names: BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    for name in names {
        let old = was.get(name).cloned().unwrap_or_else(|| rest(before));
        let new = is.get(name).cloned().unwrap_or_else(|| rest(after));
        if old != new {
            let way = way(&old, &new);
            changes.add(way, format!("system call `{name}`"), text(&old), text(&new));
        }
    }
    let (old, new) = (rest(before), rest(after));
    if old != new {
        changes.add(way(&old, &new), "every other system call", text(&old), text(&new));
    }
    let arches = |filter: &LinuxSeccomp| -> BTreeSet<String> {
        filter.architectures().iter().flatten().map(ToString::to_string).collect()
    };
    changes.sets("processors of system calls", &arches(before), &arches(after));
}

fn filter(spec: &Spec) -> Option<&LinuxSeccomp> {
    spec.linux().as_ref()?.seccomp().as_ref()
}

fn way(old: &Verdict, new: &Verdict) -> Direction {
    match (old, new) {
        (Verdict::Sometimes(old), Verdict::Sometimes(new)) if old.is_subset(new) => {
            Direction::Wider
        }
        (Verdict::Sometimes(old), Verdict::Sometimes(new)) if new.is_subset(old) => {
            Direction::Narrower
        }
        (Verdict::Sometimes(_), Verdict::Sometimes(_)) => Direction::Other,
        _ if old < new => Direction::Wider,
        _ => Direction::Narrower,
    }
}

fn text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Refused => "refused".to_owned(),
        Verdict::Allowed => "allowed".to_owned(),
        Verdict::Sometimes(conditions) => {
            let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
            format!("allowed when {}", conditions.join(" or "))
        }
    }
}

fn verdict(action: LinuxSeccompAction) -> Verdict {
    match action {
        LinuxSeccompAction::ScmpActAllow
        | LinuxSeccompAction::ScmpActLog
        | LinuxSeccompAction::ScmpActTrace
        | LinuxSeccompAction::ScmpActNotify => Verdict::Allowed,
        LinuxSeccompAction::ScmpActErrno
        | LinuxSeccompAction::ScmpActKill
        | LinuxSeccompAction::ScmpActKillProcess
        | LinuxSeccompAction::ScmpActKillThread
        | LinuxSeccompAction::ScmpActTrap => Verdict::Refused,
    }
}

/// What each named call comes to. A rule with conditions opens a call in part; one without decides it.
fn verdicts(filter: &LinuxSeccomp) -> BTreeMap<&str, Verdict> {
    let mut verdicts: BTreeMap<&str, Verdict> = BTreeMap::new();
    for rule in filter.syscalls().iter().flatten() {
        let args = rule.args().as_deref().unwrap_or_default();
        let conditions = args.iter().map(|arg| {
            let second = arg.value_two().map(|two| format!(" {two:#x}")).unwrap_or_default();
            format!("argument {} {:?} {:#x}{second}", arg.index(), arg.op(), arg.value())
        });
        let condition = conditions.collect::<Vec<_>>().join(" and ");
        for name in rule.names() {
            let own = verdicts.entry(name).or_insert(Verdict::Refused);
            match (verdict(rule.action()), own) {
                (Verdict::Allowed, own) if condition.is_empty() => *own = Verdict::Allowed,
                (Verdict::Allowed, Verdict::Sometimes(known)) => {
                    known.insert(condition.clone());
                }
                (Verdict::Allowed, own @ Verdict::Refused) => {
                    *own = Verdict::Sometimes([condition.clone()].into());
                }
                (Verdict::Allowed | Verdict::Refused | Verdict::Sometimes(_), _) => {}
            }
        }
    }
    verdicts
}
