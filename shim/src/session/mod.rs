//! One session of one capsule, from its manifest to its last record.

pub mod dir;
pub mod folders;
pub mod home;
pub mod id;
pub mod trace;
