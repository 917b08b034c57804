//! What holds of the judgement of any bytes at all. The fuzz target tries arbitrary ones, an ordinary test the seeds.

use mur_manifest::Severity;
use mur_policy::{Language, envelope, review as judge};

/// Each finding is shown on one line, in file order; what a launch refuses is refused here; an envelope contains itself.
pub(crate) fn review(bytes: &[u8]) {
    for language in [Language::Manifest, Language::Config, Language::Lock] {
        let found = judge(language, bytes);
        let places =
            found.findings.iter().map(|own| (own.at.line == 0, own.at.line, own.at.column));
        assert!(places.is_sorted());
        for finding in &found.findings {
            assert!(!finding.message.contains(char::is_control), "{finding:?}");
            assert!(finding.severity == Severity::Warning || finding.fix.is_some(), "{finding:?}");
        }
    }
    let Ok(manifest) = mur_manifest::parse(bytes) else { return };
    let refused = judge(Language::Manifest, bytes).errors() > 0;
    match mur_policy::lower(&manifest, &mur_policy::OperatorGrants::default()) {
        Ok(lowered) => {
            assert!(!refused);
            let json = serde_json::to_vec(&lowered.policy).expect("a policy has a JSON form");
            let again: mur_policy::CapabilityPolicy =
                serde_json::from_slice(&json).expect("a policy is read back");
            assert_eq!(again, lowered.policy);
        }
        // The operator's half of `unconfined` is missing here, and taken as given there.
        Err(errors) => {
            let code = mur_manifest::Code::ECap202;
            assert!(refused || errors.faults().iter().all(|fault| fault.code == code));
        }
    }
    if let Ok(envelope) = envelope(&manifest) {
        assert_eq!(envelope.contains(&envelope), Ok(()));
    }
}
