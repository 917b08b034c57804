//! Filters that refuse by default, and calls that are newer than they are.

use mur_integration::{Attempt, Bundle, Runtime, need, probe_program};
use serde_json::json;

use crate::run;

/// libc tries a newer call and takes ENOSYS alone for "not there"; EPERM breaks it.
#[test]
fn a_rules_errno_holds_and_a_call_newer_than_the_list_is_not_there() {
    let Some(scratch) = need::root_scratch() else { return };
    let allowed: Vec<&str> = include_str!("everyday-calls.txt").split_whitespace().collect();
    let bundle = Bundle::busybox(&scratch, "b")
        .mount(
            json!({"destination": "/probe", "source": probe_program(), "options": ["bind", "ro"]}),
        )
        .args(["/probe", "clone3", "syscall=4095", "chroot=/", "read=/etc/passwd", "clone-plain"])
        .edit(|config| {
            config["linux"]["seccomp"] = json!({
                "defaultAction": "SCMP_ACT_ERRNO",
                "architectures": ["SCMP_ARCH_X86_64"],
                "syscalls": [
                    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
                    {"names": allowed, "action": "SCMP_ACT_ALLOW"},
                ],
            });
        });
    let said = run(&scratch, &bundle).ok();
    let results: Vec<String> = Attempt::read_all(&said).into_iter().map(|one| one.result).collect();
    if !need::as_runc_does(Runtime::under_test(), "crun answers the default to newer calls") {
        return;
    }
    assert_eq!(results, ["ENOSYS", "ENOSYS", "EPERM", "ok", "ok"]);
}

#[test]
fn a_default_errno_that_is_given_is_the_answer_to_every_other_call() {
    let Some(scratch) = need::root_scratch() else { return };
    let allowed: Vec<&str> = include_str!("everyday-calls.txt").split_whitespace().collect();
    let bundle = Bundle::busybox(&scratch, "b")
        .mount(
            json!({"destination": "/probe", "source": probe_program(), "options": ["bind", "ro"]}),
        )
        .args(["/probe", "syscall=4095", "chroot=/", "read=/etc/passwd"])
        .edit(|config| {
            config["linux"]["seccomp"] = json!({
                "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 28,
                "architectures": ["SCMP_ARCH_X86_64"],
                "syscalls": [{"names": allowed, "action": "SCMP_ACT_ALLOW"}],
            });
        });
    let said = run(&scratch, &bundle).ok();
    let results: Vec<String> = Attempt::read_all(&said).into_iter().map(|one| one.result).collect();
    assert_eq!(results[1..], ["ENOSPC", "ok"], "{said}");
    // Docker's profile gives EPERM as the default, and libc still needs ENOSYS for what is newer than the list.
    if need::as_runc_does(Runtime::under_test(), "crun answers the default to newer calls") {
        assert_eq!(results[0], "ENOSYS");
    }
}
