//! `capabilities.network` and every list in its grammar.

use mur_manifest::grammar::Grammar;
use mur_manifest::manifest::NetworkGrant;
use mur_manifest::{Code, NetworkAllowRule, Spanned};

use super::Findings;
use crate::NetworkPolicy;

/// Lowers the block; an absent one is no outbound network at all.
pub(super) fn lower(block: Option<&NetworkGrant>, findings: &mut Findings<'_>) -> NetworkPolicy {
    let Some(NetworkGrant { allow, unix_sockets }) = block else {
        return NetworkPolicy::default();
    };
    let entries = allow.as_deref().unwrap_or_default();
    if !entries.is_empty() {
        let at = findings.locate("capabilities.network.allow");
        findings.unsupported(
            at,
            "egress by name is not enforced by this version; write `allow: []` and start the capsule \
             without a network",
        );
    }
    NetworkPolicy {
        allow: verbatim(entries),
        rules: rules(entries, findings),
        unix_sockets: *unix_sockets,
    }
}

/// The entries as they are written.
pub(super) fn verbatim(entries: &[Spanned<String>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.clone()).collect()
}

/// The rules of a list; an entry that is none is noted, and grants nothing.
pub(super) fn rules(
    entries: &[Spanned<String>],
    findings: &mut Findings<'_>,
) -> Vec<NetworkAllowRule> {
    entries.iter().filter_map(|entry| rule(entry, findings)).collect()
}

/// One rule; an entry that is none is noted.
pub(super) fn rule(
    entry: &Spanned<String>,
    findings: &mut Findings<'_>,
) -> Option<NetworkAllowRule> {
    match entry.value.parse::<NetworkAllowRule>() {
        Ok(rule) => Some(rule),
        Err(error) => {
            let message = with_causes(&error);
            findings.refuse(Code::ECap001, entry.at.clone(), message, NetworkAllowRule::FORM);
            None
        }
    }
}

/// An error and what caused it, in one line: a fault has one message.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
