//! `inference`: the model behind an agent capsule, or the harness that is the agent itself.

use std::num::NonZeroU64;

use super::config::ArtifactConfig;
use crate::block::{block, words};
use crate::grammar::{AlternateName, ArtifactName, Bounded, Threshold};
use crate::location::Spanned;

block! {
    /// The model behind the capsule. Absent: a script capsule, without an agent.
    pub struct Inference {
        /// Whether the runtime calls a model, or a harness process is the agent.
        default transport: Transport = Transport::Http,
        /// The model's name, as the driver knows it.
        optional model: String,
        /// The artifact that speaks to the model.
        required driver: Driver,
        /// The harness's program, in place of the driver's own; `transport: process` only.
        optional command: Spanned<String>,
        /// The system prompt, literally.
        optional system_prompt: String,
        /// A file with the system prompt.
        optional system_prompt_file: Spanned<String>,
        /// An artifact of this capsule whose text is the system prompt.
        optional system_prompt_artifact: Spanned<ArtifactName>,
        /// Turns of one task.
        optional max_turns: NonZeroU64,
        /// Tokens of one answer; `transport: http` only.
        optional max_tokens: NonZeroU64,
        /// Tokens of one session.
        optional max_session_tokens: NonZeroU64,
        /// When tools that were installed meanwhile reach the model; `transport: http` only.
        optional tool_refresh: ToolRefresh,
        /// Other models the capsule may switch to; `transport: http` only.
        default alternates: Vec<Alternate> = Vec::new(),
        /// How failed calls are repeated.
        optional retry: Retry,
        /// When and how a long conversation is summarised.
        optional compaction: Compaction,
    }
}

words! {
    /// Who runs the agent loop.
    pub enum Transport {
        /// The runtime, calling a model through the driver.
        Http = "http",
        /// A harness, which is the capsule's own process.
        Process = "process",
    }
}

words! {
    /// When tools that were installed meanwhile reach the model.
    pub enum ToolRefresh {
        /// With the next summary of the conversation.
        Compaction = "compaction",
        /// With the next call.
        Immediate = "immediate",
    }
}

block! {
    /// The artifact that speaks to the model.
    pub struct Driver {
        /// Its full name.
        required artifact: Spanned<ArtifactName>,
        /// Settings handed to it.
        optional config: Spanned<ArtifactConfig>,
    }
}

block! {
    /// A model the capsule may switch to.
    pub struct Alternate {
        /// What it is called; not `primary`, and unique.
        required name: Spanned<AlternateName>,
        /// The model's name, as the driver knows it.
        required model: String,
        /// The artifact that speaks to it.
        required driver: AlternateDriver,
    }
}

block! {
    /// The artifact that speaks to an alternate model.
    pub struct AlternateDriver {
        /// Its full name.
        required artifact: Spanned<ArtifactName>,
    }
}

block! {
    /// How failed calls are repeated.
    pub struct Retry: Default {
        /// Extra attempts.
        default max_retries: Bounded<0, 20> = Bounded::literal(6),
        /// Wait before the first one, in milliseconds.
        default initial_delay_ms: Bounded<1, 60_000> = Bounded::literal(1000),
        /// Longest wait, in milliseconds.
        default max_delay_ms: Bounded<1, 3_600_000> = Bounded::literal(60_000),
    }
}

block! {
    /// When and how a long conversation is summarised.
    pub struct Compaction: Default {
        /// The full part of the window that starts it, above 0 and at most 1.
        optional threshold: Threshold,
        /// The model that summarises.
        optional model: String,
        /// Its system prompt, literally.
        optional system_prompt: String,
        /// A file with its system prompt.
        optional system_prompt_file: Spanned<String>,
        /// Whether summaries are kept in the records.
        optional dump_summaries: bool,
        /// Tokens of one summary.
        optional max_tokens: NonZeroU64,
        /// Settings handed to the driver for this call.
        optional driver_config: Spanned<ArtifactConfig>,
    }
}
