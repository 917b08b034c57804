//! A container that overwrites the runtime's own binary through `/proc/N/exe`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use mur_integration::{Container, Run, Runtime, leftover, need};
use serde_json::json;

use crate::writable;

/// `CVE-2019-5736`: `exec` of a script whose interpreter is `/proc/self/exe` starts the runtime inside; the
/// container's first process takes hold of its file there, and writes once it no longer runs.
#[test]
fn the_runtimes_binary_cannot_be_overwritten_from_inside() {
    let Some(scratch) = need::root_scratch() else { return };
    let (runtime, program) = Runtime::under_test().copied(&scratch.folder("bin"));
    let attacker = "
        while :; do
            for exe in /proc/[0-9]*/exe; do
                [ $exe = /proc/1/exe ] && continue
                if { exec 5<$exe; } 2>/dev/null; then
                    echo >>/tmp/held
                    n=0
                    while [ $n -lt 20 ]; do
                        { echo overwritten >>/proc/self/fd/5; } 2>/dev/null && echo $exe >>/tmp/written
                        n=$((n + 1))
                    done
                    exec 5<&-
                fi
            done
        done";
    let all = json!(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER"]);
    let bundle = writable(&scratch, "b").shell(attacker).edit(|config| {
        for set in ["bounding", "effective", "permitted"] {
            config["process"]["capabilities"][set] = all.clone();
        }
    });
    let trap = bundle.inside("bin/trap");
    fs::write(&trap, "#!/proc/self/exe\n").unwrap();
    fs::set_permissions(&trap, Permissions::from_mode(0o755)).unwrap();
    let before = fs::read(&program).unwrap();
    let container = Container::new(&runtime, &scratch, &bundle, "c");
    container.launch();
    for _ in 0..60 {
        // What the runtime makes of being started inside is its own affair.
        container.exec(&["/bin/trap"]);
        container.exec(&["sleep", "0"]);
    }
    assert!(fs::read(&program).unwrap() == before, "the binary on disk was changed");
    let written = fs::read_to_string(bundle.inside("tmp/written")).unwrap_or_default();
    // Its own busybox, seen through a `sleep` that has just ended, is the container's to write.
    assert!(
        bundle.inside("tmp/held").exists(),
        "the attacker never held a file: the test shows nothing"
    );
    drop(written);
    container.delete_by_force().ok();
    runtime.command(["--version"]).finish().ok();
    leftover::nothing_of(&scratch);
}
