//! `linux.seccomp`: actions, errnos, arguments, architectures.

use mur_integration::{Attempt, Bundle, Scratch, need, probe_program};
use serde_json::{Value, json};

use crate::run;

/// What each attempt comes to under a filter.
fn under(scratch: &Scratch, filter: Value, words: &[&str]) -> Vec<String> {
    let bundle = Bundle::busybox(scratch, "b")
        .mount(
            json!({"destination": "/probe", "source": probe_program(), "options": ["bind", "ro"]}),
        )
        .edit(|config| {
            let all: Vec<&str> = std::iter::once("/probe").chain(words.iter().copied()).collect();
            config["process"]["args"] = json!(all);
            config["linux"]["seccomp"] = filter;
        });
    let said = run(scratch, &bundle).ok();
    std::fs::remove_dir_all(bundle.folder()).unwrap();
    Attempt::read_all(&said).into_iter().map(|attempt| attempt.result).collect()
}

#[test]
fn each_rule_answers_with_its_own_errno_and_the_default_with_the_defaults() {
    let Some(scratch) = need::root_scratch() else { return };
    let filter = json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"},
            {"names": ["symlink", "symlinkat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
            {"names": ["chroot", "no_such_call_anywhere"], "action": "SCMP_ACT_ERRNO", "errnoRet": 2},
        ],
    });
    let words = ["mkdir=/tmp/a", "symlink=/a,/tmp/b", "chroot=/", "create=/dev/shm/c"];
    assert_eq!(under(&scratch, filter, &words), ["EPERM", "ENOSYS", "ENOENT", "ok"]);
}

#[test]
fn rules_look_at_arguments() {
    let Some(scratch) = need::root_scratch() else { return };
    let is = |value: u64, operator: &str| json!({"index": 0, "value": value, "op": operator});
    let filter = json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13, "args": [is(1, "SCMP_CMP_EQ")]},
            {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 97, "args": [is(15, "SCMP_CMP_GT")]},
            {"names": ["personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 22,
             "args": [{"index": 0, "value": 8, "valueTwo": 8, "op": "SCMP_CMP_MASKED_EQ"}]},
        ],
    });
    let words = ["socket-unix", "socket-inet", "socket-netlink", "socket-packet", "personality-32"];
    let results = under(&scratch, filter, &words);
    // AF_UNIX 1, AF_INET 2, AF_NETLINK 16, AF_PACKET 17
    assert_eq!(results, ["EACCES", "ok", "EAFNOSUPPORT", "EAFNOSUPPORT", "EINVAL"]);
}

#[test]
fn kill_actions_end_the_process() {
    let Some(scratch) = need::root_scratch() else { return };
    for action in
        ["SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP"]
    {
        let filter = json!({
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [{"names": ["chroot"], "action": action}],
        });
        assert_eq!(under(&scratch, filter, &["chroot=/"]), ["signal 31"], "{action}");
    }
}

#[test]
fn a_list_of_what_is_allowed_refuses_the_rest() {
    let Some(scratch) = need::root_scratch() else { return };
    let filter = json!({
        "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
        "syscalls": [{"action": "SCMP_ACT_ALLOW", "names": [
            "execve", "exit", "exit_group", "brk", "arch_prctl", "set_tid_address", "set_robust_list", "rseq",
            "prlimit64", "readlinkat", "readlink", "getrandom", "mprotect", "mmap", "munmap", "poll", "ppoll",
            "rt_sigaction", "rt_sigprocmask", "sigaltstack", "pipe2", "clone", "fork", "vfork", "wait4", "waitid",
            "read", "write", "close", "fcntl", "open", "openat", "newfstatat", "fstat", "statx", "lseek", "futex",
            "getpid", "gettid", "sched_getaffinity", "madvise", "prctl", "uname", "getuid", "getgid", "access",
            "faccessat2", "chdir", "getdents64", "setgroups", "setuid", "setgid", "setresuid", "setresgid",
            "capget", "capset", "seccomp", "close_range", "dup", "dup3", "epoll_wait", "ioctl", "stat", "lstat",
            "rt_sigreturn", "sched_yield", "tgkill", "kill", "mincore", "epoll_ctl", "eventfd2", "getppid",
            "fstatfs", "statfs", "umask", "chmod", "fchdir", "getppid", "nanosleep", "clock_nanosleep", "epoll_pwait",
        ]}],
    });
    let words = ["read=/etc/passwd", "mkdir=/tmp/a", "chroot=/", "syscall=4095"];
    assert_eq!(under(&scratch, filter, &words), ["ok", "ENOSYS", "ENOSYS", "ENOSYS"]);
}

#[test]
fn a_filter_for_one_architecture_refuses_the_gate_of_another() {
    let Some(scratch) = need::root_scratch() else { return };
    let filter = json!({
        "defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": ["socket"], "action": "SCMP_ACT_ERRNO"}],
    });
    let results =
        under(&scratch, filter, &["socket-unix", "i386-socket", "x32-socket", "read=/etc/passwd"]);
    assert_eq!((results[0].as_str(), results[3].as_str()), ("EPERM", "ok"));
    // A kernel without that gate says so itself.
    assert!(
        ["signal 31", "signal 11", "ENOSYS", "EPERM"].contains(&results[1].as_str()),
        "{results:?}"
    );
    assert!(["signal 31", "ENOSYS", "EPERM"].contains(&results[2].as_str()), "{results:?}");
}

#[test]
fn a_filter_that_cannot_be_built_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    for filter in [
        json!({"defaultAction": "SCMP_ACT_NONSENSE"}),
        json!({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_NONSENSE"]}),
        json!({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "NONSENSE"}]}),
    ] {
        let bundle = Bundle::busybox(&scratch, "b").args(["true"]);
        let bundle = bundle.edit(|config| config["linux"]["seccomp"] = filter);
        run(&scratch, &bundle).refused();
        std::fs::remove_dir_all(bundle.folder()).unwrap();
    }
}
