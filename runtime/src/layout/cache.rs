//! Keeps what was gathered of the host, so that the next launch of the same capsule only looks whether it is the same.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use mur_policy::CapabilityPolicy;
use serde::{Deserialize, Serialize};

use crate::layout::evidence::{Evidence, Stamps, bytes_of, stamp_of};
use crate::layout::gather::{Gathered, Surroundings};

/// The form of what is kept; another one is not read.
const FORM: u32 = 1;
/// How many readings are kept; beyond, the one that was used longest ago goes.
const MOST_KEPT: usize = 64;

/// Where readings are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// The folder, nobody's but the caller's; made when it is missing and something is to be kept.
    pub folder: PathBuf,
    /// Whether a new reading is kept. One that was kept is used in any case.
    pub keeping: Keeping,
}

/// Whether a new reading is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It is: a launch.
    Keep,
    /// It is not: a dry run, which leaves nothing behind.
    UseOnly,
}

/// One reading that is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    form: u32,
    /// The folder that version managers chose by, where they did.
    chosen_in: Option<PathBuf>,
    stamps: Stamps,
    gathered: Gathered,
}

/// Gathers, or takes what an earlier reading gathered while nothing it depends on has changed.
pub(crate) fn gather(
    policy: &CapabilityPolicy,
    surroundings: &Surroundings<'_>,
    cache: Option<&Cache>,
) -> Gathered {
    let cache = cache.filter(|cache| !surroundings.may_write(&cache.folder));
    let file = cache.and_then(|cache| Some(cache.folder.join(key(policy, surroundings)?)));
    if let Some(gathered) = file.as_deref().and_then(|file| read(file, surroundings)) {
        return gathered;
    }
    let mut evidence = Evidence::default();
    let gathered = Gathered::read(policy, surroundings, &mut evidence);
    if let (Some(cache), Some(file)) = (cache.filter(|cache| cache.keeping == Keeping::Keep), file)
        && !evidence.is_private
    {
        let kept = Kept {
            form: FORM,
            chosen_in: evidence.chosen_in.clone(),
            stamps: evidence.stamps(),
            gathered,
        };
        if write(cache, &file, &kept).is_err() {
            tracing::debug!(path = %file.display(), "a reading of the host could not be kept");
        }
        return kept.gathered;
    }
    gathered
}

/// The name of a reading: everything it depends on that is no file of the host.
fn key(policy: &CapabilityPolicy, surroundings: &Surroundings<'_>) -> Option<String> {
    let host_paths: Vec<&PathBuf> = policy.host_paths.iter().map(|grant| &grant.path).collect();
    // Another build may read more, or less.
    let build = stamp_of(Path::new("/proc/self/exe"));
    let parts = (FORM, build, &policy.shell, host_paths, policy.network.allow.is_empty());
    let mut bytes = serde_json::to_vec(&parts).ok()?;
    bytes.extend_from_slice(bytes_of(Path::new(surroundings.search_path)));
    let digest = mur_bundle::digest(&bytes);
    Some(format!("{}.json", digest.split(':').next_back()?.get(..32)?))
}

fn read(file: &Path, surroundings: &Surroundings<'_>) -> Option<Gathered> {
    let folder = file.parent()?.symlink_metadata().ok()?;
    let own = nix::unistd::geteuid().as_raw();
    // Whoever could write it could name any file of the host.
    if !folder.is_dir() || folder.uid() != own || folder.mode() & 0o022 != 0 {
        return None;
    }
    let kept: Kept = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let here = kept.chosen_in.is_none_or(|folder| folder == surroundings.chosen_in);
    let open = kept.gathered.read_paths().any(|path| surroundings.may_write(path));
    (kept.form == FORM && here && !open && kept.stamps.hold()).then_some(kept.gathered)
}

/// Written beside and moved over: another launch reads the old one or the new one, never half of one.
fn write(cache: &Cache, file: &Path, kept: &Kept) -> std::io::Result<()> {
    match DirBuilder::new().mode(0o700).create(&cache.folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    make_room(&cache.folder);
    let text = serde_json::to_vec(kept)?;
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
    let written = options.and_then(|mut new| new.write_all(&text));
    let moved = written.and_then(|()| fs::rename(&beside, file));
    if moved.is_err() {
        // It is nobody's; the first error is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    moved
}

/// Removes the readings that were kept longest ago.
fn make_room(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut kept: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    kept.sort();
    let surplus = (kept.len() + 1).saturating_sub(MOST_KEPT);
    for (_, path) in kept.into_iter().take(surplus) {
        // Another launch may have removed it.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A capsule that may run `tool`, which is searched for in `dir/bin`.
    struct Stage {
        dir: tempfile::TempDir,
        policy: CapabilityPolicy,
        search: std::ffi::OsString,
    }

    impl Stage {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let bin = dir.path().join("bin");
            fs::create_dir(&bin).unwrap();
            let stage = Self {
                policy: crate::layout::fixture::policy(&["tool"]),
                search: bin.into_os_string(),
                dir,
            };
            stage.program("#!/bin/sh\n");
            stage
        }

        fn program(&self, text: &str) {
            let path = self.dir.path().join("bin/tool");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn cache(&self, keeping: Keeping) -> Cache {
            Cache { folder: self.dir.path().join("cache"), keeping }
        }

        fn gather(&self, cache: Option<&Cache>, writable: &[PathBuf]) -> Gathered {
            let surroundings = Surroundings::of(&self.search, self.dir.path(), writable);
            gather(&self.policy, &surroundings, cache)
        }

        fn kept(&self) -> Vec<PathBuf> {
            let Ok(entries) = fs::read_dir(self.dir.path().join("cache")) else {
                return Vec::new();
            };
            entries.map(|entry| entry.unwrap().path()).collect()
        }

        /// Marks what is kept, so that a use of it shows.
        fn mark(&self) {
            let path = self.kept().pop().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replace("\"name\":\"tool\"", "\"name\":\"kept\"")).unwrap();
        }
    }

    #[test]
    fn a_reading_is_kept_by_a_launch_and_by_nothing_else() {
        let stage = Stage::new();
        stage.gather(None, &[]);
        stage.gather(Some(&stage.cache(Keeping::UseOnly)), &[]);
        assert!(!stage.dir.path().join("cache").exists());
        stage.gather(Some(&stage.cache(Keeping::Keep)), &[]);
        assert_eq!(stage.kept().len(), 1);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&stage.dir.path().join("cache")), 0o700);
        assert_eq!(mode(&stage.kept()[0]), 0o600);
    }

    #[test]
    fn a_kept_reading_is_used_until_something_it_depends_on_changes() {
        let stage = Stage::new();
        let cache = stage.cache(Keeping::Keep);
        stage.gather(Some(&cache), &[]);
        stage.mark();
        let used = |stage: &Stage| stage.gather(Some(&cache), &[]).programs[0].name == "kept";
        assert!(used(&stage));
        stage.program("#!/bin/sh -e\n");
        assert!(!used(&stage), "the program is another one");
        assert!(!used(&stage), "and that was kept in its place");
    }

    #[test]
    fn what_others_could_have_written_is_not_used() {
        let stage = Stage::new();
        let cache = stage.cache(Keeping::Keep);
        stage.gather(Some(&cache), &[]);
        stage.mark();
        let folder = stage.dir.path().join("cache");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(stage.gather(Some(&cache), &[]).programs[0].name, "tool");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        stage.mark();
        // Nor is a folder that the capsule itself may write.
        let writable = [stage.dir.path().to_path_buf()];
        assert_eq!(stage.gather(Some(&cache), &writable).programs[0].name, "tool");
    }

    #[test]
    fn readings_do_not_pile_up() {
        let stage = Stage::new();
        let folder = stage.dir.path().join("cache");
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        for number in 0..MOST_KEPT + 9 {
            fs::write(folder.join(format!("{number}.json")), "").unwrap();
        }
        stage.gather(Some(&stage.cache(Keeping::Keep)), &[]);
        assert_eq!(stage.kept().len(), MOST_KEPT);
    }
}
