//! Reads what only words an answer: kernel, caller, `AppArmor`, control groups.

use std::fs;

use mur_policy::{AppArmorReading, Caller, CgroupLayout};

use crate::cgroup::Layout;

/// `uname -r`.
pub(crate) fn kernel() -> String {
    nix::sys::utsname::uname()
        .map(|name| name.release().to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Who calls, and whether that is the host's root: `CAP_SYS_ADMIN` where ids are not mapped.
pub(crate) fn caller() -> Caller {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let initial = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let admin = caps::has_cap(None, caps::CapSet::Effective, caps::Capability::CAP_SYS_ADMIN);
    Caller {
        uid: nix::unistd::geteuid().as_raw(),
        gid: nix::unistd::getegid().as_raw(),
        privileged: initial && admin.unwrap_or(false),
    }
}

/// The three readings of `spec/containment.md` §4.
pub(crate) fn apparmor() -> AppArmorReading {
    let read = |path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    AppArmorReading {
        enabled: read("/sys/module/apparmor/parameters/enabled"),
        restrict_unprivileged_userns: read(
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        ),
        // Without AppArmor the second file is another security module's.
        profile: read("/proc/self/attr/apparmor/current"),
    }
}

/// How control groups are laid out.
pub(crate) fn cgroup_layout() -> CgroupLayout {
    let Ok(layout) = Layout::read() else { return CgroupLayout::None };
    if layout.is_empty() {
        CgroupLayout::None
    } else if layout.is_unified() {
        CgroupLayout::V2
    } else if layout.v2.is_some() {
        CgroupLayout::Hybrid
    } else {
        CgroupLayout::V1
    }
}
