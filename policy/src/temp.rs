//! What a literal `/tmp` is for a capsule's commands: `spec/temp-dir.md` §3, the one decision.

use serde::{Deserialize, Serialize};

use crate::Tier;

/// Where the session's temporary folder appears when it is mapped.
pub const TMP_PATH: &str = "/tmp";

/// The variables that name the temporary folder; always set together.
pub const TEMP_DIR_ENV: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// How every failure to map `/tmp` begins.
pub const TMP_MAP_FAILURE_PREFIX: &str =
    "sandbox: could not map /tmp onto this session's temporary folder:";

/// How `/tmp` is mapped onto the session's temporary folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TempMapping {
    /// The composed root binds the folder at `/tmp`.
    ComposedRoot,
    /// The session's mount namespace binds the folder over the host's `/tmp`.
    MountNamespace,
    /// A literal `/tmp` is something else.
    NotMapped(NotMappedReason),
}

/// Why `/tmp` is not the session's temporary folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotMappedReason {
    /// Nothing in the kernel holds a command on this host.
    NoKernelContainment,
    /// Neither a private mount namespace nor Landlock can be had.
    NoMountNamespaceNoLandlock,
    /// Landlock can be had, a private mount namespace cannot.
    NoMountNamespace,
    /// The work folder is `/tmp` itself.
    WorkdirIsTmp,
    /// The session is unconfined.
    Unconfined,
}

impl TempMapping {
    /// Whether commands see the folder as `/tmp`.
    pub const fn is_mapped(self) -> bool {
        matches!(self, Self::ComposedRoot | Self::MountNamespace)
    }

    /// The wire name of the mechanism; `None` when not mapped.
    pub const fn mapped_by(self) -> Option<&'static str> {
        match self {
            Self::ComposedRoot => Some("composed-root"),
            Self::MountNamespace => Some("mount-namespace"),
            Self::NotMapped(_) => None,
        }
    }

    /// Why it is not mapped, in one sentence; `None` when it is.
    pub const fn not_mapped_because(self) -> Option<&'static str> {
        match self {
            Self::ComposedRoot | Self::MountNamespace => None,
            Self::NotMapped(reason) => Some(reason.sentence()),
        }
    }
}

impl NotMappedReason {
    /// Why, what a literal `/tmp` is instead, and what `TMPDIR` names.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoKernelContainment => {
                "this host contains no command at kernel level: a literal /tmp is the host's own, \
                 and TMPDIR names this session's folder"
            }
            Self::NoMountNamespaceNoLandlock => {
                "this host gives neither a private mount namespace nor Landlock: a literal /tmp is \
                 the host's own, and TMPDIR names this session's folder"
            }
            Self::NoMountNamespace => {
                "this host gives no private mount namespace: a literal /tmp is refused by Landlock, \
                 and TMPDIR names this session's folder"
            }
            Self::WorkdirIsTmp => {
                "the work folder is /tmp and a mapping would hide it: a literal /tmp is the work \
                 folder, and TMPDIR names this session's folder"
            }
            Self::Unconfined => {
                "the session is unconfined: a literal /tmp is the host's own, and TMPDIR is the \
                 caller's"
            }
        }
    }
}

/// Decides what `/tmp` is, from the applied tier, whether a private mount namespace can be had, and whether the
/// work folder is `/tmp` itself.
pub const fn temp_mapping(
    applied: Tier,
    mount_namespace: bool,
    workdir_is_tmp: bool,
) -> TempMapping {
    match applied {
        Tier::Unconfined => TempMapping::NotMapped(NotMappedReason::Unconfined),
        Tier::EnvironmentOnly => TempMapping::NotMapped(NotMappedReason::NoKernelContainment),
        Tier::Sealed => TempMapping::ComposedRoot,
        Tier::Full | Tier::SeccompOnly if workdir_is_tmp => {
            TempMapping::NotMapped(NotMappedReason::WorkdirIsTmp)
        }
        Tier::Full | Tier::SeccompOnly if mount_namespace => TempMapping::MountNamespace,
        Tier::Full => TempMapping::NotMapped(NotMappedReason::NoMountNamespace),
        Tier::SeccompOnly => TempMapping::NotMapped(NotMappedReason::NoMountNamespaceNoLandlock),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NotMappedReason::{
        NoKernelContainment, NoMountNamespace, NoMountNamespaceNoLandlock, Unconfined, WorkdirIsTmp,
    };
    use TempMapping::{ComposedRoot, MountNamespace, NotMapped};

    #[test]
    fn each_row_of_the_table_maps_as_it_says() {
        for (tier, usable, is_tmp, mapping) in [
            (Tier::Sealed, true, false, ComposedRoot),
            (Tier::Sealed, true, true, ComposedRoot),
            (Tier::Full, true, false, MountNamespace),
            (Tier::Full, true, true, NotMapped(WorkdirIsTmp)),
            (Tier::Full, false, true, NotMapped(WorkdirIsTmp)),
            (Tier::Full, false, false, NotMapped(NoMountNamespace)),
            (Tier::SeccompOnly, true, false, MountNamespace),
            (Tier::SeccompOnly, true, true, NotMapped(WorkdirIsTmp)),
            (Tier::SeccompOnly, false, true, NotMapped(WorkdirIsTmp)),
            (Tier::SeccompOnly, false, false, NotMapped(NoMountNamespaceNoLandlock)),
            (Tier::EnvironmentOnly, true, false, NotMapped(NoKernelContainment)),
            (Tier::EnvironmentOnly, false, true, NotMapped(NoKernelContainment)),
            (Tier::Unconfined, true, false, NotMapped(Unconfined)),
            (Tier::Unconfined, false, true, NotMapped(Unconfined)),
        ] {
            assert_eq!(temp_mapping(tier, usable, is_tmp), mapping, "{tier} {usable} {is_tmp}");
        }
    }

    #[test]
    fn each_reason_says_what_a_literal_tmp_is_and_what_tmpdir_names() {
        for (reason, literal, tmpdir) in [
            (NoKernelContainment, "the host's own", "this session's folder"),
            (NoMountNamespaceNoLandlock, "the host's own", "this session's folder"),
            (NoMountNamespace, "refused", "this session's folder"),
            (WorkdirIsTmp, "is the work folder", "this session's folder"),
            (Unconfined, "the host's own", "the caller's"),
        ] {
            let sentence = reason.sentence();
            assert!(sentence.contains("a literal /tmp is"), "{sentence}");
            assert!(sentence.contains(literal), "{sentence}");
            assert!(sentence.contains("TMPDIR") && sentence.ends_with(tmpdir), "{sentence}");
        }
    }
}
