//! `workdir_max_bytes`: the sum over work folder, `tmp/` and `home/`, measured as the session goes.

use std::time::Duration;

use super::dir::{HeldDir, measure};

/// The ceiling of one session. A breach is never taken back.
#[derive(Debug)]
pub(crate) struct Quota<'a> {
    most: u64,
    folders: [&'a HeldDir; 3],
    breach: Option<u64>,
}

impl<'a> Quota<'a> {
    /// How often the folders are measured (`spec/temp-dir.md` §7).
    pub(crate) const PERIOD: Duration = Duration::from_secs(10);

    pub(crate) fn new(most: u64, folders: [&'a HeldDir; 3]) -> Self {
        Self { most, folders, breach: None }
    }

    /// Measures, unless the ceiling was passed before.
    pub(crate) fn is_breached(&mut self) -> bool {
        if self.breach.is_none() {
            let found = measure(&self.folders);
            self.breach = (found > self.most).then_some(found);
        }
        self.breach.is_some()
    }

    /// The bytes that were found when the ceiling was passed.
    pub(crate) fn breach(&self) -> Option<u64> {
        self.breach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_stays_one_when_the_files_are_gone() {
        let scratch = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "home"] {
            std::fs::create_dir(scratch.path().join(name)).unwrap();
        }
        let open = |name| HeldDir::open(&scratch.path().join(name)).unwrap();
        let (work, tmp, home) = (open("work"), open("tmp"), open("home"));
        let mut quota = Quota::new(100, [&work, &tmp, &home]);
        std::fs::write(scratch.path().join("work/a"), vec![0; 60]).unwrap();
        assert!(!quota.is_breached());
        std::fs::write(scratch.path().join("home/b"), vec![0; 60]).unwrap();
        assert!(quota.is_breached());
        std::fs::remove_file(scratch.path().join("home/b")).unwrap();
        assert!(quota.is_breached());
        assert_eq!(quota.breach(), Some(120));
    }
}
