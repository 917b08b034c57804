//! Which of the operator's host folders a capsule cannot be given: `spec/cli.md` §6, once links are resolved.

use std::path::{Path, PathBuf};

use mur_manifest::{Code, Coded};
use thiserror::Error;

use crate::{CapabilityPolicy, HostPath, Placement};

/// Folders of the system: never granted as a whole, and never written below.
const SYSTEM: [&str; 12] = [
    "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/run", "/sbin", "/usr",
    "/var", "/root",
];

/// Below these nothing is a host folder at all.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// `E-CAP-205`: an entry of `host_paths` that cannot be granted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`host_paths[{index}]` of the workspace config, `{}`, cannot be granted: {reason}", path.display())]
pub struct HostPathRefused {
    /// Its place in the list.
    pub index: usize,
    /// Its path, resolved.
    pub path: PathBuf,
    /// Why.
    pub reason: &'static str,
}

impl Coded for HostPathRefused {
    fn code(&self) -> Code {
        Code::ECap205
    }
}

/// Judges every granted folder against the session's own; their paths are resolved by the caller.
///
/// # Errors
/// The first folder that cannot be granted.
pub fn check_host_paths(
    policy: &CapabilityPolicy,
    placement: &Placement,
) -> Result<(), HostPathRefused> {
    for (index, granted) in policy.host_paths.iter().enumerate() {
        let twice = policy.host_paths[..index].iter().any(|other| other.path == granted.path);
        let reason = if twice { Some("it is granted twice") } else { refusal(granted, placement) };
        if let Some(reason) = reason {
            return Err(HostPathRefused { index, path: granted.path.clone(), reason });
        }
    }
    Ok(())
}

/// Why one folder cannot be granted.
fn refusal(granted: &HostPath, placement: &Placement) -> Option<&'static str> {
    let path = &granted.path;
    let below = |roots: &[&str]| roots.iter().any(|root| path.starts_with(root));
    let holds = |roots: &[&str]| roots.iter().any(|root| Path::new(root).starts_with(path));
    let murmur = &placement.murmur_home;
    if path.parent().is_none() {
        Some("`/` is the whole host")
    } else if below(&KERNEL) {
        Some("it belongs to the kernel")
    } else if holds(&SYSTEM) || granted.writable && below(&SYSTEM[..SYSTEM.len() - 2]) {
        Some("it belongs to the system")
    } else if path.starts_with(&placement.workdir) {
        Some("it lies in the work folder")
    } else if granted.writable && (murmur.starts_with(path) || path.starts_with(murmur)) {
        Some("it could be written over mur's own folder")
    } else if granted.writable && placement.workdir.starts_with(path) {
        Some("it could be written around the work folder, whose limits would not hold")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContainmentClass;
    use crate::fixture::{placement, policy};

    #[test]
    fn each_folder_is_judged_against_the_system_and_the_session() {
        for (path, read, write) in [
            ("/srv/cache", None, None),
            ("/home/u/.cache", None, None),
            ("/opt/data", None, None),
            ("/var/cache/apt", None, None),
            ("/root/models", None, None),
            ("/", Some("whole host"), Some("whole host")),
            ("/usr", Some("system"), Some("system")),
            ("/usr/share/dict", None, Some("system")),
            ("/etc/acme", None, Some("system")),
            ("/var", Some("system"), Some("system")),
            ("/proc/1", Some("kernel"), Some("kernel")),
            ("/dev/shm", Some("kernel"), Some("kernel")),
            ("/srv/proj/data", Some("work folder"), Some("work folder")),
            ("/srv/proj", Some("work folder"), Some("work folder")),
            ("/srv", None, Some("around the work folder")),
            ("/home/u", None, Some("mur's own")),
            ("/home/u/.murmur/state", None, Some("mur's own")),
        ] {
            for (writable, expected) in [(false, read), (true, write)] {
                let mut policy = policy(ContainmentClass::Advisory);
                policy.host_paths = vec![HostPath { path: path.into(), writable }];
                let refused = check_host_paths(&policy, &placement()).err();
                let reason = refused.as_ref().map(|refused| refused.reason);
                assert_eq!(reason.is_some(), expected.is_some(), "{path} {writable}: {reason:?}");
                assert!(
                    reason.unwrap_or_default().contains(expected.unwrap_or_default()),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn the_same_folder_twice_is_named_by_the_second_entry() {
        let mut policy = policy(ContainmentClass::Advisory);
        let folder = HostPath { path: "/srv/cache".into(), writable: false };
        policy.host_paths = vec![folder.clone(), folder];
        let refused = check_host_paths(&policy, &placement()).expect_err("twice");
        assert_eq!((refused.index, refused.code()), (1, Code::ECap205));
        assert!(refused.to_string().contains("`host_paths[1]`"), "{refused}");
    }
}
