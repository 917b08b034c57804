//! i386 calls that hide others: `socketcall` and `ipc` take the real call as their first argument.
//!
//! A profile that speaks of `socket` means both ways to it.

use super::arch::Table;
use super::rule::{Condition, Test, Verdict, stricter};

/// Calls behind `socketcall`, by its first argument (`linux/net.h`).
const SOCKET: [(&str, u64); 20] = [
    ("socket", 1),
    ("bind", 2),
    ("connect", 3),
    ("listen", 4),
    ("accept", 5),
    ("getsockname", 6),
    ("getpeername", 7),
    ("socketpair", 8),
    ("send", 9),
    ("recv", 10),
    ("sendto", 11),
    ("recvfrom", 12),
    ("shutdown", 13),
    ("setsockopt", 14),
    ("getsockopt", 15),
    ("sendmsg", 16),
    ("recvmsg", 17),
    ("accept4", 18),
    ("recvmmsg", 19),
    ("sendmmsg", 20),
];

/// Calls behind `ipc`, by the low half of its first argument (`linux/ipc.h`).
const IPC: [(&str, u64); 12] = [
    ("semop", 1),
    ("semget", 2),
    ("semctl", 3),
    ("semtimedop", 4),
    ("msgsnd", 11),
    ("msgrcv", 12),
    ("msgget", 13),
    ("msgctl", 14),
    ("shmat", 21),
    ("shmdt", 22),
    ("shmget", 23),
    ("shmctl", 24),
];

/// Adds what the profile says of hidden calls, unless it speaks of the hiding one itself.
pub(super) fn complete(found: &mut Vec<(u32, Verdict)>, default: u32) {
    hide(found, default, "socketcall", &SOCKET, Test::Equal);
    hide(found, default, "ipc", &IPC, |number| Test::Masked { mask: 0xffff, value: number });
}

fn hide(
    found: &mut Vec<(u32, Verdict)>,
    default: u32,
    gate: &str,
    hidden: &[(&str, u64)],
    test: fn(u64) -> Test,
) {
    let Some(gate) = Table::X86.number(gate) else { return };
    if found.iter().any(|(number, _)| *number == gate) {
        return;
    }
    let mut branches = Vec::new();
    for (name, number) in hidden {
        let direct = Table::X86.number(name);
        let verdict = direct.and_then(|direct| {
            found.iter().find(|(number, _)| *number == direct).map(|(_, verdict)| verdict)
        });
        let Some(verdict) = verdict else { continue };
        // Its arguments are in memory, where no filter reads: of the possible answers the strictest.
        let answers = verdict.branches.iter().map(|(_, answer)| *answer);
        let answer = answers.fold(verdict.otherwise, stricter);
        if answer != default {
            branches.push((vec![Condition { index: 0, test: test(*number) }], answer));
        }
    }
    if !branches.is_empty() {
        found.push((gate, Verdict { branches, otherwise: default }));
    }
}
