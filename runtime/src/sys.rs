//! The door to the kernel: each function is one call, with owned descriptors and `Errno` out.
#![expect(unsafe_code, reason = "raw system calls that nix does not have")]

pub(crate) mod bpf;
pub(crate) mod descriptor;
pub(crate) mod placeholder;
pub(crate) mod process;
pub(crate) mod rehearsal;
pub(crate) mod signal;
pub(crate) mod terminal;
