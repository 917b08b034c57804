//! Decides whether a sysctl belongs to a namespace of the container.

use super::namespace::{NamespaceKind, Namespaces};
use crate::error::ExecPlanError;

/// Sysctls of the ipc namespace, below `kernel.`.
const IPC: [&str; 8] = [
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
];

/// Returns the path below `/proc/sys`.
pub(crate) fn path(key: &str, namespaces: &Namespaces) -> Result<String, ExecPlanError> {
    let dotted = dotted(key);
    let refuse =
        |reason| Err(ExecPlanError::Conflict { key: format!("linux.sysctl[{key}]"), reason });
    let kind = if IPC.contains(&dotted.as_str()) || dotted.starts_with("fs.mqueue.") {
        NamespaceKind::Ipc
    } else if dotted.starts_with("net.") {
        NamespaceKind::Network
    } else if dotted == "kernel.domainname" {
        NamespaceKind::Uts
    } else if dotted == "kernel.hostname" {
        return refuse("is what `hostname` sets");
    } else {
        return refuse("is not in a separate kernel namespace");
    };
    if !namespaces.separates(kind) {
        return refuse("is not in a separate kernel namespace: it would change the host");
    }
    let path = slashed(key);
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return refuse("is not a sysctl name");
    }
    Ok(path)
}

/// Interface names hold dots: `net/ipv4/conf/eth0.100/forwarding` is as good as the dotted form,
/// where such dots stand as slashes. The first separator tells which form it is (sysctl.d(5)).
fn is_dotted(key: &str) -> bool {
    key.find(['.', '/']).is_none_or(|at| key.as_bytes()[at] == b'.')
}

fn exchange(key: &str) -> String {
    let swap = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    key.chars().map(swap).collect()
}

fn slashed(key: &str) -> String {
    if is_dotted(key) { exchange(key) } else { key.to_owned() }
}

fn dotted(key: &str) -> String {
    if is_dotted(key) { key.to_owned() } else { exchange(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_namespace_of_the_container_holds_may_be_set() {
        let own = Namespaces {
            new: vec![NamespaceKind::Ipc, NamespaceKind::Network],
            ..Namespaces::default()
        };
        for (key, path_below) in [
            ("net.ipv4.ip_forward", Some("net/ipv4/ip_forward")),
            ("net/ipv4/conf/eth0.100/forwarding", Some("net/ipv4/conf/eth0.100/forwarding")),
            ("net.ipv4.conf.eth0/100.forwarding", Some("net/ipv4/conf/eth0.100/forwarding")),
            ("kernel.shmmax", Some("kernel/shmmax")),
            ("fs.mqueue.msg_max", Some("fs/mqueue/msg_max")),
            ("kernel.domainname", None),
            ("kernel.hostname", None),
            ("kernel.core_pattern", None),
            ("vm.swappiness", None),
            ("net/../kernel/core_pattern", None),
            ("net..ipv4", None),
        ] {
            assert_eq!(path(key, &own).ok().as_deref(), path_below, "{key}");
        }
        assert!(path("net.core.somaxconn", &Namespaces::default()).is_err());
    }
}
