//! Finds out what this host can do: every answer is an attempt in a forked child, never a version string.

mod landlock;
mod namespace;
mod reading;
mod report;

pub(crate) use report::hear_child;

use mur_policy::HostProbe;

/// Probes this host for this caller. Never fails: "not tried, because …" is an answer.
///
/// The process must have one thread: each attempt is made in a forked child, because a Landlock domain, a syscall
/// filter and a user namespace cannot be left again. A few milliseconds; nothing of an attempt stays.
pub fn probe_host() -> HostProbe {
    let (landlock, seccomp) = landlock::probe();
    HostProbe {
        os: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        kernel: reading::kernel(),
        caller: reading::caller(),
        landlock,
        namespaces: namespace::probe(),
        apparmor: reading::apparmor(),
        seccomp,
        cgroup: reading::cgroup_layout(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_answers_every_question_and_leaves_this_process_as_it_was() {
        let before = std::fs::read_to_string("/proc/self/status").unwrap();
        let probe = probe_host();
        assert_eq!(probe.os, "linux");
        assert!(!probe.kernel.is_empty());
        assert!(probe.namespaces.openat2 || !probe.kernel.starts_with('6'), "{probe:?}");
        let after = std::fs::read_to_string("/proc/self/status").unwrap();
        let confined = |text: &str| {
            let lines = text
                .lines()
                .filter(|line| line.starts_with("NoNewPrivs") || line.starts_with("Seccomp"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(confined(&before), confined(&after));
    }
}
