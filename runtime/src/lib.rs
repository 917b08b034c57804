//! Probes the host, keeps container state, starts and confines processes. Floor 4.

pub mod engine;
pub mod error;
pub mod plan;
mod sys;
