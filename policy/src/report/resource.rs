//! The resource plane and the fixed writes of the runtime: `spec/scope-report.md` §3.9, §3.11, §3.12.

use serde::{Deserialize, Serialize};

use crate::CapabilityPolicy;

/// What came of asking for the disk limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoMaxStatus {
    /// The write was accepted.
    Enforced,
    /// A control group exists, the write was not accepted (`W-SEC-021`).
    Unavailable,
    /// Nothing of this capsule is a process.
    NotRequired,
    /// Nobody asked.
    #[default]
    NotProbed,
}

/// What came of asking for a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupScopeStatus {
    /// It was made, with the required controllers.
    Delegated,
    /// Nothing of this capsule is a process.
    NotRequired,
    /// It cannot be made: a launch is refused (`E-RUN-012`).
    Unavailable,
    /// Nobody asked.
    #[default]
    NotProbed,
}

/// The limit of disk traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoMaxReport {
    /// As declared, or the default; each way.
    pub declared_bytes_per_sec: u64,
    /// What came of it.
    pub status: IoMaxStatus,
    /// Why not; absent when enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The control group of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupScopeReport {
    /// What came of it.
    pub status: CgroupScopeStatus,
    /// Why not; absent when delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A path below the work folder that the runtime itself writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeWriteReport {
    /// Relative to the work folder.
    pub path: String,
    /// `file` or `directory`.
    pub kind: String,
    /// When.
    pub condition: String,
}

/// What a real attempt on the control group came to, dry or at launch: both are worded here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeOutcome {
    /// What came of it.
    pub status: CgroupScopeStatus,
    /// Why not.
    pub reason: Option<String>,
}

/// What a real attempt on the disk limit came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoMaxOutcome {
    /// What came of it.
    pub status: IoMaxStatus,
    /// Why not.
    pub reason: Option<String>,
}

/// Why a capsule without a process needs neither.
const NO_ROUTE: &str = "nothing of this capsule is a process";

/// Why there is no answer yet.
const NOT_PROBED: &str = "nobody has tried";

impl CgroupScopeReport {
    /// The report of an outcome; a capsule without a process needs none, whatever was tried.
    pub fn new(policy: &CapabilityPolicy, outcome: &ScopeOutcome) -> Self {
        if !policy.has_subprocess_route() {
            return Self { status: CgroupScopeStatus::NotRequired, reason: Some(NO_ROUTE.into()) };
        }
        let reason = match outcome.status {
            CgroupScopeStatus::Delegated => None,
            CgroupScopeStatus::NotProbed => Some(NOT_PROBED.to_owned()),
            CgroupScopeStatus::NotRequired | CgroupScopeStatus::Unavailable => {
                outcome.reason.clone()
            }
        };
        Self { status: outcome.status, reason }
    }
}

impl IoMaxReport {
    /// The report of an outcome; a capsule without a process needs none, whatever was tried.
    pub fn new(policy: &CapabilityPolicy, outcome: &IoMaxOutcome) -> Self {
        let declared_bytes_per_sec = policy.resources.cgroup_io_bytes_per_sec;
        if !policy.has_subprocess_route() {
            let reason = Some(NO_ROUTE.to_owned());
            return Self { declared_bytes_per_sec, status: IoMaxStatus::NotRequired, reason };
        }
        let reason = match outcome.status {
            IoMaxStatus::Enforced => None,
            IoMaxStatus::NotProbed => Some(NOT_PROBED.to_owned()),
            IoMaxStatus::NotRequired | IoMaxStatus::Unavailable => outcome.reason.clone(),
        };
        Self { declared_bytes_per_sec, status: outcome.status, reason }
    }
}

/// The paths the runtime writes: fixed, whatever the tier.
pub fn runtime_writes() -> Vec<RuntimeWriteReport> {
    [("peer-in", "peer-fetch"), ("out", "script-session")]
        .map(|(path, condition)| RuntimeWriteReport {
            path: path.to_owned(),
            kind: "directory".to_owned(),
            condition: condition.to_owned(),
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::{policy, shell_policy};

    #[test]
    fn each_outcome_is_worded_by_its_status() {
        let policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
        for (status, reason, told) in [
            (CgroupScopeStatus::Delegated, Some("stale"), None),
            (CgroupScopeStatus::NotProbed, None, Some(NOT_PROBED)),
            (CgroupScopeStatus::Unavailable, Some("no delegation"), Some("no delegation")),
        ] {
            let outcome = ScopeOutcome { status, reason: reason.map(str::to_owned) };
            let report = CgroupScopeReport::new(&policy, &outcome);
            assert_eq!((report.status, report.reason.as_deref()), (status, told));
        }
        for (status, reason, told) in [
            (IoMaxStatus::Enforced, Some("stale"), None),
            (IoMaxStatus::NotProbed, None, Some(NOT_PROBED)),
            (IoMaxStatus::Unavailable, Some("overlay has no disk"), Some("overlay has no disk")),
        ] {
            let outcome = IoMaxOutcome { status, reason: reason.map(str::to_owned) };
            let report = IoMaxReport::new(&policy, &outcome);
            assert_eq!((report.status, report.reason.as_deref()), (status, told));
            assert_eq!(report.declared_bytes_per_sec, 100 << 20);
        }
    }

    #[test]
    fn a_capsule_without_a_process_requires_neither() {
        let policy = policy(ContainmentClass::Sealed);
        let scope = ScopeOutcome { status: CgroupScopeStatus::Delegated, reason: None };
        let report = CgroupScopeReport::new(&policy, &scope);
        assert_eq!(report.status, CgroupScopeStatus::NotRequired);
        let io = IoMaxOutcome { status: IoMaxStatus::Enforced, reason: None };
        let report = IoMaxReport::new(&policy, &io);
        assert_eq!(report.status, IoMaxStatus::NotRequired);
        assert_eq!(report.reason.as_deref(), Some(NO_ROUTE));
    }

    #[test]
    fn an_enforced_limit_has_no_reason_key() {
        let policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
        let outcome = IoMaxOutcome { status: IoMaxStatus::Enforced, reason: None };
        assert_eq!(
            serde_json::to_string(&IoMaxReport::new(&policy, &outcome)).unwrap(),
            r#"{"declared_bytes_per_sec":104857600,"status":"enforced"}"#
        );
    }
}
