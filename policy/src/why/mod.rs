//! Would it be allowed, which line decides, and which line would change it.

mod grant;
mod path;

use std::path::PathBuf;

use mur_manifest::grammar::{NetworkRequest, Scheme};
use serde::{Deserialize, Serialize};

pub use grant::{PathGrant, path_grants};

use crate::{
    CapabilityPolicy, ContainmentDecision, NetworkOwner, Outcomes, SyscallVerdict, Tier,
    allows_program, confinement,
};

/// What a command would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Use a file or folder; an absolute path whose links are resolved.
    Path {
        /// Where.
        path: PathBuf,
        /// How.
        access: PathAccess,
    },
    /// Connect to a host.
    Host(NetworkRequest),
    /// Start a program: a bare name, or an absolute path whose links are resolved.
    Program(String),
    /// Make a system call; arguments left out count as zero.
    Syscall {
        /// The kernel's name.
        name: String,
        /// Its arguments.
        args: Vec<u64>,
    },
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathAccess {
    /// Open a file and read it.
    Read,
    /// List a folder.
    List,
    /// Write, create or remove.
    Write,
    /// Execute a file.
    Execute,
}

impl PathAccess {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
            Self::Execute => "execute",
        }
    }
}

/// What would happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Nothing of mur stands in the way; the host's own permissions may.
    Allowed,
    /// It is refused with this error number.
    Refused {
        /// As the command sees it.
        errno: u32,
    },
    /// It is not there: the command sees `ENOENT`.
    Absent,
}

/// The line that decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// A manifest key, as `capabilities.shell.allow[1]`; `None` where no key decides.
    pub key: Option<String>,
    /// What it says, as one clause.
    pub text: String,
}

impl Line {
    /// A line of the manifest.
    pub(crate) fn of_key(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: Some(key.into()), text: text.into() }
    }

    /// A fact of the tier, or something derived.
    pub(crate) fn of_fact(text: impl Into<String>) -> Self {
        Self { key: None, text: text.into() }
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What would happen.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The line that decides.
    pub because: Line,
    /// The line that would change it; `None` where none would.
    pub change: Option<String>,
}

/// `ENETUNREACH`: what connecting out of an empty network namespace gives.
const ENETUNREACH: u32 = 101;

/// `AF_UNIX`, `<linux/socket.h>`.
const AF_UNIX: u64 = 1;

/// Answers a question from a policy, a decision and what is known of the host.
///
/// `more` are grants that were derived from the host's layout: a program's files, its libraries, its helpers.
pub fn why(
    question: &Question,
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
    more: &[PathGrant],
) -> Answer {
    let mut grants = path_grants(policy, decision, outcomes);
    grants.extend_from_slice(more);
    let files = path::Files { policy, decision, outcomes, grants: &grants };
    match question {
        Question::Path { path, access } => files.answer(path, *access),
        Question::Program(name) => program(name, &files),
        Question::Host(request) => host(request, policy, decision),
        Question::Syscall { name, args } => syscall(name, args, policy, decision),
    }
}

/// Starting a program: its name in `shell.allow` decides, else what is executable at its path.
fn program(name: &str, files: &path::Files<'_>) -> Answer {
    if let Some(answer) = files.unheld(PathAccess::Execute) {
        return answer;
    }
    let allowed = files.policy.shell_allow();
    let path = std::path::Path::new(name);
    if allows_program(files.policy, name) {
        let own = path.file_name().and_then(|own| own.to_str()).unwrap_or(name);
        let index = allowed.iter().position(|entry| entry == own).unwrap_or_default();
        return Answer {
            verdict: Verdict::Allowed,
            because: Line::of_key(
                format!("capabilities.shell.allow[{index}]"),
                format!("it is `{own}`"),
            ),
            change: Some(format!("take `{own}` off `capabilities.shell.allow`")),
        };
    }
    if path.is_absolute() {
        return files.answer(path, PathAccess::Execute);
    }
    Answer {
        verdict: Verdict::Refused { errno: crate::errno::EACCES },
        because: Line::of_key("capabilities.shell.allow", format!("it does not name `{name}`")),
        change: Some(format!("add `{name}` to `capabilities.shell.allow`")),
    }
}

/// Connecting: the first rule that matches decides.
fn host(
    request: &NetworkRequest,
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
) -> Answer {
    if matches!(decision.applied, Tier::Unconfined | Tier::EnvironmentOnly) {
        let because = Line::of_fact("nothing in the kernel holds the network on this tier");
        return Answer { verdict: Verdict::Allowed, because, change: None };
    }
    if decision.network == NetworkOwner::Session && request.host.is_loopback() {
        let because =
            Line::of_fact("the loopback is the capsule's own; the host's is not reached by it");
        return Answer { verdict: Verdict::Allowed, because, change: None };
    }
    let matching = policy.network.rules.iter().position(|rule| rule.matches(request));
    if let Some(index) = matching {
        let entry = policy.network.allow.get(index).map_or("", String::as_str);
        return Answer {
            verdict: Verdict::Allowed,
            because: Line::of_key(
                format!("capabilities.network.allow[{index}]"),
                format!("`{entry}` covers it"),
            ),
            change: Some(format!("take `{entry}` off `capabilities.network.allow`")),
        };
    }
    let asked = entry_of(request);
    Answer {
        verdict: Verdict::Refused { errno: ENETUNREACH },
        because: Line::of_key("capabilities.network.allow", "no entry covers it"),
        change: Some(format!("add `{asked}` to `capabilities.network.allow`")),
    }
}

/// The narrowest entry that allows a request.
fn entry_of(request: &NetworkRequest) -> String {
    let port = request.port.map_or_else(String::new, |port| format!(":{port}"));
    match request.scheme {
        Some(scheme @ (Scheme::Http | Scheme::Https)) => {
            format!("{scheme}://{}{port}", request.host)
        }
        None => format!("{}{port}", request.host),
    }
}

/// Making a system call: the filter decides.
fn syscall(
    name: &str,
    args: &[u64],
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
) -> Answer {
    let Some(installed) = confinement(policy, decision) else {
        let because = Line::of_fact("no syscall filter is installed on this tier");
        return Answer { verdict: Verdict::Allowed, because, change: None };
    };
    let verdict = match installed.syscalls.verdict(name, args) {
        SyscallVerdict::Allowed => Verdict::Allowed,
        SyscallVerdict::Refused(errno) => Verdict::Refused { errno },
    };
    if name == "socket" && args.first() == Some(&AF_UNIX) {
        let granted = policy.network.unix_sockets;
        return Answer {
            verdict,
            because: Line::of_key(
                "capabilities.network.unix_sockets",
                format!("it is `{granted}`, and the socket is of the family AF_UNIX"),
            ),
            change: Some(format!("set `capabilities.network.unix_sockets: {}`", !granted)),
        };
    }
    let text = match verdict {
        Verdict::Allowed => "it is on the fixed allow-list of system calls",
        Verdict::Refused { .. } | Verdict::Absent => {
            "the fixed allow-list of system calls refuses it"
        }
    };
    Answer { verdict, because: Line::of_fact(text), change: None }
}

#[cfg(test)]
mod tests;
