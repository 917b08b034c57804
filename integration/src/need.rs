//! What a test needs of the machine. What is missing skips the test aloud, or fails it where the whole
//! suite is required.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

use crate::runtime::on_path;
use crate::{Kind, Runtime};

/// Says that the rest of a test cannot run here, and why. Panics under `MUR_INTEGRATION=required`.
///
/// Gives `false`, so that a need reads as a condition.
#[track_caller]
pub fn skip(why: &str) -> bool {
    assert!(
        env::var("MUR_INTEGRATION").as_deref() != Ok("required"),
        "skipped where everything is required: {}: {why}",
        test_name()
    );
    say(why);
    if let Some(list) = env::var_os("MUR_SKIPS") {
        let mut list = OpenOptions::new().append(true).create(true).open(list).unwrap();
        list.write_all(format!("{}: {why}\n", test_name()).as_bytes()).unwrap();
    }
    false
}

/// Past the capture of the test harness, which would hide it.
fn say(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED {}: {why}\n", test_name()).as_bytes());
}

fn test_name() -> String {
    std::thread::current().name().unwrap_or("?").to_owned()
}

/// Whether the caller is root.
#[track_caller]
pub fn root() -> bool {
    nix::unistd::geteuid().is_root() || skip("needs root")
}

/// Whether the machine has this program.
#[track_caller]
pub fn program(name: &str) -> bool {
    on_path(name).is_some() || skip(&format!("needs `{name}`"))
}

/// Whether the runtime under test is ours; another one cannot be asked for what we alone promise, so this
/// skip is never a failure.
pub fn ours(runtime: &Runtime) -> bool {
    if !runtime.is_ours() {
        say("only `mur` promises this");
    }
    runtime.is_ours()
}

/// Whether the kernel has Landlock, switched on.
#[track_caller]
pub fn landlock() -> bool {
    landlock_abi() > 0 || skip("needs Landlock")
}

/// The Landlock ABI of this kernel, 0 for none.
#[expect(unsafe_code, reason = "libc has no wrapper")]
pub fn landlock_abi() -> i64 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with the version flag the call reads neither its null pointer nor anything else of ours.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION)
    };
    abi.max(0)
}

/// A scratch folder, where the caller is root.
#[track_caller]
pub fn root_scratch() -> Option<crate::Scratch> {
    root().then(crate::Scratch::new)
}

/// Where the runtimes differ and we do as runc: `false`, aloud, when crun is under test. Never a failure.
pub fn as_runc_does(runtime: &Runtime, what_crun_does: &str) -> bool {
    differs(runtime, Kind::Crun, what_crun_does)
}

/// Where the runtimes differ and we do as crun: `false`, aloud, when runc is under test. Never a failure.
pub fn as_crun_does(runtime: &Runtime, what_runc_does: &str) -> bool {
    differs(runtime, Kind::Runc, what_runc_does)
}

/// Where we do better than both: `false`, aloud, when another runtime is under test. Never a failure.
pub fn better_than_both(runtime: &Runtime, what_they_do: &str) -> bool {
    if !runtime.is_ours() {
        say(&format!("not as we do: {what_they_do}"));
    }
    runtime.is_ours()
}

fn differs(runtime: &Runtime, other: Kind, what: &str) -> bool {
    if runtime.kind() == other {
        say(&format!("not as we do: {what}"));
    }
    runtime.kind() != other
}
