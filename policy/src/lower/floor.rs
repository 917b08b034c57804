//! The floor from its three sources, and the operator's host folders: `spec/containment.md` §2, design §6.2.

use mur_manifest::{Code, ContainmentFloor, Location, Spanned};

use super::{Findings, OperatorGrants};
use crate::{ContainmentClass, HostPath};

/// The floor, by where it counts.
pub(super) struct Floor {
    /// The maximum of all sources.
    pub(super) effective: ContainmentClass,
    /// What the manifest declares by itself.
    pub(super) manifest: ContainmentClass,
    /// Both sides ask for no containment at all.
    pub(super) unconfined: bool,
}

/// The maximum of manifest, config and flag. `unconfined` takes no part in it: it holds only when manifest and flag say
/// it together and no config asks for a class.
pub(super) fn lower(
    declared: Option<&Spanned<ContainmentFloor>>,
    operator: &OperatorGrants,
    findings: &mut Findings<'_>,
) -> Floor {
    let manifest = declared.map(|declared| ContainmentClass::from(declared.value));
    let at = declared.map_or_else(
        || findings.locate("capabilities.containment"),
        |declared| declared.at.clone(),
    );
    let asks = |class: Option<ContainmentClass>| class == Some(ContainmentClass::Unconfined);
    let unconfined = asks(manifest) && asks(operator.flag);
    match (asks(manifest), asks(operator.flag), operator.config_floor) {
        (true, true, Some(config)) => {
            let message = format!(
                "`unconfined` cannot meet the class `{config}` that the workspace config asks for"
            );
            findings.refuse(Code::ECap202, at, message, "");
        }
        (true, false, _) => {
            let message = "`unconfined` holds only together with `--containment unconfined`";
            let accepted = "one of `advisory`, `scoped` and `sealed`, or give the flag as well";
            findings.refuse(Code::ECap202, at, message.to_owned(), accepted);
        }
        (false, true, _) => {
            let message =
                "`--containment unconfined` holds only together with the manifest's own word";
            let accepted = "`capabilities.containment: unconfined`, or leave the flag away";
            findings.refuse(Code::ECap202, at, message.to_owned(), accepted);
        }
        (true, true, None) | (false, false, _) => {}
    }
    let sources = [manifest, operator.flag, operator.config_floor];
    let strongest = sources
        .into_iter()
        .flatten()
        .filter(|class| *class != ContainmentClass::Unconfined)
        .max()
        .unwrap_or(ContainmentClass::Advisory);
    Floor {
        effective: if unconfined { ContainmentClass::Unconfined } else { strongest },
        manifest: manifest.unwrap_or(ContainmentClass::Advisory),
        unconfined,
    }
}

/// The operator's folders, each checked for its shape; what lies on the host is checked by who opens it.
pub(super) fn host_paths(granted: &[HostPath], findings: &mut Findings<'_>) -> Vec<HostPath> {
    for (index, own) in granted.iter().enumerate() {
        let path = own.path.display();
        let reason = if !own.path.is_absolute() {
            format!("`{path}` is relative")
        } else if own.path.parent().is_none() {
            "`/` is the whole host".to_owned()
        } else if granted[..index].iter().any(|other| other.path == own.path) {
            format!("`{path}` is granted twice")
        } else {
            continue;
        };
        let at = Location::of_path(format!("host_paths[{index}] of the workspace config"));
        findings.refuse(Code::ECap205, at, reason, "each folder once, absolute or as `~/…`");
    }
    granted.to_vec()
}
