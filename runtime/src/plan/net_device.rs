//! Decides which interfaces of the host a container gets.

use std::collections::HashMap;

use oci_spec::runtime::LinuxNetDevice;
use serde::{Deserialize, Serialize};

use super::namespace::{NamespaceKind, Namespaces};
use crate::error::ExecPlanError;

/// An interface to move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetDevice {
    /// Its name in the runtime's network namespace.
    pub host: String,
    /// Its name in the container; may end in `%d`, which the kernel counts up.
    pub name: String,
}

/// Reads `linux.netDevices`, sorted by name.
pub(crate) fn net_devices(
    entries: Option<&HashMap<String, LinuxNetDevice>>,
    namespaces: &Namespaces,
) -> Result<Vec<NetDevice>, ExecPlanError> {
    let device = |(host, entry): (&String, &LinuxNetDevice)| {
        let given = entry.name().clone().filter(|name| !name.is_empty());
        NetDevice { host: host.clone(), name: given.unwrap_or_else(|| host.clone()) }
    };
    let mut devices: Vec<NetDevice> = entries.into_iter().flatten().map(device).collect();
    devices.sort();
    if !devices.is_empty() && !namespaces.separates(NamespaceKind::Network) {
        let key = "linux.netDevices".to_owned();
        return Err(ExecPlanError::Conflict { key, reason: "needs a network namespace" });
    }
    for name in devices.iter().flat_map(|device| [&device.host, &device.name]) {
        if !is_name(name) {
            return Err(ExecPlanError::Invalid {
                key: "linux.netDevices".to_owned(),
                value: name.clone(),
                reason: "is no name of an interface",
            });
        }
    }
    Ok(devices)
}

/// What the kernel takes (`dev_valid_name`): at most 15 bytes, no slash, colon or space.
fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte != b'/' && byte != b':' && !byte.is_ascii_whitespace() && byte != 0;
    !name.is_empty() && name.len() < 16 && name != "." && name != ".." && name.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_need_a_namespace_and_names_the_kernel_takes() {
        let own = Namespaces { new: vec![NamespaceKind::Network], ..Namespaces::default() };
        for (json, namespaces, moved) in [
            (r#"{"eth1":{"name":"ctr%d"},"eth0":{}}"#, &own, Some("eth0→eth0 eth1→ctr%d")),
            (r#"{"eth0":{"name":""}}"#, &own, Some("eth0→eth0")),
            (r#"{"eth0":{"name":"a/b"}}"#, &own, None),
            (r#"{"sixteen-letters!":{}}"#, &own, None),
            (r#"{"eth0":{}}"#, &Namespaces::default(), None),
            ("{}", &Namespaces::default(), Some("")),
        ] {
            let entries: HashMap<String, LinuxNetDevice> = serde_json::from_str(json).unwrap();
            let devices = net_devices(Some(&entries), namespaces).ok();
            let words = devices.map(|devices| {
                let word = |device: &NetDevice| format!("{}→{}", device.host, device.name);
                devices.iter().map(word).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(words.as_deref(), moved, "{json}");
        }
    }
}
