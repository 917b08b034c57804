//! Whether a path may be used: grants add up along the way to it, and mounts take away.

use std::path::{Path, PathBuf};

use super::{Answer, Line, PathAccess, PathGrant, Verdict};
use crate::errno::EACCES;
use crate::landlock::{FsAccess, LandlockBase, RightSet};
use crate::report::Outcomes;
use crate::{CapabilityPolicy, ContainmentDecision, Tier, confinement};

/// `EROFS`: what writing through a read-only mount gives.
const EROFS: u32 = 30;

/// Everything that decides about a path.
pub(super) struct Files<'a> {
    pub(super) policy: &'a CapabilityPolicy,
    pub(super) decision: &'a ContainmentDecision,
    pub(super) outcomes: &'a Outcomes,
    pub(super) grants: &'a [PathGrant],
}

impl Files<'_> {
    /// The answer of a tier that holds no files at all.
    pub(super) fn unheld(&self, access: PathAccess) -> Option<Answer> {
        let text = match self.decision.applied {
            Tier::Full | Tier::Sealed => return None,
            Tier::SeccompOnly => "this host has no Landlock: nothing holds which files are used",
            Tier::EnvironmentOnly => "nothing in the kernel holds a command on this host",
            Tier::Unconfined => "the session is unconfined",
        };
        let text = format!("{text}, to {} them included", access.as_str());
        Some(Answer { verdict: Verdict::Allowed, because: Line::of_fact(text), change: None })
    }

    /// Whether `path` may be used that way.
    pub(super) fn answer(&self, path: &Path, access: PathAccess) -> Answer {
        if let Some(answer) = self.mounted_away(path, access).or_else(|| self.unheld(access)) {
            return answer;
        }
        let above: Vec<&PathGrant> =
            self.grants.iter().filter(|grant| path.starts_with(&grant.path)).collect();
        let base = self.base();
        let deciding =
            above.iter().find(|grant| base.rights(grant.rights).contains(&right(access)));
        if let Some(grant) = deciding {
            let change = self.narrowing(grant);
            return Answer { verdict: Verdict::Allowed, because: grant.because.clone(), change };
        }
        let nearest = above.iter().max_by_key(|grant| grant.path.components().count());
        match nearest {
            Some(grant) => self.granted_for_less(grant, path, access),
            None => self.not_granted(path, access),
        }
    }

    /// The domain that is installed; the newest one where the decision hides its number.
    fn base(&self) -> LandlockBase {
        confinement(self.policy, self.decision)
            .and_then(|installed| installed.landlock)
            .unwrap_or_else(|| {
                LandlockBase::new(
                    1,
                    self.policy.files.workdir_exec,
                    self.policy.network.unix_sockets,
                )
            })
    }

    /// What a mount refuses, on every tier that has a mount namespace.
    fn mounted_away(&self, path: &Path, access: PathAccess) -> Option<Answer> {
        if !self.decision.mount_namespace {
            return None;
        }
        match access {
            PathAccess::Write => self.read_only(path),
            PathAccess::Execute => self.noexec(path),
            PathAccess::Read | PathAccess::List => None,
        }
    }

    /// A writable folder, which nothing is executed from unless `workdir_exec` says so for the work folder.
    fn noexec(&self, path: &Path) -> Option<Answer> {
        let executable =
            |rights: RightSet| rights == RightSet::Work && self.policy.files.workdir_exec;
        let writable = |grant: &&PathGrant| {
            matches!(grant.rights, RightSet::Work | RightSet::Writable)
                && path.starts_with(&grant.path)
        };
        let held = |grant: &&PathGrant| {
            self.base().rights(grant.rights).contains(&FsAccess::Execute)
                && path.starts_with(&grant.path)
        };
        let grant = self.grants.iter().find(writable)?;
        if executable(grant.rights) || self.grants.iter().any(|grant| held(&grant)) {
            return None;
        }
        Some(self.granted_for_less(grant, path, PathAccess::Execute))
    }

    /// A `read_only` subtree that a mount holds.
    fn read_only(&self, path: &Path) -> Option<Answer> {
        let below = path.strip_prefix(&self.outcomes.placement.workdir).ok()?;
        let subtree =
            self.policy.files.read_only_paths.iter().find(|own| below.starts_with(own))?;
        let gap = self.outcomes.read_only_gaps.iter().any(|gap| subtree == Path::new(&gap.path));
        if gap {
            return None;
        }
        let subtree = subtree.display();
        Some(Answer {
            verdict: Verdict::Refused { errno: EROFS },
            because: Line::of_key(
                "capabilities.filesystem.read_only",
                format!("`{subtree}` is mounted read-only"),
            ),
            change: Some(format!("take `{subtree}` off `capabilities.filesystem.read_only`")),
        })
    }

    /// The line that would take a grant away, where there is one.
    fn narrowing(&self, grant: &PathGrant) -> Option<String> {
        let work = &self.outcomes.placement.workdir;
        match &grant.because.key {
            Some(key) => Some(format!("change `{key}`")),
            None if grant.path == *work => {
                Some("name a subtree in `capabilities.filesystem.scope` or `.read_only`".to_owned())
            }
            None => None,
        }
    }

    /// Something of it is granted, but not this.
    fn granted_for_less(&self, grant: &PathGrant, path: &Path, access: PathAccess) -> Answer {
        let verdict = Verdict::Refused { errno: EACCES };
        let text = format!("{}, not to {} it", grant.because.text, access.as_str());
        let because = Line { key: grant.because.key.clone(), text };
        Answer { verdict, because, change: self.widening(path, access) }
    }

    /// Nothing of it is granted: absent from a composed root, denied on the host's own tree.
    fn not_granted(&self, path: &Path, access: PathAccess) -> Answer {
        let leads_to = self.grants.iter().find(|grant| grant.path.starts_with(path));
        let hidden = self.outside_scope(path);
        let (verdict, text) = match (self.decision.applied, leads_to) {
            (Tier::Sealed, None) => {
                (Verdict::Absent, "a composed root does not have it".to_owned())
            }
            (Tier::Sealed, Some(grant)) => (
                Verdict::Refused { errno: EACCES },
                format!("it is only the way to `{}`", grant.path.display()),
            ),
            (Tier::Full | Tier::SeccompOnly | Tier::EnvironmentOnly | Tier::Unconfined, _) => {
                (Verdict::Refused { errno: EACCES }, "no grant covers it".to_owned())
            }
        };
        let because = if hidden {
            Line::of_key("capabilities.filesystem.scope", "it lies outside the scope")
        } else {
            Line::of_fact(text)
        };
        let change = if hidden {
            Some("widen `capabilities.filesystem.scope`".to_owned())
        } else {
            self.widening(path, access)
        };
        Answer { verdict, because, change }
    }

    /// In the work folder, but not in the part of it that commands see.
    fn outside_scope(&self, path: &Path) -> bool {
        self.policy.files.scope_path.is_some() && path.starts_with(&self.outcomes.placement.workdir)
    }

    /// The line that would grant it.
    fn widening(&self, path: &Path, access: PathAccess) -> Option<String> {
        let in_work = path.starts_with(&self.outcomes.placement.workdir);
        Some(match access {
            PathAccess::Execute if in_work => {
                "set `capabilities.filesystem.workdir_exec: true`, which caps the class at `advisory`"
                    .to_owned()
            }
            PathAccess::Execute => {
                let name = path.file_name()?.to_string_lossy().into_owned();
                format!("add `{name}` to `capabilities.shell.allow`, where it is what `PATH` finds")
            }
            PathAccess::Read | PathAccess::List => {
                format!("grant `{}` with access `read` in `host_paths` of the global config", folder(path).display())
            }
            PathAccess::Write => format!(
                "grant `{}` with access `read-write` in `host_paths` of the global config",
                folder(path).display()
            ),
        })
    }
}

/// The folder that a grant for a path would name.
fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|parent| parent.parent().is_some()).unwrap_or(path).into()
}

/// The right that a use needs.
const fn right(access: PathAccess) -> FsAccess {
    match access {
        PathAccess::Read => FsAccess::ReadFile,
        PathAccess::List => FsAccess::ReadDir,
        PathAccess::Write => FsAccess::WriteFile,
        PathAccess::Execute => FsAccess::Execute,
    }
}
