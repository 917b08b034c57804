//! Runs OCI hooks: programs that get the container's state on their stdin.
//!
//! A hook before the program (`prestart`, `createRuntime`, `createContainer`, `startContainer`) that
//! fails ends the creation. `poststart` that fails is an error, and the container is stopped and
//! destroyed (runtime-spec 1.3, lifecycle step 9; versions 1.0.2 to 1.2 said to warn). `poststop`
//! that fails is a warning, and the rest goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, pipe2};
use oci_spec::runtime::{Hook, Hooks};
use serde::Serialize;

use crate::engine::{HookCause, HookFault, HookPoint, HookPoints, HookSet};
use crate::id::ContainerId;
use crate::state::{OCI_VERSION, Status};
use crate::sys::process::pidfd_open;

/// Most of a failed hook's output that its error repeats, in bytes.
const OUTPUT: u64 = 2000;

/// What a hook is told of its container.
#[derive(Debug, Clone, Serialize)]
pub struct HookState {
    /// Version of the runtime-spec this follows.
    #[serde(rename = "ociVersion")]
    pub oci_version: &'static str,
    /// Its name.
    pub id: ContainerId,
    /// Its status.
    pub status: Status,
    /// Its first process, while it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Absolute folder of the bundle.
    pub bundle: PathBuf,
    /// Its annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A list of hooks in a config that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`hooks.{list}[{index}]`: {rule}")]
pub struct InvalidHook {
    /// Name of the list.
    pub list: &'static str,
    /// Place in the list.
    pub index: usize,
    /// What it breaks.
    pub rule: &'static str,
}

impl HookState {
    /// The state of a container that is being created.
    pub fn of(id: &ContainerId, bundle: &Path, annotations: &BTreeMap<String, String>) -> Self {
        Self {
            oci_version: OCI_VERSION,
            id: id.clone(),
            status: Status::Creating,
            pid: None,
            bundle: bundle.to_path_buf(),
            annotations: annotations.clone(),
        }
    }

    /// The same container later.
    #[must_use]
    pub fn at(mut self, status: Status, pid: Option<i32>) -> Self {
        self.status = status;
        self.pid = pid;
        self
    }

    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Checks every hook before anything is made.
pub fn check(hooks: &Hooks) -> Result<(), InvalidHook> {
    let lists = [
        ("prestart", hooks.prestart()),
        ("createRuntime", hooks.create_runtime()),
        ("createContainer", hooks.create_container()),
        ("startContainer", hooks.start_container()),
        ("poststart", hooks.poststart()),
        ("poststop", hooks.poststop()),
    ];
    for (list, hooks) in lists {
        for (index, hook) in hooks.iter().flatten().enumerate() {
            if !hook.path().is_absolute() {
                return Err(InvalidHook { list, index, rule: "`path` is not absolute" });
            }
            if hook.timeout().is_some_and(|seconds| seconds <= 0) {
                return Err(InvalidHook { list, index, rule: "`timeout` is not above zero" });
            }
        }
    }
    Ok(())
}

/// Runs the hooks of a container at the points that the engine reaches.
#[derive(Debug)]
pub struct HookRunner<'a> {
    hooks: &'a Hooks,
    state: HookState,
    reached: bool,
}

impl<'a> HookRunner<'a> {
    /// Prepares `hooks` for a container in `state`.
    pub fn new(hooks: &'a Hooks, state: HookState) -> Self {
        Self { hooks, state, reached: false }
    }

    /// True when a hook was run in this process, so that `poststop` hooks are due.
    pub fn reached(&self) -> bool {
        self.reached
    }
}

impl HookPoints for HookRunner<'_> {
    fn wanted(&self) -> HookSet {
        let any = |list: &Option<Vec<Hook>>| list.as_ref().is_some_and(|list| !list.is_empty());
        let prestart = any(self.hooks.prestart());
        HookSet {
            create_runtime: prestart || any(self.hooks.create_runtime()),
            create_container: any(self.hooks.create_container()),
            start_container: any(self.hooks.start_container()),
        }
    }

    fn run(&mut self, point: HookPoint, pid: Pid) -> Result<(), HookFault> {
        self.reached = true;
        let (lists, status) = match point {
            HookPoint::CreateRuntime => {
                ([self.hooks.prestart(), self.hooks.create_runtime()], Status::Creating)
            }
            HookPoint::CreateContainer => {
                ([self.hooks.create_container(), &None], Status::Creating)
            }
            HookPoint::StartContainer => ([self.hooks.start_container(), &None], Status::Created),
        };
        let state = self.state.clone().at(status, Some(pid.as_raw()));
        for hook in lists.into_iter().flat_map(|list| list.iter().flatten()) {
            run(hook, &state)?;
        }
        Ok(())
    }
}

/// Runs `hooks` in order until one fails.
pub fn run_all(hooks: Option<&Vec<Hook>>, state: &HookState) -> Result<(), HookFault> {
    hooks.into_iter().flatten().try_for_each(|hook| run(hook, state))
}

/// Runs all of `hooks`; one that fails is a warning.
pub fn run_each(hooks: Option<&Vec<Hook>>, state: &HookState) {
    for hook in hooks.into_iter().flatten() {
        if let Err(fault) = run(hook, state) {
            tracing::warn!(id = %state.id, error = %fault, "poststop hook failed");
        }
    }
}

/// Runs one hook to its end, or to its timeout, when it is ended with all its process group.
pub fn run(hook: &Hook, state: &HookState) -> Result<(), HookFault> {
    let fault = |cause, output| HookFault { program: hook.path().clone(), cause, output };
    let not_started = |error: io::Error| {
        fault(HookCause::NotStarted(error.raw_os_error().unwrap_or(0)), String::new())
    };
    let stdin = filled_pipe(&state.to_json()).map_err(|errno| not_started(errno.into()))?;
    // A file and not a pipe: whatever a hook leaves running cannot keep anybody waiting.
    let output = memfd_create(c"hook", MFdFlags::MFD_CLOEXEC).ok().map(File::from);
    let stream = || match &output {
        Some(file) => file.try_clone().map(Stdio::from),
        None => Ok(Stdio::null()),
    };
    let mut command = Command::new(hook.path());
    let args = hook.args().as_deref().unwrap_or_default();
    if let Some((name, rest)) = args.split_first() {
        command.arg0(name).args(rest);
    }
    let env = hook.env().iter().flatten().filter_map(|entry| entry.split_once('='));
    command.env_clear().envs(env).process_group(0);
    command.stdin(stdin).stdout(stream().map_err(not_started)?);
    command.stderr(stream().map_err(not_started)?);
    let mut child = command.spawn().map_err(not_started)?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let deadline = hook.timeout().map(|seconds| {
        Instant::now() + Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX >> 32))
    });
    let ended = wait_until(pid, deadline);
    if let Ended::TimedOut = ended {
        let _ = killpg(pid, Signal::SIGKILL);
    }
    let status = child.wait().map_err(not_started)?;
    let cause = match ended {
        Ended::TimedOut => Some(HookCause::TimedOut(hook.timeout().unwrap_or(0))),
        Ended::Itself => cause_of(status),
    };
    cause.map_or(Ok(()), |cause| Err(fault(cause, output.map(shown).unwrap_or_default())))
}

enum Ended {
    Itself,
    TimedOut,
}

/// Waits until the child `pid` can be reaped.
fn wait_until(pid: Pid, deadline: Option<Instant>) -> Ended {
    let (Some(deadline), Ok(pidfd)) = (deadline, pidfd_open(pid)) else { return Ended::Itself };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) if left.is_zero() => return Ended::TimedOut,
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) | Err(_) => return Ended::Itself,
        }
    }
}

fn cause_of(status: ExitStatus) -> Option<HookCause> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(HookCause::Exited(code)),
        (None, signal) => Some(HookCause::Signaled(signal.unwrap_or(0))),
    }
}

/// The read end of a pipe that holds all of `bytes`, so that writing never waits for a reader.
fn filled_pipe(bytes: &[u8]) -> nix::Result<OwnedFd> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC)?;
    let size = i32::try_from(bytes.len()).map_err(|_| Errno::EFBIG)?;
    if capacity(write.as_fd())? < size {
        fcntl(&write, FcntlArg::F_SETPIPE_SZ(size))?;
    }
    File::from(write).write_all(bytes).map_err(|_| Errno::EPIPE)?;
    Ok(read)
}

fn capacity(pipe: BorrowedFd<'_>) -> nix::Result<i32> {
    fcntl(pipe, FcntlArg::F_GETPIPE_SZ)
}

/// The end of what a hook wrote, on one line.
fn shown(mut file: File) -> String {
    let length = file.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut text = Vec::new();
    let _ = file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT)));
    let _ = file.take(OUTPUT).read_to_end(&mut text);
    String::from_utf8_lossy(&text).trim().replace('\n', " | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(script: &str, timeout: Option<i64>) -> Hook {
        let value = serde_json::json!({
            "path": "/bin/sh", "args": ["sh", "-c", script], "env": ["WORD=a=b"], "timeout": timeout,
        });
        serde_json::from_value(value).unwrap()
    }

    fn state() -> HookState {
        HookState::of(&"web".parse().unwrap(), Path::new("/b"), &BTreeMap::new())
            .at(Status::Created, Some(7))
    }

    #[test]
    fn a_hook_reads_the_state_and_has_its_own_environment_alone() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let script = format!("(cat; echo; echo $WORD-$HOME) > {}", seen.display());
        run(&hook(&script, Some(5)), &state()).unwrap();
        let text = std::fs::read_to_string(seen).unwrap();
        let (json, env) = text.trim().split_once('\n').unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let expected = serde_json::json!({
            "ociVersion": "1.3.0", "id": "web", "status": "created", "pid": 7, "bundle": "/b",
        });
        assert_eq!((json, env), (expected, "a=b-"));
    }

    #[test]
    fn a_failing_hook_says_how_and_what_it_wrote() {
        for (script, timeout, message) in [
            ("echo one >&2; echo two; exit 3", None, "hook `/bin/sh` exited with 3: one | two"),
            ("kill -9 $$", Some(5), "hook `/bin/sh` was ended by signal 9"),
            ("sleep 60 & sleep 60", Some(1), "hook `/bin/sh` did not end within 1 s"),
        ] {
            let started = Instant::now();
            let fault = run(&hook(script, timeout), &state()).unwrap_err();
            assert_eq!(fault.to_string(), message);
            assert!(started.elapsed() < Duration::from_secs(3));
        }
    }

    #[test]
    fn a_state_larger_than_a_pipe_does_not_block() {
        let mut state = state();
        state.annotations.insert("x".to_owned(), "y".repeat(200_000));
        run(&hook("exit 0", Some(5)), &state).unwrap();
    }

    #[test]
    fn a_hook_that_is_none_is_found_before_anything_is_made() {
        for (json, message) in [
            (
                serde_json::json!({"poststop": [{"path": "/a"}, {"path": "b"}]}),
                Some("`hooks.poststop[1]`: `path` is not absolute"),
            ),
            (
                serde_json::json!({"createRuntime": [{"path": "/a", "timeout": 0}]}),
                Some("`hooks.createRuntime[0]`: `timeout` is not above zero"),
            ),
            (serde_json::json!({"prestart": [{"path": "/a", "timeout": 1}]}), None),
        ] {
            let hooks = serde_json::from_value(json).unwrap();
            assert_eq!(check(&hooks).err().map(|e| e.to_string()).as_deref(), message);
        }
    }
}
