//! The strip list: which variables no command ever gets, whoever grants them: `spec/manifest.md` §3.4.

use std::collections::HashSet;

use mur_manifest::EnvPattern;
use mur_manifest::grammar::EnvPatternSet;
use serde::{Deserialize, Serialize};

use crate::CapabilityPolicy;

/// Patterns of credentials that no command ever gets, whatever was granted.
pub const CREDENTIAL_BACKSTOP: [&str; 13] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "HUGGING_FACE_HUB_TOKEN",
    "AWS_*",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "DOCKER_*",
    "KUBECONFIG",
    "NPM_TOKEN",
    "PYPI_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "*_API_KEY",
];

/// Who wrote a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StripSource {
    /// [`CREDENTIAL_BACKSTOP`].
    Backstop,
    /// `capabilities.shell.strip_env`.
    Manifest,
}

/// The pattern that drops a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrippedBy {
    /// As written.
    pub pattern: String,
    /// Who wrote it.
    pub source: StripSource,
}

/// Every pattern that drops variables of one capsule.
#[derive(Debug, Clone)]
pub struct StripList {
    backstop: EnvPatternSet,
    own: EnvPatternSet,
    /// Patterns that cannot be read drop the name they spell: never less than was asked.
    unread: HashSet<String>,
}

impl StripList {
    /// The list of a capsule: the backstop and its own `strip_env`.
    pub fn of(policy: &CapabilityPolicy) -> Self {
        let own = policy.shell.as_ref().map_or(&[][..], |shell| shell.strip_env.as_slice());
        let read = |text: &str| text.parse::<EnvPattern>().ok();
        Self {
            backstop: CREDENTIAL_BACKSTOP.into_iter().filter_map(read).collect(),
            own: own.iter().filter_map(|text| read(text)).collect(),
            unread: own.iter().filter(|text| read(text).is_none()).cloned().collect(),
        }
    }

    /// A pattern that drops `name` from every command's environment; the backstop's before the manifest's.
    pub fn find(&self, name: &str) -> Option<StrippedBy> {
        let by =
            |source| move |pattern: EnvPattern| StrippedBy { pattern: pattern.to_string(), source };
        let unread = || {
            let pattern = self.unread.get(name)?.clone();
            Some(StrippedBy { pattern, source: StripSource::Manifest })
        };
        self.backstop
            .find(name)
            .map(by(StripSource::Backstop))
            .or_else(|| self.own.find(name).map(by(StripSource::Manifest)))
            .or_else(unread)
    }

    /// Whether `name` reaches no command.
    pub fn drops(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::shell_policy;

    #[test]
    fn a_pattern_that_cannot_be_read_drops_the_name_it_spells() {
        let mut policy = shell_policy(ContainmentClass::Advisory, &["sh"]);
        policy.shell.as_mut().expect("a shell").strip_env =
            vec!["A*B".to_owned(), "CI_*".to_owned()];
        let list = StripList::of(&policy);
        for (name, dropped) in
            [("A*B", true), ("AXB", false), ("CI_JOB", true), ("CI", false), ("GH_TOKEN", true)]
        {
            assert_eq!(list.drops(name), dropped, "{name}");
        }
    }

    #[test]
    fn every_pattern_of_the_backstop_can_be_read() {
        let list = StripList::of(&shell_policy(ContainmentClass::Advisory, &["sh"]));
        for pattern in CREDENTIAL_BACKSTOP {
            let by = list.find(&pattern.replace('*', "X")).expect(pattern);
            assert_eq!((by.pattern.as_str(), by.source), (pattern, StripSource::Backstop));
        }
    }
}
