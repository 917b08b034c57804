//! Decides which device nodes a container may use, as rules in the spec's order.
//!
//! Rules are applied one after the other and the last that fits an access decides it. Before the
//! first everything is refused, so a config without rules has no devices but the standard ones.

mod program;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use oci_spec::runtime::{LinuxDeviceCgroup, LinuxDeviceType};

use crate::sys::bpf;

/// Kinds of access, as bits of [`Rule::access`]; the numbers are those of the kernel's programs.
pub(crate) mod access {
    /// Make a node.
    pub(crate) const MKNOD: u8 = 1;
    /// Open for reading.
    pub(crate) const READ: u8 = 2;
    /// Open for writing.
    pub(crate) const WRITE: u8 = 4;
    /// All of them.
    pub(crate) const ALL: u8 = MKNOD | READ | WRITE;
}

/// Kind of device node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Block and character devices.
    Any,
    /// Block devices.
    Block,
    /// Character devices.
    Char,
}

/// What a rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The access is allowed.
    Allow,
    /// The access is refused.
    Deny,
}

/// Who wrote a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The spec: it must hold.
    Spec,
    /// The standard devices: where the caller's own group forbids them, so be it.
    Standard,
}

/// One rule; `None` is any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) verdict: Verdict,
    pub(crate) kind: Kind,
    pub(crate) major: Option<u32>,
    pub(crate) minor: Option<u32>,
    /// Bits of [`access`].
    pub(crate) access: u8,
    pub(crate) origin: Origin,
}

/// The device rules cannot be put in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A rule is not one.
    #[error("`linux.resources.devices[{index}]`: `{value}` {reason}")]
    Rule {
        /// Its place in the list.
        index: usize,
        /// The value at fault.
        value: String,
        /// As `is not an access`.
        reason: &'static str,
    },
    /// No hierarchy serves devices.
    #[error("the host has neither the `devices` controller of cgroup v1 nor cgroup v2")]
    NoController,
    /// A file of v1 does not take a rule.
    #[error("writing `{rule}` to `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The rule.
        rule: String,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The program of v2 is not accepted.
    #[error("cannot {action} for `{}`", path.display())]
    Program {
        /// As `load the device program`.
        action: &'static str,
        /// The group's folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// Reads the spec's rules and adds the standard devices after them.
pub(crate) fn parse(rules: &[LinuxDeviceCgroup]) -> Result<Vec<Rule>, DeviceError> {
    let parsed = rules.iter().enumerate().map(|(index, rule)| parse_rule(index, rule));
    let mut list = parsed.collect::<Result<Vec<_>, _>>()?;
    list.extend(standard());
    // Nothing before a rule that fits everything is ever asked.
    let last_total = list.iter().rposition(Rule::is_total).unwrap_or(0);
    Ok(list.split_off(last_total))
}

/// What every container may use: nodes of any device may be made, these may be opened as well.
fn standard() -> impl Iterator<Item = Rule> {
    let allow = |kind, major, minor, access| {
        let (verdict, origin) = (Verdict::Allow, Origin::Standard);
        Rule { verdict, kind, major, minor, access, origin }
    };
    let nodes = [Kind::Char, Kind::Block].map(|kind| allow(kind, None, None, access::MKNOD));
    // null, zero, full, random, urandom, tty, console, ptmx, and every pts.
    let numbers = [(1, Some(3)), (1, Some(5)), (1, Some(7)), (1, Some(8)), (1, Some(9))];
    let terminals = [(5, Some(0)), (5, Some(1)), (5, Some(2)), (136, None)];
    let opened = numbers.into_iter().chain(terminals);
    let opened = opened.map(move |(ma, mi)| allow(Kind::Char, Some(ma), mi, access::ALL));
    nodes.into_iter().chain(opened)
}

fn parse_rule(index: usize, rule: &LinuxDeviceCgroup) -> Result<Rule, DeviceError> {
    let kind = match rule.typ() {
        None | Some(LinuxDeviceType::A) => Kind::Any,
        Some(LinuxDeviceType::B) => Kind::Block,
        Some(LinuxDeviceType::C | LinuxDeviceType::U) => Kind::Char,
        Some(LinuxDeviceType::P) => {
            let reason = "is not a type of device that can be ruled";
            return Err(DeviceError::Rule { index, value: "p".to_owned(), reason });
        }
    };
    let number = |value: Option<i64>| {
        // -1 is how engines write the wildcard.
        let Some(value) = value.filter(|&value| value != -1) else { return Ok(None) };
        u32::try_from(value).map(Some).map_err(|_| DeviceError::Rule {
            index,
            value: value.to_string(),
            reason: "is not a device number",
        })
    };
    let mut bits = 0;
    for character in rule.access().as_deref().unwrap_or("rwm").chars() {
        bits |= match character {
            'r' => access::READ,
            'w' => access::WRITE,
            'm' => access::MKNOD,
            other => {
                let reason = "is not an access; `r`, `w` and `m` are";
                return Err(DeviceError::Rule { index, value: other.to_string(), reason });
            }
        };
    }
    Ok(Rule {
        verdict: if rule.allow() { Verdict::Allow } else { Verdict::Deny },
        kind,
        major: number(rule.major())?,
        minor: number(rule.minor())?,
        access: if bits == 0 { access::ALL } else { bits },
        origin: Origin::Spec,
    })
}

impl Rule {
    /// True when it fits every access to every device.
    fn is_total(&self) -> bool {
        self.kind == Kind::Any
            && self.major.is_none()
            && self.minor.is_none()
            && self.access == access::ALL
    }

    /// The lines for `devices.allow` or `devices.deny`.
    ///
    /// The kernel reads `a` as "everything" whatever follows it, so a rule for both kinds that is
    /// not total becomes two.
    fn lines(&self) -> Vec<String> {
        if self.is_total() {
            return vec!["a".to_owned()];
        }
        let number = |n: Option<u32>| n.map_or_else(|| "*".to_owned(), |n| n.to_string());
        let mut word = String::new();
        for (bit, letter) in [(access::READ, 'r'), (access::WRITE, 'w'), (access::MKNOD, 'm')] {
            if self.access & bit != 0 {
                word.push(letter);
            }
        }
        let kinds: &[char] = match self.kind {
            Kind::Any => &['b', 'c'],
            Kind::Block => &['b'],
            Kind::Char => &['c'],
        };
        let (major, minor) = (number(self.major), number(self.minor));
        kinds.iter().map(|kind| format!("{kind} {major}:{minor} {word}")).collect()
    }
}

/// Puts `rules` in force in a v1 folder of the `devices` controller.
pub(super) fn write_v1(folder: &Path, rules: &[Rule]) -> Result<(), DeviceError> {
    let open = |name: &str| {
        let path = folder.join(name);
        match OpenOptions::new().write(true).open(&path) {
            Ok(file) => Ok((file, path)),
            Err(source) => Err(DeviceError::Write { path, rule: String::new(), source }),
        }
    };
    let (mut allow, mut deny) = (open("devices.allow")?, open("devices.deny")?);
    let put = |(file, path): &mut (File, PathBuf), rule: &str| {
        file.write_all(rule.as_bytes()).map_err(|source| DeviceError::Write {
            path: path.clone(),
            rule: rule.to_owned(),
            source,
        })
    };
    if !rules.first().is_some_and(Rule::is_total) {
        put(&mut deny, "a")?;
    }
    for rule in rules {
        let file = match rule.verdict {
            Verdict::Allow => &mut allow,
            Verdict::Deny => &mut deny,
        };
        for line in rule.lines() {
            match put(file, &line) {
                Err(error) if rule.origin == Origin::Standard => {
                    tracing::debug!(rule = line, %error, "standard device not allowed here");
                }
                done => done?,
            }
        }
    }
    Ok(())
}

/// Attaches a program with `rules` to a v2 folder, in place of those that are there.
pub(super) fn attach_v2(path: &Path, folder: &OwnedFd, rules: &[Rule]) -> Result<(), DeviceError> {
    let failed = |action| {
        let path = path.to_path_buf();
        move |errno: Errno| DeviceError::Program { action, path, source: errno.into() }
    };
    let code = program::compile(rules);
    let program = bpf::load_device_program(&code).map_err(failed("load the device program"))?;
    let older = bpf::device_programs_of(folder.as_fd()).unwrap_or_default();
    bpf::attach_device_program(folder.as_fd(), program.as_fd())
        .map_err(failed("attach the device program"))?;
    for id in older {
        bpf::detach_device_program(folder.as_fd(), id)
            .map_err(failed("detach an older device program"))?;
    }
    tracing::debug!(fd = folder.as_raw_fd(), rules = rules.len(), "device program attached");
    Ok(())
}

#[cfg(test)]
mod tests;
