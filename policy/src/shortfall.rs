//! Why a class is not reached here, and what would help: `spec/containment.md` §3.4 and §5.

use serde::{Deserialize, Serialize};

use crate::errno::{self, EACCES, EINVAL, ENOSPC, ENOSYS, EPERM, EUSERS};
use crate::host::Step;
use crate::{Attempt, ContainmentClass, HostProbe, Placement, UsernsGrant, userns_grant};

/// What keeps the achieved class below the floor; decides the advice of `E-CAP-003`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortfallCause {
    /// `capabilities.filesystem.workdir_exec`.
    WorkdirExec,
    /// The runtime or records folder lies inside the work folder.
    InsideWorkdir,
    /// The host cannot back the class.
    Host,
}

impl ShortfallCause {
    /// What the operator can do, ending with the three places a floor comes from.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::WorkdirExec => {
                "remove `capabilities.filesystem.workdir_exec` or lower the floor; a floor comes from \
                 `capabilities.containment` in the manifest, `containment` in the workspace config, \
                 or `--containment`"
            }
            Self::InsideWorkdir => {
                "choose another `--workdir`, one that does not hold `~/.murmur`, or lower the floor; a \
                 floor comes from `capabilities.containment` in the manifest, `containment` in the \
                 workspace config, or `--containment`"
            }
            Self::Host => {
                "lower the floor to the achieved class, or use another host (`mur doctor` says what \
                 this one lacks); a floor comes from `capabilities.containment` in the manifest, \
                 `containment` in the workspace config, or `--containment`"
            }
        }
    }
}

/// Why a host cannot back `sealed`; a closed set, exactly one is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealedBlocker {
    /// Not Linux.
    NotLinux,
    /// A probe child could not run or report.
    ProbeUnavailable,
    /// The kernel has no such namespace, or no more of them.
    KernelUnsupported,
    /// `AppArmor` restricts user namespaces and no profile of ours lifts it.
    AppArmorProfileMissing,
    /// Making a namespace was refused.
    NamespaceCreationDenied,
    /// Writing an id map was refused.
    IdMapDenied,
    /// Private propagation or the tmpfs was refused.
    MountDenied,
    /// The parking folder, `pivot_root` or the detach was refused.
    PivotRootDenied,
    /// The network namespace could not be furnished or joined.
    NetworkNamespaceUnavailable,
    /// Everything worked but Landlock.
    LandlockUnavailable,
}

impl SealedBlocker {
    /// The wire name.
    pub const fn wire_name(self) -> &'static str {
        match self {
            Self::NotLinux => "not_linux",
            Self::ProbeUnavailable => "probe_unavailable",
            Self::KernelUnsupported => "kernel_unsupported",
            Self::AppArmorProfileMissing => "app_armor_profile_missing",
            Self::NamespaceCreationDenied => "namespace_creation_denied",
            Self::IdMapDenied => "id_map_denied",
            Self::MountDenied => "mount_denied",
            Self::PivotRootDenied => "pivot_root_denied",
            Self::NetworkNamespaceUnavailable => "network_namespace_unavailable",
            Self::LandlockUnavailable => "landlock_unavailable",
        }
    }

    /// What is the matter.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NotLinux => "a composed root needs Linux",
            Self::ProbeUnavailable => "the host could not be probed",
            Self::KernelUnsupported => "the kernel makes no such namespace, or no more of them",
            Self::AppArmorProfileMissing => "AppArmor restricts user namespaces for this program",
            Self::NamespaceCreationDenied => "making the namespaces was refused",
            Self::IdMapDenied => "writing the id map of the user namespace was refused",
            Self::MountDenied => "mounting inside the user namespace was refused",
            Self::PivotRootDenied => "changing the root was refused",
            Self::NetworkNamespaceUnavailable => "the network namespace cannot be made or joined",
            Self::LandlockUnavailable => "Landlock is not fully enforced",
        }
    }

    /// What would help.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NotLinux => "none: this host can never back it",
            Self::ProbeUnavailable => {
                "relieve the limits on processes and memory of this user, and let the calls of the \
                 probe through (fork, unshare, mount, pivot_root)"
            }
            Self::KernelUnsupported => {
                "raise `user.max_user_namespaces` (sysctl), or use a kernel built with user namespaces"
            }
            Self::AppArmorProfileMissing => {
                "load the shipped AppArmor profile `mur-sealed`; as a last resort set \
                 `kernel.apparmor_restrict_unprivileged_userns=0`"
            }
            Self::NamespaceCreationDenied => {
                "in a container add SYS_ADMIN, or make the namespace outside of it; on a host allow \
                 unprivileged user namespaces"
            }
            Self::IdMapDenied => {
                "this is about id-mapping and not about a capability: give this user a map of its own \
                 id (in a container: run it with a user namespace of its own)"
            }
            Self::MountDenied => {
                "reload the AppArmor profile `mur-sealed`; in a container add SYS_ADMIN"
            }
            Self::PivotRootDenied => {
                "add a `pivot_root` rule to the AppArmor profile, or allow the call in the \
                 container's seccomp profile"
            }
            Self::NetworkNamespaceUnavailable => {
                "see `E-CAP-005`: the kernel needs network namespaces, and this user the right to \
                 furnish one"
            }
            Self::LandlockUnavailable => {
                "use a kernel of 5.13 or newer with Landlock among the boot parameter `lsm=`"
            }
        }
    }
}

/// The one thing that keeps a host from backing `sealed`; `None` when it can.
pub fn sealed_blocker(host: &HostProbe) -> Option<SealedBlocker> {
    if host.os != "linux" {
        return Some(SealedBlocker::NotLinux);
    }
    if host.namespaces.composed_root.works() {
        return (!host.landlock.enforced.works()).then_some(SealedBlocker::LandlockUnavailable);
    }
    Some(match &host.namespaces.network {
        Attempt::Works => of_composed_root(&host.namespaces.composed_root),
        Attempt::NotTried { .. } => SealedBlocker::ProbeUnavailable,
        Attempt::Refused { step, errno } => of_network(host, Step::of(step), *errno),
    })
}

/// Reads the blocker off a refused network namespace.
fn of_network(host: &HostProbe, step: Step, errno: i32) -> SealedBlocker {
    let first_steps = matches!(step, Step::Unshare | Step::IdMap);
    if step == Step::Unshare && is_missing(errno) {
        SealedBlocker::KernelUnsupported
    } else if first_steps && is_denied(errno) && app_armor_withholds(host) {
        SealedBlocker::AppArmorProfileMissing
    } else if step == Step::Unshare {
        SealedBlocker::NamespaceCreationDenied
    } else if step == Step::IdMap {
        SealedBlocker::IdMapDenied
    } else {
        SealedBlocker::NetworkNamespaceUnavailable
    }
}

/// Reads the blocker off a refused composed root.
fn of_composed_root(attempt: &Attempt) -> SealedBlocker {
    let Attempt::Refused { step, errno } = attempt else {
        return SealedBlocker::ProbeUnavailable;
    };
    match Step::of(step) {
        Step::Unshare if is_missing(*errno) => SealedBlocker::KernelUnsupported,
        Step::Unshare => SealedBlocker::NamespaceCreationDenied,
        Step::IdMap => SealedBlocker::IdMapDenied,
        Step::Join => SealedBlocker::NetworkNamespaceUnavailable,
        Step::Mount => SealedBlocker::MountDenied,
        Step::Pivot | Step::Other => SealedBlocker::PivotRootDenied,
    }
}

/// The kernel lacks it or has no more of it, rather than refusing it.
fn is_missing(errno: i32) -> bool {
    u32::try_from(errno).is_ok_and(|errno| [ENOSPC, EINVAL, ENOSYS, EUSERS].contains(&errno))
}

/// A policy refused it.
fn is_denied(errno: i32) -> bool {
    u32::try_from(errno).is_ok_and(|errno| [EPERM, EACCES].contains(&errno))
}

/// `AppArmor` restricts user namespaces and this process runs under no profile.
fn app_armor_withholds(host: &HostProbe) -> bool {
    let profile = host.apparmor.profile.as_deref().map_or("unconfined", str::trim);
    userns_grant(&host.apparmor) == UsernsGrant::Withheld && profile == "unconfined"
}

/// The reason for a class below the floor, in the order of causes that `spec/containment.md` §3.4 fixes.
pub(crate) fn shortfall(
    floor: ContainmentClass,
    workdir_exec: bool,
    host: &HostProbe,
    placement: &Placement,
) -> (ShortfallCause, String) {
    if workdir_exec {
        let reason = "`capabilities.filesystem.workdir_exec: true` lets a command run what it wrote, \
                      and no class above `advisory` can promise otherwise";
        return (ShortfallCause::WorkdirExec, reason.to_owned());
    }
    if placement.inside_workdir() {
        return (ShortfallCause::InsideWorkdir, inside_reason(placement));
    }
    let reason =
        if floor == ContainmentClass::Sealed { sealed_reason(host) } else { landlock_reason(host) };
    (ShortfallCause::Host, reason)
}

/// Names the folder that a command could reach through its work folder.
pub(crate) fn inside_reason(placement: &Placement) -> String {
    let (name, folder) = if placement.runtime_dir_inside() {
        ("runtime", &placement.runtime_dir)
    } else {
        ("records", &placement.records_dir)
    };
    format!(
        "the {name} folder `{}` lies inside the work folder `{}`, where commands may write; use \
         another work folder",
        folder.display(),
        placement.workdir.display()
    )
}

/// Why `sealed` cannot be had, ending with the failed call and the host's readings.
fn sealed_reason(host: &HostProbe) -> String {
    let Some(blocker) = sealed_blocker(host) else {
        return seccomp_reason(host);
    };
    let failed =
        [&host.namespaces.network, &host.namespaces.composed_root, &host.landlock.enforced]
            .into_iter()
            .find(|attempt| !attempt.works());
    format!(
        "{} ({}): {}{}; {}",
        blocker.meaning(),
        blocker.wire_name(),
        blocker.remedy(),
        failed.map(failure_clause).unwrap_or_default(),
        readings(host)
    )
}

/// Why `scoped` cannot be had.
fn landlock_reason(host: &HostProbe) -> String {
    if host.os != "linux" {
        return format!("this host runs `{}`, and Landlock needs Linux", host.os);
    }
    if host.landlock.enforced.works() {
        return seccomp_reason(host);
    }
    let blocker = SealedBlocker::LandlockUnavailable;
    format!(
        "{} ({}): {}{}; {}",
        blocker.meaning(),
        blocker.wire_name(),
        blocker.remedy(),
        failure_clause(&host.landlock.enforced),
        readings(host)
    )
}

/// Every kernel tier stands on the syscall filter; a host that loads none backs nothing above `advisory`.
fn seccomp_reason(host: &HostProbe) -> String {
    format!(
        "no syscall filter can be loaded here, and each class stands on one; {}",
        readings(host)
    )
}

/// What an attempt came to, as a clause to put behind a reason.
fn failure_clause(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Works => String::new(),
        Attempt::Refused { step, errno } => {
            format!("; `{step}` failed with {}", errno::describe(*errno))
        }
        Attempt::NotTried { reason } => format!("; {reason}"),
    }
}

/// One line of what was read, never what was decided from.
fn readings(host: &HostProbe) -> String {
    let told = |text: &Option<String>| text.as_deref().map_or("absent", str::trim).to_owned();
    format!(
        "kernel {}, landlock abi {}, apparmor enabled {}, restrict_unprivileged_userns {}, profile {}",
        host.kernel,
        host.landlock.abi.map_or_else(|| "none".to_owned(), |abi| abi.to_string()),
        told(&host.apparmor.enabled),
        told(&host.apparmor.restrict_unprivileged_userns),
        told(&host.apparmor.profile),
    )
}
