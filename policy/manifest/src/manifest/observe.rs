//! `trace` and `observability`: what is recorded of a session, and who is told.

use std::num::NonZeroU64;

use crate::block::{block, words};
use crate::grammar::DurationSecs;
use crate::reader::{Entries, Reader};

block! {
    /// What is recorded of a session.
    pub struct Trace: Default {
        /// How much is written.
        default capture: Capture = Capture::Meta,
        /// How long records stay.
        optional retain: TraceRetain,
    }
}

words! {
    /// How much of a session is written down.
    pub enum Capture {
        /// Start and end.
        None = "none",
        /// What happened, without contents.
        Meta = "meta",
        /// Contents too.
        Content = "content",
    }
}

block! {
    /// How long records stay; at least one of the two is written.
    pub struct TraceRetain: Default {
        /// Newest sessions that stay.
        optional max_sessions: NonZeroU64,
        /// Age at which a record goes.
        optional max_age: DurationSecs,
    }
    strict true;
    check check_retain;
}

/// Something is said: an empty block could be taken for "keep nothing" or "keep all".
fn check_retain(block: &mut TraceRetain, reader: &mut Reader<'_>, entries: &Entries) {
    let written = entries.has("max_sessions") || entries.has("max_age");
    if !written && block.max_sessions.is_none() && block.max_age.is_none() {
        let message = "the block is empty".to_owned();
        reader.refuse(
            entries.at().clone(),
            message,
            Some("`max_sessions` or `max_age`, or drop `retain`"),
        );
    }
}

block! {
    /// Who else is told of a session.
    pub struct Observability: Default {
        /// Address of an OpenTelemetry collector.
        optional otel_endpoint: String,
        /// Evaluation of sessions.
        optional eval: Eval,
    }
}

block! {
    /// Evaluation of sessions.
    pub struct Eval: Default {
        /// The data set that sessions are filed under.
        optional dataset_id: String,
        /// The scorers that judge them.
        default scorers: Vec<String> = Vec::new(),
    }
}
