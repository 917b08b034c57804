//! The records of a session that runs one command, as values.

use std::time::Duration;

use mur_bundle::HostLayout;
use mur_policy::{CapabilityPolicy, ScopeReport};
use mur_runtime::cgroup::Counters;
use mur_runtime::verb::ExitStatus as Ended;

use super::trace::{ExitStatus, SessionEnd, SessionStart, Shell, TraceRecord};

/// The number of the trace's own shape.
const SCHEMA: u32 = 1;

/// How one command ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(crate) exit_code: u8,
    pub(crate) duration: Duration,
    pub(crate) resource_limit: Option<&'static str>,
}

pub(crate) fn session_start<'a>(
    policy: &'a CapabilityPolicy,
    report: &'a ScopeReport,
) -> TraceRecord<'a> {
    let granted = [
        ("network", !policy.network.allow.is_empty()),
        ("filesystem", policy.files.scope.is_some()),
        ("shell", !policy.shell_allow().is_empty()),
    ];
    TraceRecord::SessionStart(Box::new(SessionStart {
        schema: SCHEMA,
        capsule_name: &policy.capsule.name,
        capsule_version: &policy.capsule.version,
        model: "",
        max_turns: None,
        model_limits: None,
        max_session_tokens: None,
        machine_tokens_per_day: None,
        deadline: None,
        capabilities: granted.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect(),
        tools_declared: policy.shell_allow(),
        containment_declared: report.declared_containment,
        containment_achieved: report.achieved_containment,
        workdir_exec: report.workdir_exec,
        userns_grant: report.userns_grant.map(mur_policy::UsernsGrant::wire_name),
        effective_grants: report,
        system_prompt_source: "none",
        system_prompt_sha256: None,
        credential_source: "none",
        gateways: [],
        tool_refresh: None,
        runtime_artifacts: [],
        host_facts: [],
        resumed_from: None,
        context_id: None,
    }))
}

pub(crate) fn shell<'a>(
    policy: &'a CapabilityPolicy,
    layout: &'a HostLayout,
    command: &Command,
) -> TraceRecord<'a> {
    let args = policy.process.as_ref().map(|process| process.args.as_slice()).unwrap_or_default();
    let program = args.first().map(String::as_str).unwrap_or_default();
    let found = layout.programs.iter().find(|granted| granted.name == program);
    let canonical = found.and_then(|granted| granted.executables.first());
    TraceRecord::Shell(Shell {
        turn: 0,
        task_id: None,
        binary: canonical.and_then(|path| path.to_str()).unwrap_or(program),
        command: args.get(1..).unwrap_or_default().join(" "),
        exit_code: i32::from(command.exit_code),
        stdout_bytes: None,
        stderr_bytes: None,
        duration_ms: milliseconds(command.duration),
        resource_limit: command.resource_limit,
    })
}

pub(crate) fn session_end(duration: Duration, exit_status: ExitStatus) -> TraceRecord<'static> {
    TraceRecord::SessionEnd(SessionEnd {
        total_turns: 0,
        total_input_tokens: 0,
        total_output_tokens: 0,
        total_tool_calls: 0,
        total_shell_calls: 1,
        duration_ms: milliseconds(duration),
        exit_status,
    })
}

/// The limit that ended a command: its fatal signal, else the one counter that moved. Nothing is guessed.
pub(crate) fn limit_of(ended: Ended, before: &Counters, after: &Counters) -> Option<&'static str> {
    let signal = match ended {
        Ended::Signaled(signal) => Some(signal),
        // The holder passes a signal on as a shell does.
        Ended::Exited(code) => Some(code - 128).filter(|signal| *signal > 0),
    };
    match signal {
        Some(nix::libc::SIGXCPU) => return Some("cpu_seconds"),
        Some(nix::libc::SIGXFSZ) => return Some("max_file_size_bytes"),
        _ => {}
    }
    let memory = after.oom_kill > before.oom_kill;
    let pids = after.pids_refused > before.pids_refused;
    match (memory, pids) {
        (true, false) => Some("cgroup_memory_bytes"),
        (false, true) => Some("cgroup_pids_max"),
        (true, true) | (false, false) => None,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
