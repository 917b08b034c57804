//! The session supervisor: it stages a capsule's session, runs it, and writes what it did.
//! Floor 5; effects.

pub mod capsule_of_engine;
pub mod session;
