//! Whether a command may be started: `design.md` §6.15.

use std::path::Path;

use mur_bundle::HostLayout;
use mur_policy::CapabilityPolicy;

use super::error::PrepareError;

/// The program is a name of `shell.allow`, or an absolute path that one of these names resolves to.
pub(crate) fn require_granted(
    program: &str,
    policy: &CapabilityPolicy,
    layout: &HostLayout,
) -> Result<(), PrepareError> {
    let allowed = policy.shell_allow();
    let by_name = allowed.iter().any(|name| name == program);
    let by_path = Path::new(program).is_absolute()
        && layout.programs.iter().any(|granted| is_same(Path::new(program), granted));
    if by_name || by_path {
        return Ok(());
    }
    Err(PrepareError::NotGranted { program: program.to_owned(), allowed: allowed.to_vec() })
}

fn is_same(path: &Path, granted: &mur_bundle::Program) -> bool {
    granted.path.as_deref() == Some(path)
        || granted.executables.first().is_some_and(|canonical| canonical == path)
}
