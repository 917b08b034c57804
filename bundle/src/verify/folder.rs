//! What lies in the bundle's folder, against what config.json and the report say.

use oci_spec::runtime::Spec;

use super::{Fault, Findings};
use crate::Contents;
use crate::annotation::SCOPE_DIGEST;
use crate::tree::ROOTFS;
use crate::write::SCOPE;

/// Judges what was read of the folder.
pub(super) fn check(spec: &Spec, contents: &Contents, findings: &mut Findings) {
    let said = spec.annotations().as_ref().and_then(|all| all.get(SCOPE_DIGEST));
    match (said, &contents.report) {
        (Some(said), Some(is)) if said == is => {}
        (None, None) => {}
        (Some(_), Some(_)) => {
            findings
                .add(Fault::Mismatch, format!("`{SCOPE}` is another one than config.json names"));
        }
        (Some(_), None) => findings.add(Fault::Missing, format!("there is no `{SCOPE}`")),
        (None, Some(_)) => {
            findings.add(Fault::Mismatch, format!("config.json does not name `{SCOPE}`"));
        }
    }
    for (source, target) in &contents.missing {
        let (source, target) = (source.display(), target.display());
        findings.add(Fault::Missing, format!("`{source}`, to be seen at `{target}`, is not there"));
    }
    for file in &contents.foreign {
        let what = format!("`{ROOTFS}/{}` is no part of a bundle", file.display());
        findings.add(Fault::Weaker, what);
    }
}
