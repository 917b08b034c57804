//! The harness of the tests on real kernels. It starts the runtime under test as a child, as an engine
//! would, and looks at the machine from outside; it imports nothing of ours.
//!
//! * [`Runtime`] is what is tested: `mur`, or by `MUR_RUNTIME=crun|runc` a runtime that others wrote, so
//!   that a test is known to be right before it says that we are wrong.
//! * [`Scratch`] is a folder with a tag of its own; container ids carry the tag.
//! * [`Bundle`] builds an OCI bundle around a static busybox, [`Container`] drives it through its life.
//! * [`OrdinaryUser`] runs commands without root; [`leftover`] finds what a run left on the machine.
//! * [`need`] skips aloud what this machine cannot show; `MUR_INTEGRATION=required` makes that a failure.
//!
//! ```no_run
//! use mur_integration::{Bundle, Container, Runtime, Scratch};
//!
//! let scratch = Scratch::new();
//! let bundle = Bundle::busybox(&scratch, "hello").args(["echo", "hi"]);
//! let finished = Container::new(Runtime::under_test(), &scratch, &bundle, "hello").run();
//! assert_eq!(finished.ok(), "hi\n");
//! ```
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a panic is how a test fails")]

mod bundle;
mod capsule;
mod cgroup;
mod command;
mod console;
mod container;
pub mod leftover;
pub mod need;
mod probe;
mod runtime;
mod scratch;
mod user;

pub use bundle::{Bundle, fill_with_busybox};
pub use capsule::{Caller, Capsule, Class};
pub use cgroup::{Hierarchy, hierarchies, read_limit};
pub use command::{Finished, Run};
pub use console::{ConsoleSocket, InTerminal, Terminal};
pub use container::{Container, State};
pub use probe::{Attempt, probe_program};
pub use runtime::{Kind, Runtime};
pub use scratch::{Exclusive, Scratch};
pub use user::OrdinaryUser;
