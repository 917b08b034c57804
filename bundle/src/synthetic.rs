//! The files of `/etc` that are ours: accounts and name resolution.

use crate::{HostLayout, PlanError};

/// `/etc/nsswitch.conf`. No other module is ever opened by libc, so none needs to be executable.
pub(crate) const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files dns\n\
                                   services: files\nprotocols: files\n";

/// `/etc/resolv.conf`: the session's resolver listens here; without a network nothing does.
pub(crate) const RESOLV: &str = "nameserver 127.0.0.1\noptions edns0\n";

/// `/etc/hosts` of a container with this host name.
pub(crate) fn hosts(hostname: &str) -> String {
    format!("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {hostname}\n")
}

/// `/etc/passwd`: root, and the capsule's account where that is not root.
///
/// # Errors
/// The home folder holds a `:` or a line break.
pub(crate) fn passwd(layout: &HostLayout) -> Result<String, PlanError> {
    let path = &layout.folders.home.path;
    let home = path.to_str().filter(|home| !home.contains([':', '\n', '\r']));
    let home = home.ok_or_else(|| PlanError::HomeName { path: path.clone() })?;
    let (uid, gid) = (layout.identity.uid.inside, layout.identity.gid.inside);
    Ok(if uid == 0 {
        format!("root:x:0:{gid}:root:{home}:/bin/sh\n")
    } else {
        format!("root:x:0:0:root:/:/bin/sh\ncapsule:x:{uid}:{gid}:capsule:{home}:/bin/sh\n")
    })
}

/// `/etc/group`, to match.
pub(crate) fn group(layout: &HostLayout) -> String {
    match layout.identity.gid.inside {
        0 => "root:x:0:\n".to_owned(),
        gid => format!("root:x:0:\ncapsule:x:{gid}:\n"),
    }
}

/// A host name made of the capsule's name: letters, digits and inner `-`, at most 63 of them.
pub(crate) fn hostname(capsule: &str) -> String {
    let label: String = capsule
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .take(63)
        .collect();
    match label.trim_matches('-') {
        "" => "capsule".to_owned(),
        label => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_is_a_label_whatever_the_capsule_is_called() {
        for (capsule, name) in [
            ("web-reader", "web-reader"),
            ("local/Web Reader", "local-Web-Reader"),
            ("-x-", "x"),
            ("é/!", "capsule"),
            ("", "capsule"),
        ] {
            assert_eq!(hostname(capsule), name, "{capsule}");
        }
        assert_eq!(hostname(&"a".repeat(200)).len(), 63);
    }
}
