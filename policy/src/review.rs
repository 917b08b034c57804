//! Everything there is to say of a file without a host: what would refuse a launch, and what is worth a warning.

use mur_manifest::operator::OperatorWarning;
use mur_manifest::{
    Code, Coded, ContainmentFloor, Fault, Location, Lock, Manifest, ManifestErrors, OperatorConfig,
    OperatorFiles, Severity, Warning,
};

use crate::lower::{OperatorGrants, lower_all};
use crate::{ContainmentClass, Notice};

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// `murmur.yaml`.
    Manifest,
    /// `config.yaml` of an operator.
    Config,
    /// `murmur.lock`.
    Lock,
}

/// One thing to say of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its code; a plain remark has none.
    pub code: Option<Code>,
    /// Whether a launch would be refused.
    pub severity: Severity,
    /// Where it stands; line 0 is nowhere in the file.
    pub at: Location,
    /// What was found, without its place.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// What there is to say of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// In file order; of one place, what refuses comes first.
    pub findings: Vec<Finding>,
    /// Faults beyond the thousand that are listed.
    pub omitted: usize,
}

impl Review {
    /// How many findings refuse a launch, those that are not listed included.
    pub fn errors(&self) -> usize {
        self.count(Severity::Error) + self.omitted
    }

    /// How many findings only qualify.
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Reads a file and judges it as far as that can be done without a host.
///
/// The operator's half of `unconfined` is taken as given: it is said at a launch. What lowering judges is judged where the
/// file reads as a whole.
pub fn review(language: Language, bytes: &[u8]) -> Review {
    let mut review = match language {
        Language::Manifest => review_manifest(bytes),
        Language::Config => review_config(bytes),
        Language::Lock => match Lock::parse(bytes) {
            Ok(lock) => of_warnings(lock.source.warnings()),
            Err(errors) => of_errors(&errors),
        },
    };
    review.findings.sort_by_key(|finding| {
        let nowhere = finding.at.line == 0;
        let warns = finding.severity == Severity::Warning;
        (nowhere, finding.at.line, finding.at.column, warns)
    });
    review
}

fn review_manifest(bytes: &[u8]) -> Review {
    let manifest = match mur_manifest::parse(bytes) {
        Ok(manifest) => manifest,
        Err(errors) => return of_errors(&errors),
    };
    let operator = OperatorGrants {
        flag: asks_for_nothing(&manifest).then_some(ContainmentClass::Unconfined),
        ..OperatorGrants::default()
    };
    let (lowered, faults) = lower_all(&manifest, &operator);
    let mut review = of_warnings(manifest.warnings());
    review.findings.extend(faults.iter().map(of_fault));
    review.findings.extend(lowered.notices.into_iter().map(of_notice));
    if asks_for_nothing(&manifest) {
        review.findings.push(unconfined(&manifest));
    }
    review
}

/// Whether the manifest says its half of `unconfined`.
fn asks_for_nothing(manifest: &Manifest) -> bool {
    let grants = manifest.capabilities.as_ref();
    let floor = grants.and_then(|grants| grants.containment.as_ref());
    floor.is_some_and(|floor| floor.value == ContainmentFloor::Unconfined)
}

fn unconfined(manifest: &Manifest) -> Finding {
    let text = "with `--containment unconfined` nothing holds the capsule's programs".to_owned();
    let at = manifest.source.locate("capabilities.containment");
    of_notice(Notice::of_place(Code::WSec202, &at, text))
}

fn review_config(bytes: &[u8]) -> Review {
    let files = OperatorFiles { global: Some(bytes), ..OperatorFiles::default() };
    match OperatorConfig::parse(files) {
        Ok(config) => {
            let findings = config.warnings.iter().map(|warning| match warning {
                OperatorWarning::InFile { warning, .. } => of_warning(warning),
                OperatorWarning::NotForProjects { at } => remark(at.clone(), warning.to_string()),
            });
            Review { findings: findings.collect(), omitted: 0 }
        }
        Err(errors) => {
            let findings = errors.faults().iter().map(|own| of_fault(&own.fault));
            Review { findings: findings.collect(), omitted: 0 }
        }
    }
}

fn of_errors(errors: &ManifestErrors) -> Review {
    let mut review = of_warnings(errors.warnings());
    review.findings.extend(errors.faults().iter().map(of_fault));
    review.omitted = errors.omitted();
    review
}

fn of_warnings(warnings: &[Warning]) -> Review {
    Review { findings: warnings.iter().map(of_warning).collect(), omitted: 0 }
}

fn of_fault(fault: &Fault) -> Finding {
    Finding {
        code: Some(fault.code),
        severity: Severity::Error,
        at: fault.at.clone(),
        message: fault.message.clone(),
        fix: Some(fault.fix().unwrap_or_else(|| fault.code.info().fix.to_owned())),
    }
}

fn of_warning(warning: &Warning) -> Finding {
    let at = warning.at().cloned().unwrap_or_default();
    Finding { code: warning.code(), ..remark(at, warning.text()) }
}

fn of_notice(notice: Notice) -> Finding {
    let at = notice.at.unwrap_or_else(|| Location::of_path(notice.reference));
    let fix = Some(notice.code.info().fix.to_owned());
    Finding { code: Some(notice.code), fix, ..remark(at, notice.text) }
}

/// A finding without a code, which only qualifies.
fn remark(at: Location, message: String) -> Finding {
    Finding { code: None, severity: Severity::Warning, at, message, fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, line and column of each finding.
    fn found(language: Language, text: &str) -> Vec<(&'static str, u32, u32)> {
        let review = review(language, text.as_bytes());
        let code = |own: &Finding| own.code.map_or("", Code::as_str);
        review.findings.iter().map(|own| (code(own), own.at.line, own.at.column)).collect()
    }

    #[test]
    fn faults_and_warnings_of_a_manifest_come_together_in_file_order() {
        let yaml = "name: a\nversion: '1'\nnetwrk: {}\ncapabilities:\n  filesystem:\n    workdir_exec: true\n    scope: ../x\n    read_only: [/a]\n  env: {allow: [DEPLOY_KEY, GH_TOKEN]}\n";
        assert_eq!(
            found(Language::Manifest, yaml),
            [
                ("W-SEC-019", 3, 1),
                ("W-SEC-011", 6, 5),
                ("E-CAP-002", 7, 12),
                ("E-CAP-012", 8, 17),
                ("W-SEC-024", 9, 17),
                ("E-CAP-016", 9, 29),
            ]
        );
        let review = review(Language::Manifest, yaml.as_bytes());
        assert_eq!((review.errors(), review.warnings()), (3, 3));
    }

    #[test]
    fn warnings_of_a_file_that_does_not_read_are_said_as_well() {
        let yaml = "nmae: a\nversion: '1'\n";
        assert_eq!(found(Language::Manifest, yaml), [("E-MAN-001", 1, 1), ("W-SEC-019", 1, 1)]);
    }

    #[test]
    fn a_manifest_that_asks_for_no_containment_is_a_warning() {
        let yaml = "name: a\nversion: '1'\ncapabilities: {containment: unconfined}\n";
        assert_eq!(found(Language::Manifest, yaml), [("W-SEC-202", 3, 16)]);
    }

    #[test]
    fn a_remark_without_a_code_keeps_its_place() {
        let yaml = "name: a\nversion: '1'\nartifacts:\n  - {name: t, version: '3', source: ./t, local_source: true}\n";
        let review = review(Language::Manifest, yaml.as_bytes());
        assert_eq!(review.findings.len(), 1);
        assert_eq!(
            review.findings[0].message,
            "the version `3` is ignored beside `source`, which makes it `local`"
        );
        assert_eq!(review.findings[0].at.path, "artifacts[0].version");
    }

    #[test]
    fn faults_beyond_those_that_are_listed_count() {
        let yaml = format!(
            "name: a\nversion: '1'\ncapabilities: {{shell: {{allow: [{}]}}}}",
            "a/b, ".repeat(1500)
        );
        let review = review(Language::Manifest, yaml.as_bytes());
        assert_eq!((review.findings.len(), review.omitted, review.errors()), (1000, 500, 1500));
    }

    #[test]
    fn the_operators_file_and_the_lock_file_are_judged_by_their_own_rules() {
        let config = "containment: strict\nhost_paths: [{path: srv, access: read}]\nx: 1\n";
        let codes: Vec<_> = found(Language::Config, config).into_iter().map(|own| own.0).collect();
        assert_eq!(codes, ["E-IO-003", "E-CAP-205"]);
        assert_eq!(found(Language::Config, "x: 1\n"), [("W-SEC-019", 1, 1)]);
        assert_eq!(found(Language::Config, ""), []);
        assert_eq!(found(Language::Lock, "lock_version: 2\nartifacts: []\n")[0].0, "E-RUN-212");
        assert_eq!(found(Language::Lock, "lock_version: 3\nartifacts: []\n"), []);
    }

    #[test]
    fn each_error_says_what_to_do() {
        let yaml = "name: a\nversion: '1'\ncapabilities: {task_io: {read: true}, network: {allow: [a.test]}}\n";
        for finding in review(Language::Manifest, yaml.as_bytes()).findings {
            assert!(finding.fix.is_some(), "{finding:?}");
        }
    }
}
