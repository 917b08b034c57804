//! The syscall allow-list of a capsule as data: `spec/containment.md` §6.2 with decision 7 of the design.

use serde::{Deserialize, Serialize};

use crate::errno::{EACCES, ENOSYS, EPERM};

mod names;

/// One rule on some calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallRule {
    /// Kernel names.
    pub names: Vec<String>,
    /// `None` allows; `Some(errno)` refuses with it.
    pub errno: Option<u32>,
    /// All must hold for the rule to apply.
    pub args: Vec<ArgRule>,
}

/// A condition on one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgRule {
    /// 0..=5.
    pub index: u32,
    /// Compare only these bits; `None` compares all.
    pub mask: Option<u64>,
    /// The value to equal.
    pub value: u64,
}

/// A whole filter: first matching rule wins, else `default_errno`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFilter {
    /// `EPERM`: not part of the surface.
    pub default_errno: u32,
    /// The rules.
    pub rules: Vec<SyscallRule>,
}

/// What a filter answers to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallVerdict {
    /// The kernel performs it.
    Allowed,
    /// It fails with this error number.
    Refused(u32),
}

/// Address families, `<linux/socket.h>`.
const AF_UNIX: u64 = 1;
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_NETLINK: u64 = 16;
const AF_PACKET: u64 = 17;

/// Every `CLONE_NEW*` bit that clone(2) reads; `CLONE_NEWTIME` shares its bit with the exit signal there and belongs to
/// `clone3` and `unshare` alone.
pub const CLONE_NEW_MASK: u64 = 0x0002_0000 // CLONE_NEWNS
    | 0x0200_0000 // CLONE_NEWCGROUP
    | 0x0400_0000 // CLONE_NEWUTS
    | 0x0800_0000 // CLONE_NEWIPC
    | 0x1000_0000 // CLONE_NEWUSER
    | 0x2000_0000 // CLONE_NEWPID
    | 0x4000_0000; // CLONE_NEWNET

impl SyscallFilter {
    /// The allow-list of a capsule. Names an architecture lacks are skipped when it is compiled, which only narrows.
    ///
    /// `EPERM`: not part of the surface. `EACCES`: looked at the arguments and refused. `ENOSYS`: libraries fall back,
    /// from `clone3` to `clone`, from `memfd_create` to a file, from `io_uring` to `epoll`.
    pub fn of_capsule(unix_sockets: bool) -> Self {
        let unix = if unix_sockets { None } else { Some(EACCES) };
        let socket = |errno, family| rule(&["socket"], errno, vec![equals(0, family)]);
        let no_new_namespace = ArgRule { index: 0, mask: Some(CLONE_NEW_MASK), value: 0 };
        let mut rules = vec![
            socket(None, AF_INET),
            socket(None, AF_INET6),
            socket(unix, AF_UNIX),
            socket(Some(EACCES), AF_NETLINK),
            socket(Some(EACCES), AF_PACKET),
            rule(&["clone"], None, vec![no_new_namespace]),
            rule(&names::ABSENT, Some(ENOSYS), Vec::new()),
        ];
        rules.extend(names::ALLOWED.iter().map(|group| rule(group, None, Vec::new())));
        Self { default_errno: EPERM, rules }
    }

    /// The names that some arguments are allowed for, sorted, each once.
    pub fn allowed_names(&self) -> Vec<&str> {
        let allowing = self.rules.iter().filter(|rule| rule.errno.is_none());
        let mut names: Vec<_> = allowing.flat_map(|rule| &rule.names).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What the filter answers to `name` with these arguments; arguments left out count as zero.
    pub fn verdict(&self, name: &str, args: &[u64]) -> SyscallVerdict {
        let holds = |arg: &ArgRule| {
            let index = usize::try_from(arg.index).unwrap_or(usize::MAX);
            let given = args.get(index).copied().unwrap_or(0);
            given & arg.mask.unwrap_or(u64::MAX) == arg.value
        };
        let refused = self
            .rules
            .iter()
            .find(|rule| rule.names.iter().any(|own| own == name) && rule.args.iter().all(holds))
            .map_or(Some(self.default_errno), |rule| rule.errno);
        refused.map_or(SyscallVerdict::Allowed, SyscallVerdict::Refused)
    }
}

/// One rule.
fn rule(names: &[&str], errno: Option<u32>, args: Vec<ArgRule>) -> SyscallRule {
    SyscallRule { names: names.iter().map(|&name| name.to_owned()).collect(), errno, args }
}

/// The whole argument equals `value`.
const fn equals(index: u32, value: u64) -> ArgRule {
    ArgRule { index, mask: None, value }
}

#[cfg(test)]
mod tests {
    use super::SyscallVerdict::{Allowed, Refused};
    use super::*;

    #[test]
    fn a_socket_is_judged_by_its_family() {
        for (family, closed, open) in [
            (AF_INET, Allowed, Allowed),
            (AF_INET6, Allowed, Allowed),
            (AF_UNIX, Refused(EACCES), Allowed),
            (AF_NETLINK, Refused(EACCES), Refused(EACCES)),
            (AF_PACKET, Refused(EACCES), Refused(EACCES)),
            (40, Refused(EPERM), Refused(EPERM)), // AF_VSOCK
            (38, Refused(EPERM), Refused(EPERM)), // AF_ALG
            (0, Refused(EPERM), Refused(EPERM)),
            (1 << 32 | AF_UNIX, Refused(EPERM), Refused(EPERM)), // the kernel reads 32 bits
        ] {
            let args = [family, 1, 0];
            assert_eq!(
                SyscallFilter::of_capsule(false).verdict("socket", &args),
                closed,
                "{family}"
            );
            assert_eq!(SyscallFilter::of_capsule(true).verdict("socket", &args), open, "{family}");
        }
        assert_eq!(SyscallFilter::of_capsule(false).verdict("socketpair", &[AF_UNIX]), Allowed);
    }

    #[test]
    fn clone_makes_threads_and_children_but_no_namespace() {
        let filter = SyscallFilter::of_capsule(false);
        let thread = 0x003d_0f00;
        for (flags, verdict) in [(0x11, Allowed), (thread, Allowed), (0x4111, Allowed)] {
            assert_eq!(filter.verdict("clone", &[flags]), verdict, "{flags:#x}");
        }
        for bit in (0..64).map(|shift| 1_u64 << shift).filter(|bit| bit & CLONE_NEW_MASK != 0) {
            assert_eq!(filter.verdict("clone", &[0x11 | bit]), Refused(EPERM), "{bit:#x}");
        }
        assert_eq!(filter.verdict("clone3", &[]), Refused(ENOSYS));
    }

    #[test]
    fn what_must_stay_denied_is_denied() {
        let filter = SyscallFilter::of_capsule(true);
        let denied = "bpf userfaultfd perf_event_open process_vm_readv process_vm_writev \
            open_by_handle_at keyctl add_key request_key ptrace mount umount2 \
            pivot_root chroot unshare setns init_module finit_module delete_module \
            kexec_load kexec_file_load reboot swapon swapoff acct quotactl \
            quotactl_fd iopl ioperm clock_settime settimeofday adjtimex \
            clock_adjtime mbind set_mempolicy get_mempolicy migrate_pages move_pages \
            fanotify_init fanotify_mark seccomp personality kcmp open_tree \
            move_mount fsopen fsconfig fsmount fspick mount_setattr pidfd_getfd \
            process_madvise memfd_secret syslog vhangup sethostname setdomainname \
            lookup_dcookie nfsservctl statmount listmount socket";
        for name in denied.split_whitespace() {
            assert_eq!(filter.verdict(name, &[]), Refused(EPERM), "{name}");
        }
    }

    #[test]
    fn libraries_fall_back_from_what_is_answered_as_absent() {
        let filter = SyscallFilter::of_capsule(true);
        for name in
            ["memfd_create", "clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"]
        {
            assert_eq!(filter.verdict(name, &[]), Refused(ENOSYS), "{name}");
        }
    }

    #[test]
    fn each_name_stands_in_one_rule_but_for_socket() {
        let filter = SyscallFilter::of_capsule(false);
        let mut names: Vec<_> = filter.rules.iter().flat_map(|rule| &rule.names).collect();
        names.retain(|name| *name != "socket");
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(filter.verdict("landlock_restrict_self", &[]), Allowed);
    }
}
