//! One session of one capsule, from its manifest to its last record.

pub mod bundle;
pub mod dir;
pub mod error;
pub mod explain;
pub mod folders;
pub mod home;
pub mod id;
pub mod operator;
pub mod prepare;
mod program;
mod quota;
mod record;
pub mod request;
pub mod run;
pub mod trace;
