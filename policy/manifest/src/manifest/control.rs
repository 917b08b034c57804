//! `control`: what may be changed while a capsule runs.

use crate::block::{block, words};
use crate::location::Spanned;

block! {
    /// What may be changed while the capsule runs; only beside `inference`.
    pub struct Control: Default {
        /// Settings the operator may change.
        default settings: Vec<Setting> = Vec::new(),
        /// Secrets the operator may replace: names used as `gateway.api_key: ${NAME}`.
        default secrets: Vec<Spanned<String>> = Vec::new(),
        /// Settings the agent may change itself.
        default agent_settings: Vec<AgentSetting> = Vec::new(),
    }
}

words! {
    /// A setting the operator may change.
    pub enum Setting {
        /// Tokens of one answer.
        MaxTokens = "inference.max_tokens",
        /// Which of the declared models is used.
        Driver = "inference.driver",
    }
}

words! {
    /// A setting the agent may change itself.
    pub enum AgentSetting {
        /// Which of the declared models is used.
        Driver = "inference.driver",
    }
}
