//! Restricts a child by Landlock and by a syscall filter, each allowing everything.

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
};
use mur_policy::LandlockProbe;
use nix::errno::Errno;

use crate::probe::report::{AtStep as _, Refusal, try_in_child};
use crate::sys::rehearsal::{landlock_query, load_empty_filter};

/// The version query of `landlock_create_ruleset`.
const VERSION: u32 = 1;
/// The errata query.
const ERRATA: u32 = 2;

/// Landlock, and whether a syscall filter loads.
pub(crate) fn probe() -> (LandlockProbe, bool) {
    let answers = try_in_child(|reporter| {
        let private = nix::sys::prctl::set_no_new_privs().at("prctl(NO_NEW_PRIVS)");
        if reporter.say("privileges", private) {
            reporter.say("seccomp", load_empty_filter().at("seccomp"));
            reporter.say("landlock", restrict());
        }
    });
    let landlock = LandlockProbe {
        abi: landlock_query(VERSION).ok().filter(|abi| *abi > 0),
        enforced: answers.attempt("landlock"),
        errata: landlock_query(ERRATA).ok(),
    };
    (landlock, answers.attempt("seccomp").works())
}

/// Enters a domain that allows everything beneath `/`, with every right of the first ABI mediated.
fn restrict() -> Result<(), Refusal> {
    landlock_query(VERSION).at("landlock_create_ruleset")?;
    let every = AccessFs::from_all(ABI::V1);
    let root = PathFd::new("/").map_err(|_| refused("open(/)"))?;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(every)
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.add_rule(PathBeneath::new(root, every)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|_| refused("landlock_restrict_self"))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
            Err(Refusal { step: "landlock_restrict_self", errno: Errno::EOPNOTSUPP })
        }
    }
}

/// The step that just failed; the last error number of this thread is the kernel's answer to it.
fn refused(step: &'static str) -> Refusal {
    Refusal { step, errno: Errno::last() }
}
