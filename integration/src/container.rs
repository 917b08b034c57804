//! A container's life, through the command line that engines use.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Bundle, Finished, Run, Runtime, Scratch};

/// What `state` said.
#[derive(Debug)]
pub struct State(Value);

impl State {
    /// `creating`, `created`, `running`, `paused` or `stopped`.
    pub fn status(&self) -> &str {
        self.0["status"].as_str().unwrap()
    }

    /// The init process as the host sees it.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.0["pid"].as_i64().unwrap()).unwrap()
    }

    /// The whole answer.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

/// One container of a runtime, deleted by force on drop.
#[derive(Debug)]
pub struct Container<'a> {
    runtime: &'a Runtime,
    root: PathBuf,
    id: String,
    bundle: PathBuf,
}

impl<'a> Container<'a> {
    /// Nothing yet: an id that carries the scratch's tag, a bundle, and a state folder below the scratch.
    pub fn new(runtime: &'a Runtime, scratch: &Scratch, bundle: &Bundle, name: &str) -> Self {
        Self::with_id(runtime, scratch, bundle, &scratch.name(name))
    }

    /// The same with an id as it is.
    pub fn with_id(runtime: &'a Runtime, scratch: &Scratch, bundle: &Bundle, id: &str) -> Self {
        Self {
            runtime,
            root: scratch.folder("state"),
            id: id.to_owned(),
            bundle: bundle.folder().to_owned(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder that the runtime keeps its state in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `R --root S VERB FLAG…`, without the id.
    pub fn verb(&self, verb: &str, flags: &[&str]) -> Command {
        let mut command = self.runtime.command(["--root"]);
        command.arg(&self.root).arg(verb).args(flags);
        command
    }

    /// `R --root S VERB FLAG… ID`.
    pub fn on_it(&self, verb: &str, flags: &[&str]) -> Command {
        let mut command = self.verb(verb, flags);
        command.arg(&self.id);
        command
    }

    /// `create` or `run` with this bundle.
    pub fn begin(&self, verb: &str, flags: &[&str]) -> Command {
        let mut command = self.verb(verb, flags);
        command.arg("--bundle").arg(&self.bundle).arg(&self.id);
        command
    }

    /// Creates it.
    #[track_caller]
    pub fn create(&self) -> Finished {
        self.begin("create", &[]).finish()
    }

    /// Runs it in the foreground to its end.
    #[track_caller]
    pub fn run(&self) -> Finished {
        self.begin("run", &[]).finish()
    }

    /// Starts what was created.
    #[track_caller]
    pub fn start(&self) -> Finished {
        self.on_it("start", &[]).finish()
    }

    /// Creates and starts it.
    #[track_caller]
    pub fn launch(&self) -> &Self {
        self.create().ok();
        self.start().ok();
        self
    }

    /// Sends a signal.
    #[track_caller]
    pub fn kill(&self, signal: &str) -> Finished {
        self.verb("kill", &[&self.id, signal]).finish()
    }

    /// Deletes it.
    #[track_caller]
    pub fn delete(&self) -> Finished {
        self.on_it("delete", &[]).finish()
    }

    /// Deletes it, running or not.
    #[track_caller]
    pub fn delete_by_force(&self) -> Finished {
        self.on_it("delete", &["--force"]).finish()
    }

    /// Runs a program in it.
    #[track_caller]
    pub fn exec(&self, args: &[&str]) -> Finished {
        self.exec_with(&[], args)
    }

    /// Runs a program in it, with flags of `exec`.
    #[track_caller]
    pub fn exec_with(&self, flags: &[&str], args: &[&str]) -> Finished {
        self.on_it("exec", flags).args(args).finish()
    }

    /// Asks for its state.
    #[track_caller]
    pub fn state(&self) -> State {
        let answer = self.on_it("state", &[]).finish().ok();
        State(serde_json::from_str(&answer).unwrap())
    }

    /// Waits until the state is `status`.
    #[track_caller]
    pub fn wait_until(&self, status: &str) -> State {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let state = self.state();
            if state.status() == status {
                return state;
            }
            assert!(Instant::now() < deadline, "still `{}`, not `{status}`", state.status());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        // Not asserted: a panic here would hide the one that ends the test.
        if self.root.join(&self.id).exists() {
            self.delete_by_force();
        }
    }
}
