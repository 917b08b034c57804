//! Whether the runtime that is to run a bundle could set its limits.

use nix::unistd::{AccessFlags, access};

use crate::cgroup::{Controller, Layout};
use crate::layout::{IdentityChoice, LayoutRequest};

/// Why a bundle should carry no limits; `None` is the rule.
///
/// runc refuses limits that it cannot set, and an ordinary user without a control group of its own cannot set any.
/// Other runtimes run such a bundle and leave the limits out, and `mur` says so itself.
pub(crate) fn no_limits_because(request: &LayoutRequest) -> Option<String> {
    if request.identity != IdentityChoice::ContainerRoot || request.caller.privileged {
        return None;
    }
    (!owns_a_group()).then(|| {
        "this user has no control group of its own, and runc refuses limits it cannot set".into()
    })
}

/// Whether the caller may make control groups below its own.
fn owns_a_group() -> bool {
    let Ok(layout) = Layout::read() else { return false };
    let v1 = layout.v1_of(Controller::Memory).map(|group| (&group.mount, &group.own));
    let v2 = layout.v2.as_ref().map(|group| (&group.mount, &group.own));
    let Some((mount, own)) = v1.or(v2) else { return false };
    let folder = mount.join(own.strip_prefix("/").unwrap_or(own));
    access(&folder, AccessFlags::W_OK).is_ok()
}
