//! Finds out what this host can do: every answer is an attempt in a forked child, never a version string.

use mur_policy::{
    AppArmorReading, Attempt, Caller, CgroupLayout, HostProbe, LandlockProbe, NamespaceProbe,
};

/// Probes this host for this caller. Never fails: "not tried, because …" is an answer.
pub fn probe_host() -> HostProbe {
    let untried = || Attempt::NotTried { reason: "this build has no probe for it".into() };
    HostProbe {
        os: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        kernel: String::new(),
        caller: Caller {
            uid: nix::unistd::geteuid().as_raw(),
            gid: nix::unistd::getegid().as_raw(),
            privileged: false,
        },
        landlock: LandlockProbe { abi: None, enforced: untried(), errata: None },
        namespaces: NamespaceProbe {
            network: untried(),
            mount: untried(),
            composed_root: untried(),
            procfs: untried(),
            mount_setattr: false,
            openat2: false,
        },
        apparmor: AppArmorReading::default(),
        seccomp: false,
        cgroup: CgroupLayout::None,
    }
}
