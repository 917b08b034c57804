//! Which rights each kind of path gets, and what each ABI mediates: `spec/containment.md` §6.4.

use serde::{Deserialize, Serialize};

use super::{
    FsAccess, HandledAccess, LANDLOCK_TARGET_ABI, LandlockRuleset, NetAccess, NetworkPort, Rules,
    Scope,
};
use FsAccess::{
    Execute, IoctlDev, MakeBlock, MakeChar, MakeDir, MakeFifo, MakeReg, MakeSock, MakeSym, ReadDir,
    ReadFile, Refer, RemoveDir, RemoveFile, ResolveUnix, Truncate, WriteFile,
};

/// What a path may be used for. Rights the ABI does not know, and such as a file cannot carry, are masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RightSet {
    /// W of the work folder: executable only by `workdir_exec`.
    Work,
    /// W of the temporary folder, the home folder and a writable `host_paths` entry: never executable.
    Writable,
    /// R.
    Read,
    /// RL.
    ReadList,
    /// RX.
    ReadExecute,
    /// RXL.
    ReadExecuteList,
    /// DR: `zero`, `random`, `urandom`.
    DeviceRead,
    /// DRW: `full`.
    DeviceReadWrite,
    /// DRW that also takes ioctls: `null`, `tty`, the terminals and `ptmx`; lists where it is a folder.
    Terminal,
}

/// Every right, with the ABI that first mediates it (landlock(7)).
const FS_SINCE: [(FsAccess, u32); 17] = [
    (Execute, 1),
    (WriteFile, 1),
    (ReadFile, 1),
    (ReadDir, 1),
    (RemoveDir, 1),
    (RemoveFile, 1),
    (MakeChar, 1),
    (MakeDir, 1),
    (MakeReg, 1),
    (MakeSock, 1),
    (MakeFifo, 1),
    (MakeBlock, 1),
    (MakeSym, 1),
    (Refer, 2),
    (Truncate, 3),
    (IoctlDev, 5),
    (ResolveUnix, 9),
];

/// The rights of a folder that may be written. `MakeChar`, `MakeBlock` and `MakeSock` are withheld always.
const WRITABLE: [FsAccess; 11] = [
    WriteFile, ReadFile, ReadDir, RemoveDir, RemoveFile, MakeDir, MakeReg, MakeFifo, MakeSym,
    Refer, Truncate,
];

/// Every file-system right an ABI mediates.
pub fn handled_fs(abi: u32) -> Vec<FsAccess> {
    FS_SINCE.iter().filter(|(_, since)| *since <= abi).map(|(access, _)| *access).collect()
}

/// What a domain of `abi` does not mediate though the newest one does, each as a sentence for the report.
pub fn lost_below(abi: u32) -> Vec<&'static str> {
    const LOSSES: [(u32, &str); 6] = [
        (2, "moving or linking a file between two folders always fails (EXDEV)"),
        (3, "truncating a file that is not granted is not refused"),
        (4, "TCP ports are not mediated; the capsule's own network namespace is"),
        (5, "ioctl on a device that was opened is not mediated"),
        (6, "signals and abstract sockets are not mediated; the capsule's own namespaces are"),
        (9, "connecting to a named socket is mediated by file rights and mounts alone"),
    ];
    LOSSES.iter().filter(|(since, _)| abi < *since).map(|(_, text)| *text).collect()
}

/// A ruleset without its paths: what is mediated, and the rights each kind of path gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandlockBase {
    /// The ABI it is built for.
    pub abi: u32,
    /// What is mediated.
    pub handled_access: HandledAccess,
    /// TCP and UDP ports, where the network is an engine's.
    pub network_port: Vec<NetworkPort>,
    /// Scopes (ABI 6), always on.
    pub scoped: Vec<Scope>,
    /// Audit log flags (ABI 7).
    pub log_flags: Vec<String>,
    /// `workdir_exec`: [`RightSet::Work`] keeps `execute`.
    pub workdir_exec: bool,
    /// `unix_sockets`: sockets below a writable folder may be connected to (ABI 9).
    pub unix_sockets: bool,
}

impl LandlockBase {
    /// Builds the base of a domain at `abi`, without network rules.
    pub fn new(abi: u32, workdir_exec: bool, unix_sockets: bool) -> Self {
        let abi = abi.min(LANDLOCK_TARGET_ABI);
        Self {
            abi,
            handled_access: HandledAccess { fs: handled_fs(abi), net: Vec::new() },
            network_port: Vec::new(),
            scoped: if abi >= 6 {
                vec![Scope::AbstractUnixSocket, Scope::Signal]
            } else {
                Vec::new()
            },
            log_flags: Vec::new(),
            workdir_exec,
            unix_sockets,
        }
    }

    /// Narrows an engine's network to connections to `ports` (ABI 4, UDP from 10); below ABI 4 nothing changes.
    ///
    /// Binding stays as it was: a manifest has no key for inbound ports, and the engine publishes them.
    #[must_use]
    pub fn with_network_ports(mut self, ports: Vec<u16>) -> Self {
        let mut net = Vec::new();
        if self.abi >= 4 {
            net.push(NetAccess::ConnectTcp);
        }
        if self.abi >= 10 {
            net.push(NetAccess::ConnectSendUdp);
        }
        if !net.is_empty() && !ports.is_empty() {
            self.network_port = vec![NetworkPort { allowed_access: net.clone(), ports }];
        }
        self.handled_access.net = net;
        self
    }

    /// The rights a kind of path gets in this domain, in the kernel's order.
    pub fn rights(&self, set: RightSet) -> Vec<FsAccess> {
        let wanted: &[FsAccess] = match set {
            RightSet::Work | RightSet::Writable => &WRITABLE,
            RightSet::Read | RightSet::DeviceRead => &[ReadFile],
            RightSet::ReadList => &[ReadFile, ReadDir],
            RightSet::ReadExecute => &[ReadFile, Execute],
            RightSet::ReadExecuteList => &[ReadFile, Execute, ReadDir],
            RightSet::DeviceReadWrite => &[ReadFile, WriteFile, Truncate],
            RightSet::Terminal => &[ReadFile, WriteFile, Truncate, ReadDir, IoctlDev],
        };
        let executes = set == RightSet::Work && self.workdir_exec;
        let connects = matches!(set, RightSet::Work | RightSet::Writable) && self.unix_sockets;
        let mut rights = self.handled_access.fs.clone();
        rights.retain(|access| {
            wanted.contains(access)
                || *access == Execute && executes
                || *access == ResolveUnix && connects
        });
        rights
    }

    /// The whole ruleset, once the paths are known. The network rules of this base stand before those of `rules`.
    pub fn ruleset(&self, mut rules: Rules) -> LandlockRuleset {
        rules.network_port.splice(0..0, self.network_port.iter().cloned());
        LandlockRuleset {
            abi: self.abi,
            handled_access: self.handled_access.clone(),
            rules,
            scoped: self.scoped.clone(),
            log_flags: self.log_flags.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_abi_handles_what_the_kernel_added() {
        for (abi, count, newest) in [
            (1, 13, MakeSym),
            (2, 14, Refer),
            (3, 15, Truncate),
            (4, 15, Truncate),
            (5, 16, IoctlDev),
            (8, 16, IoctlDev),
            (9, 17, ResolveUnix),
            (10, 17, ResolveUnix),
        ] {
            let handled = handled_fs(abi);
            assert_eq!(handled.len(), count, "abi {abi}");
            assert_eq!(handled.last(), Some(&newest), "abi {abi}");
        }
    }

    #[test]
    fn devices_and_sockets_are_never_made_and_nothing_writable_executes() {
        for abi in 1..=LANDLOCK_TARGET_ABI {
            for unix_sockets in [false, true] {
                let base = LandlockBase::new(abi, false, unix_sockets);
                for set in [RightSet::Work, RightSet::Writable] {
                    let rights = base.rights(set);
                    for withheld in [MakeChar, MakeBlock, MakeSock, Execute, IoctlDev] {
                        assert!(!rights.contains(&withheld), "{withheld:?} at {abi}");
                    }
                    assert_eq!(rights.contains(&ResolveUnix), unix_sockets && abi >= 9);
                }
            }
        }
    }

    #[test]
    fn workdir_exec_opens_the_work_folder_alone() {
        let base = LandlockBase::new(7, true, false);
        assert!(base.rights(RightSet::Work).contains(&Execute));
        assert!(!base.rights(RightSet::Writable).contains(&Execute));
    }

    #[test]
    fn each_right_set_reads_as_the_table() {
        let base = LandlockBase::new(7, false, false);
        for (set, rights) in [
            (RightSet::Read, vec![ReadFile]),
            (RightSet::ReadList, vec![ReadFile, ReadDir]),
            (RightSet::ReadExecute, vec![Execute, ReadFile]),
            (RightSet::ReadExecuteList, vec![Execute, ReadFile, ReadDir]),
            (RightSet::DeviceRead, vec![ReadFile]),
            (RightSet::DeviceReadWrite, vec![WriteFile, ReadFile, Truncate]),
            (RightSet::Terminal, vec![WriteFile, ReadFile, ReadDir, Truncate, IoctlDev]),
        ] {
            assert_eq!(base.rights(set), rights, "{set:?}");
        }
        let oldest = LandlockBase::new(1, false, false);
        assert_eq!(oldest.rights(RightSet::DeviceReadWrite), [WriteFile, ReadFile]);
        assert!(!oldest.rights(RightSet::Work).contains(&Refer));
    }

    #[test]
    fn scopes_begin_at_abi_6_and_port_rules_at_4() {
        for (abi, scopes, net) in
            [(3, 0, 0), (4, 0, 1), (5, 0, 1), (6, 2, 1), (9, 2, 1), (10, 2, 2)]
        {
            let base = LandlockBase::new(abi, false, false).with_network_ports(vec![443]);
            assert_eq!(base.scoped.len(), scopes, "abi {abi}");
            assert_eq!(base.handled_access.net.len(), net, "abi {abi}");
            assert_eq!(base.network_port.len(), usize::from(net > 0), "abi {abi}");
        }
    }

    #[test]
    fn no_port_at_all_still_mediates_connecting() {
        let base = LandlockBase::new(7, false, false).with_network_ports(Vec::new());
        assert_eq!(base.handled_access.net, [NetAccess::ConnectTcp]);
        assert!(base.ruleset(Rules::default()).rules.network_port.is_empty());
    }

    #[test]
    fn a_newer_kernel_than_the_build_is_built_at_the_builds_own() {
        assert_eq!(LandlockBase::new(99, false, false).abi, LANDLOCK_TARGET_ABI);
    }

    #[test]
    fn losses_shrink_with_the_abi() {
        let counts: Vec<_> = (1..=LANDLOCK_TARGET_ABI).map(|abi| lost_below(abi).len()).collect();
        assert_eq!(counts, [6, 5, 4, 3, 2, 1, 1, 1, 0, 0]);
    }
}
