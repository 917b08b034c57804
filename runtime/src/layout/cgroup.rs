//! Whether the runtime that is to run a bundle could set its limits.

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::layout::{IdentityChoice, LayoutRequest};

/// Why a bundle should carry no limits; `None` is the rule.
///
/// runc refuses limits that it cannot set, and an ordinary user without a control group of its own cannot set any.
/// Other runtimes run such a bundle and leave the limits out, and `mur` says so itself.
pub(crate) fn no_limits_because(request: &LayoutRequest) -> Option<String> {
    if request.identity != IdentityChoice::ContainerRoot || request.caller.privileged {
        return None;
    }
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own_groups(&text).iter().any(|path| access(path, AccessFlags::W_OK).is_ok());
    (!own).then(|| {
        "this user has no control group of its own, and runc refuses limits it cannot set".into()
    })
}

/// The folders where the caller would make control groups (`cgroups(7)`).
fn own_groups(text: &str) -> Vec<PathBuf> {
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let path = path.trim_start_matches('/');
        match controllers {
            "" => Some(Path::new("/sys/fs/cgroup").join(path)),
            "memory" => Some(Path::new("/sys/fs/cgroup/memory").join(path)),
            _ => None,
        }
    };
    text.lines().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_unified_tree_and_the_memory_controller_count() {
        let text = "4:memory:/a/b\n3:cpuset:/\n1:name=systemd:/x\n0::/user.slice/x\nodd\n";
        let groups = ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/user.slice/x"];
        assert_eq!(own_groups(text), groups.map(PathBuf::from));
        assert!(own_groups("").is_empty());
    }
}
