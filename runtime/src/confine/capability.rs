//! The five capability sets, from names to bits to calls.

use nix::errno::Errno;
use oci_spec::runtime as oci;
use serde::{Deserialize, Serialize};

use crate::sys::id::{self, CapabilitySets};

/// The five sets of a process, bit n for capability n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// The most that executed files can give.
    pub bounding: u64,
    /// In force.
    pub effective: u64,
    /// May be put in force.
    pub permitted: u64,
    /// Kept over execve by files that say so.
    pub inheritable: u64,
    /// Kept over execve by a user other than root.
    pub ambient: u64,
}

/// Names in the order of the kernel's numbers (`linux/capability.h`).
pub(crate) const NAMES: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// `CAP_SYS_ADMIN`.
pub(crate) const SYS_ADMIN: u64 = 1 << 21;

impl Capabilities {
    /// Reads `process.capabilities`; none at all means no capability at all.
    pub(crate) fn parse(sets: Option<&oci::LinuxCapabilities>) -> Self {
        let Some(sets) = sets else { return Self::default() };
        Self {
            bounding: bits(sets.bounding().as_ref()),
            effective: bits(sets.effective().as_ref()),
            permitted: bits(sets.permitted().as_ref()),
            inheritable: bits(sets.inheritable().as_ref()),
            ambient: bits(sets.ambient().as_ref()),
        }
    }

    /// Gives this thread these sets, but for the bounding one.
    ///
    /// An ambient capability that is not both permitted and inheritable cannot be: the kernel refuses
    /// it, other runtimes go on without it, and their own `spec` writes such a config.
    pub(crate) fn apply(self) -> nix::Result<()> {
        id::clear_ambient()?;
        id::capset(CapabilitySets {
            effective: self.effective,
            permitted: self.permitted,
            inheritable: self.inheritable,
        })?;
        for capability in numbers(self.ambient & self.permitted & self.inheritable) {
            match id::raise_ambient(capability) {
                // This kernel does not know it.
                Ok(()) | Err(Errno::EINVAL) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

/// Takes everything but `kept` out of the bounding set.
pub(crate) fn limit_bounding(kept: u64) -> nix::Result<()> {
    for capability in 0..64 {
        if kept & (1 << capability) == 0 {
            match id::drop_bounding(capability) {
                // The first number this kernel does not know: neither does it know the rest.
                Err(Errno::EINVAL) => break,
                other => other?,
            }
        }
    }
    Ok(())
}

fn bits(set: Option<&oci::Capabilities>) -> u64 {
    let bit = |capability: &oci::Capability| {
        let name = capability.to_string();
        NAMES.iter().position(|known| *known == name).map_or(0, |number| 1 << number)
    };
    set.into_iter().flatten().map(bit).fold(0, |all, bit| all | bit)
}

fn numbers(set: u64) -> impl Iterator<Item = u8> {
    (0..64).filter(move |number| set & (1 << number) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_of_the_specification_has_a_number() {
        let all: Vec<String> = NAMES.iter().map(|name| format!("\"CAP_{name}\"")).collect();
        let json = format!("{{\"bounding\":[{}]}}", all.join(","));
        let sets: oci::LinuxCapabilities = serde_json::from_str(&json).unwrap();
        assert_eq!(Capabilities::parse(Some(&sets)).bounding, (1 << NAMES.len()) - 1);
        assert_eq!(Capabilities::parse(None), Capabilities::default());
    }
}
