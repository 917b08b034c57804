//! `inference`: the model behind an agent capsule, or the harness that is the agent itself.

use std::collections::HashSet;
use std::num::NonZeroU64;

use super::config::ArtifactConfig;
use crate::block::{block, words};
use crate::grammar::{AlternateName, ArtifactName, Bounded, Threshold};
use crate::location::Spanned;
use crate::reader::{Entries, Reader};

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
    retire {
        "endpoint" => "the address stands on the driver's entry, `artifacts[].gateway.endpoint`",
        "api_key" => "the key stands on the driver's entry, `artifacts[].gateway.api_key`",
        "max_task_reopens" => "it is `lifecycle.max_task_reopens`",
    }
    check check_inference;
}

/// Keys fit the transport, there is one system prompt, and alternates are told apart.
fn check_inference(block: &mut Inference, reader: &mut Reader<'_>, entries: &Entries) {
    match block.transport {
        Transport::Http => {
            let message = "the key needs `transport: process`";
            reader.refuse_written(entries, "command", message);
        }
        Transport::Process => {
            for key in ["max_tokens", "tool_refresh", "alternates"] {
                reader.refuse_written(entries, key, "the key needs `transport: http`");
            }
        }
    }
    let prompts = ["system_prompt", "system_prompt_file", "system_prompt_artifact"];
    refuse_second(reader, entries, &prompts);
    let mut names = HashSet::new();
    for alternate in &block.alternates {
        if !names.insert(&alternate.name.value) {
            let message = format!("the name `{}` is used twice", alternate.name);
            reader.refuse(alternate.name.at.clone(), message, Some("another name"));
        }
    }
}

/// At most one of these keys is written.
fn refuse_second(reader: &mut Reader<'_>, entries: &Entries, keys: &[&str]) {
    let written: Vec<&str> = keys.iter().copied().filter(|key| entries.has(key)).collect();
    if let [first, others @ ..] = written.as_slice() {
        for other in others {
            let message = format!("`{first}` is written as well");
            let at = reader.place_of(entries, other);
            reader.refuse(at, message, Some("one of the two"));
        }
    }
}

/// There is one system prompt.
fn check_compaction(_: &mut Compaction, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_second(reader, entries, &["system_prompt", "system_prompt_file"]);
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
    check check_compaction;
}
