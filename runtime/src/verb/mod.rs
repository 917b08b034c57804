//! What the command line and the session supervisor do with containers: one verb a module.
//!
//! Creating makes, in this order, a state folder, control groups and the first process, and each is
//! undone by its owner when a later one fails. Every later verb starts from the state file alone.

mod code;
mod console;
mod create;
mod criu;
mod delete;
mod exec;
mod exec_process;
mod features;
mod foreground;
mod group;
mod kill;
mod pause;
mod signal;
mod start;
mod template;
mod update;
mod version;

pub use code::code_of;
pub use console::{Console, ConsoleError, Master};
pub use create::{CreateError, CreateRequest, Created, Until, create, first_missing};
pub use criu::{
    AfterDump, CriuError, CriuOptions, RestoreError, RestoreRequest, checkpoint, restore,
};
pub use delete::{DeleteError, Force, delete, destroy};
pub use exec::{ExecError, ExecRequest, Paused, exec};
pub use exec_process::{ExecFlags, InvalidExec};
pub use features::features;
pub use foreground::{ExitStatus, ForegroundError, Supervisor};
pub use group::Group;
pub use kill::{KillError, Reach, kill};
pub use pause::{PauseError, pause, resume};
pub use signal::{SignalNumber, UnknownSignal};
pub use start::{StartError, start};
pub use template::{caller_ids, spec_template};
pub use update::{UpdateError, update};
pub use version::{InvalidVersion, check_version};
