//! Checks a bundle on disk: that it still holds what its own policy and report say, and can start on this host.

mod folder;
mod held;
#[cfg(test)]
mod tests;

use std::fmt;

use mur_policy::CapabilityPolicy;
use oci_spec::runtime::Spec;

use crate::Contents;
use crate::annotation::POLICY;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of fault it is.
    pub fault: Fault,
    /// What was found, in one clause that names the place.
    pub what: String,
}

/// What kind of fault a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The bundle and its report or policy do not belong together.
    Mismatch,
    /// Something holds less than the policy asks for.
    Weaker,
    /// Something a runtime needs is not there, here.
    Missing,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Checks a bundle and what lies in its folder; an empty list is a bundle that is as it was written.
pub fn verify(spec: &Spec, contents: &Contents) -> Vec<Finding> {
    let mut findings = Findings::default();
    let annotations = spec.annotations();
    match annotations.as_ref().and_then(|all| all.get(POLICY)) {
        None => findings.add(Fault::Mismatch, format!("there is no annotation `{POLICY}`")),
        Some(text) => match serde_json::from_str::<CapabilityPolicy>(text) {
            Ok(policy) => held::check(spec, &policy, &mut findings),
            Err(error) => {
                findings
                    .add(Fault::Mismatch, format!("annotation `{POLICY}` is unreadable: {error}"));
            }
        },
    }
    folder::check(spec, contents, &mut findings);
    findings.0
}

/// The findings so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, fault: Fault, what: impl Into<String>) {
        self.0.push(Finding { fault, what: what.into() });
    }
}
