//! `context`: how much of a conversation is kept, and where.

use std::num::NonZeroU64;

use crate::block::{block, words};
use crate::grammar::{DurationSecs, Fraction};
use crate::location::Spanned;

block! {
    /// How much of a conversation is kept, and where.
    pub struct Context: Default {
        /// Size of the model's window, in tokens.
        optional max_tokens: NonZeroU64,
        /// Whether the conversation is recorded.
        optional record: Switch,
        /// Name of the record's folder, one path segment; judged when staging (`E-CAP-011`).
        optional record_store: Spanned<String>,
        /// The part of the window that an earlier conversation may fill at start.
        default seed_budget: Fraction = Fraction::TENTH,
        /// How far that part may be exceeded before it is cut.
        default seed_overflow_margin: Fraction = Fraction::TENTH,
        /// What is kept of a record.
        optional retain: ContextRetain,
        /// How images are kept.
        optional images: Images,
    }
}

words! {
    /// A switch that is written as a word, not as a boolean.
    pub enum Switch {
        /// Done.
        On = "on",
        /// Not done.
        Off = "off",
    }
}

block! {
    /// What is kept of a record.
    pub struct ContextRetain: Default {
        /// Newest messages that stay.
        optional max_messages: NonZeroU64,
        /// Age at which a message goes.
        optional max_age: DurationSecs,
    }
}

block! {
    /// How images are kept.
    pub struct Images: Default {
        /// Newest images that are sent as bytes.
        optional keep: u32,
        /// Largest image that is accepted, in bytes.
        optional max_bytes: u64,
        /// Images of one turn.
        optional max_per_turn: u32,
    }
}
