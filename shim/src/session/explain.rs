//! The report without the run: everything is decided, limits are tried on a throw-away group, nothing stays.

use mur_bundle::{HostLayout, plan};
use mur_policy::report::{CgroupScopeStatus, IoMaxOutcome, IoMaxStatus, ScopeOutcome};
use mur_policy::{CapabilityPolicy, Outcomes, ProcessPolicy, ScopeReport};
use mur_runtime::cgroup::{LimitOutcome, probe_limits, scope_name};
use mur_runtime::layout::{IdentityChoice, Purpose};

use super::error::PrepareError;
use super::prepare::Prepared;

/// A report, and what it was computed from.
#[derive(Debug)]
pub struct Explained {
    /// The report.
    pub report: ScopeReport,
    /// The host's files.
    pub layout: HostLayout,
}

/// Computes the report of a launch that does not take place.
pub fn explain(prepared: &Prepared, identity: IdentityChoice) -> Result<Explained, PrepareError> {
    let layout = prepared.read_dry_layout(identity, Purpose::Session)?;
    let mut outcomes = prepared.outcomes(&layout);
    if prepared.policy.has_subprocess_route() {
        try_limits(prepared, &layout, &mut outcomes);
    }
    let report = ScopeReport::new(&prepared.policy, &prepared.decision, &outcomes);
    Ok(Explained { report, layout })
}

fn try_limits(prepared: &Prepared, layout: &HostLayout, outcomes: &mut Outcomes) {
    let policy = with_some_process(&prepared.policy);
    let Ok(planned) = plan(&policy, &prepared.decision, layout) else { return };
    let Some(resources) = planned.spec().linux().as_ref().and_then(|it| it.resources().clone())
    else {
        return;
    };
    let probe = probe_limits(&scope_name("explain", std::process::id(), 0), &resources);
    let failed = probe.limits.iter().find(|limit| limit.result.is_err() && !is_io(limit));
    let reason = match (&probe.scope, failed.map(|limit| &limit.result)) {
        (Err(reason), _) | (Ok(_), Some(Err(reason))) => Some(reason.clone()),
        (Ok(_), _) => None,
    };
    let status = match reason {
        None => CgroupScopeStatus::Delegated,
        Some(_) => CgroupScopeStatus::Unavailable,
    };
    outcomes.cgroup = ScopeOutcome { status, reason };
    outcomes.io_max = io_outcome(&probe.limits, layout);
}

/// The policy with a process, where it has none: limits can be planned without a command.
pub(crate) fn with_some_process(policy: &CapabilityPolicy) -> CapabilityPolicy {
    let mut policy = policy.clone();
    let program = policy.shell_allow().first().cloned();
    policy.process.get_or_insert_with(|| ProcessPolicy {
        args: program.into_iter().collect(),
        cwd: None,
        env: Vec::new(),
        terminal: false,
    });
    policy
}

fn is_io(limit: &LimitOutcome) -> bool {
    limit.limit.starts_with("blockIO")
}

/// What the disk limit came to: for a dry run and a launch in the same words.
pub(crate) fn io_outcome(limits: &[LimitOutcome], layout: &HostLayout) -> IoMaxOutcome {
    let unavailable =
        |reason: String| IoMaxOutcome { status: IoMaxStatus::Unavailable, reason: Some(reason) };
    if layout.disk.is_none() {
        return unavailable("the work folder's file system has no block device".to_owned());
    }
    let mut io = limits.iter().filter(|limit| is_io(limit)).peekable();
    if io.peek().is_none() {
        return unavailable("this host has no controller for block devices".to_owned());
    }
    match io.find_map(|limit| limit.result.as_ref().err()) {
        Some(reason) => unavailable(reason.clone()),
        None => IoMaxOutcome { status: IoMaxStatus::Enforced, reason: None },
    }
}
