//! Who the process is, what it starts as, and what it may become.

use std::collections::BTreeSet;

use oci_spec::runtime::{Process, Spec};

use super::{Changes, Direction, listed};

/// Compares the two processes.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let (was, is) = match (before.process(), after.process()) {
        (Some(was), Some(is)) => (was, is),
        (None, None) => return,
        (Some(_), None) => return changes.add(Direction::Other, "process", "one", "none"),
        (None, Some(_)) => return changes.add(Direction::Other, "process", "none", "one"),
    };
    changes.sets("capabilities", &capabilities(was), &capabilities(is));
    let held = |process: &Process| process.no_new_privileges() == Some(true);
    match (held(was), held(is)) {
        (true, false) => changes.add(Direction::Wider, "no_new_privs", "set", "not set"),
        (false, true) => changes.add(Direction::Narrower, "no_new_privs", "not set", "set"),
        (true, true) | (false, false) => {}
    }
    let user = |process: &Process| (process.user().uid(), process.user().gid());
    changes.other("user", &user(was), &user(is), |(uid, gid)| format!("{uid}:{gid}"));
    let args = |process: &Process| process.args().clone().unwrap_or_default();
    changes.other("command", &args(was), &args(is), |args| args.join(" "));
    let cwd = |process: &Process| process.cwd().clone();
    changes.other("working folder", &cwd(was), &cwd(is), |path| path.display().to_string());
    changes.other(
        "terminal",
        &(was.terminal() == Some(true)),
        &(is.terminal() == Some(true)),
        ToString::to_string,
    );
    changes.other("environment", &variables(was), &variables(is), listed);
}

/// Every capability in any of the five sets.
fn capabilities(process: &Process) -> BTreeSet<String> {
    let Some(sets) = process.capabilities() else { return BTreeSet::new() };
    let sets =
        [sets.bounding(), sets.effective(), sets.inheritable(), sets.permitted(), sets.ambient()];
    sets.into_iter().flatten().flatten().map(ToString::to_string).collect()
}

fn variables(process: &Process) -> BTreeSet<String> {
    process.env().iter().flatten().cloned().collect()
}
