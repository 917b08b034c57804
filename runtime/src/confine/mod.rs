//! What holds a process: capabilities, Landlock and the syscall filter, as plans and as steps.

pub(crate) mod capability;
pub(crate) mod landlock;
pub mod seccomp;

pub use capability::Capabilities;
pub use landlock::Landlock;
pub use seccomp::{Listener, SyscallFilter};
