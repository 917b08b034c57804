//! The folders of one session, made at staging (`spec/trace.md` §3 and §4) and undone by ownership.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, openat};
use nix::sys::stat::Mode;

use super::dir::{DirError, HeldDir, entries};
use super::home::{Home, SessionPaths};
use super::id::SessionId;

/// A lock this old whose holder is gone marks a session that nobody will end.
const SWEEP_AGE: Duration = Duration::from_secs(60);

/// Where the work folder comes from (`spec/trace.md` §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkdirChoice {
    /// `--workdir`: the operator's own, canonical; never removed by us.
    Given(PathBuf),
    /// A folder of the session's own below this root.
    PerSession(PathBuf),
}

impl WorkdirChoice {
    /// The root that groups the records.
    pub fn root(&self) -> &Path {
        match self {
            Self::Given(path) | Self::PerSession(path) => path,
        }
    }

    /// The work folder of session `id`.
    pub fn path(&self, id: &str) -> PathBuf {
        match self {
            Self::Given(path) => path.clone(),
            Self::PerSession(root) => root.join(id),
        }
    }
}

/// The folders of a running session.
#[derive(Debug)]
pub struct SessionFolders {
    /// Where they are.
    pub paths: SessionPaths,
    /// The work folder, held.
    pub workdir: HeldDir,
    /// The records folder, held.
    pub records: HeldDir,
    /// The folder behind `/tmp`, held.
    pub tmp: HeldDir,
    /// The capsule's home, held.
    pub home: HeldDir,
    sessions: HeldDir,
    id: SessionId,
    _lock: Flock<OwnedFd>,
}

/// Takes back, when it is dropped, everything that was made for a session; [`Undo::keep`] lets it stay.
#[derive(Debug, Default)]
#[must_use = "dropping it removes the session's folders"]
pub struct Undo {
    made: Vec<PathBuf>,
    trees: Vec<(PathBuf, SessionId)>,
}

impl Undo {
    /// From here on the records and the work folder stay: the session has begun.
    pub fn keep(mut self) {
        self.made.clear();
        self.trees.clear();
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        for (parent, id) in self.trees.drain(..) {
            if let Ok(parent) = HeldDir::open(&parent) {
                drop(parent.remove_tree(OsStr::new(id.as_str())));
            }
        }
        for path in self.made.drain(..).rev() {
            // Only what is empty goes: somebody else's session may have come to live there.
            drop(std::fs::remove_dir(path));
        }
    }
}

impl SessionFolders {
    /// Makes them all, sweeping what dead sessions left first.
    pub fn create(
        home: &Home,
        id: &SessionId,
        choice: &WorkdirChoice,
    ) -> Result<(Self, Undo), DirError> {
        let mut undo = Undo::default();
        let user = HeldDir::open(home.user())?;
        let root = user.descend(Path::new(".murmur"), &mut undo.made)?;
        root.close_to_others()?;
        let records_root = root.reopen()?.descend(Path::new("records"), &mut undo.made)?;
        let sessions = root.descend(Path::new("sessions"), &mut undo.made)?;
        sweep(&sessions);

        let paths = home.session(id.as_str(), choice.root());
        let group_path = home.records_group(choice.root());
        let below = group_path.strip_prefix(records_root.path()).unwrap_or(&group_path);
        let group = records_root.descend(below, &mut undo.made)?;
        undo.trees.push((group.path().to_path_buf(), id.clone()));
        let records = group.create(OsStr::new(id.as_str()))?;
        let tmp = records.create(OsStr::new("tmp"))?;
        let capsule_home = records.create(OsStr::new("home"))?;
        records.create(OsStr::new("logs"))?;

        undo.trees.push((sessions.path().to_path_buf(), id.clone()));
        let session = sessions.create(OsStr::new(id.as_str()))?;
        let lock = lock(&session)?;
        session.create(OsStr::new("runtime"))?;

        let workdir = match choice {
            WorkdirChoice::Given(path) => HeldDir::open(path)?,
            WorkdirChoice::PerSession(root) => make_workdir(root, id, &mut undo)?,
        };
        let folders = Self {
            paths,
            workdir,
            records,
            tmp,
            home: capsule_home,
            sessions,
            id: id.clone(),
            _lock: lock,
        };
        Ok((folders, undo))
    }

    /// Lets the capsule's user into its folders, where that is not the caller: `tmp/` and `home/` become its own, the
    /// runtime and records folders open to its group alone. Whoever else comes by meets the closed folders above.
    pub fn give_to(&self, uid: u32, gid: u32) -> Result<(), DirError> {
        if uid == nix::unistd::geteuid().as_raw() {
            return Ok(());
        }
        let runtime = self.open_runtime()?;
        for own in [&self.tmp, &self.home] {
            own.give(Some(uid), gid)?;
        }
        for read in [&runtime, &self.records] {
            read.give(None, gid)?;
            read.open_to_group()?;
        }
        Ok(())
    }

    /// The runtime folder, held.
    pub fn open_runtime(&self) -> Result<HeldDir, DirError> {
        HeldDir::open(&self.paths.runtime)
    }

    /// `~/.murmur/sessions/<id>`, where the session's bundle is staged.
    pub fn session_path(&self) -> &Path {
        &self.paths.session
    }

    /// Ends what lives as long as the session. The lock is let go after the folder is gone.
    pub fn end(self) -> Result<(), DirError> {
        self.sessions.remove_tree(OsStr::new(self.id.as_str()))
    }
}

fn make_workdir(root: &Path, id: &SessionId, undo: &mut Undo) -> Result<HeldDir, DirError> {
    let parent = root.parent().unwrap_or_else(|| Path::new("/"));
    let name = root.file_name().unwrap_or_else(|| OsStr::new("workdir"));
    let group = HeldDir::open(parent)?.descend(Path::new(name), &mut undo.made)?;
    undo.trees.push((group.path().to_path_buf(), id.clone()));
    group.create(OsStr::new(id.as_str()))
}

fn lock(session: &HeldDir) -> Result<Flock<OwnedFd>, DirError> {
    let error = |source| DirError { operation: "lock", path: session.path().join(".lock"), source };
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_RDWR | OFlag::O_CLOEXEC;
    let file = openat(session, ".lock", flags, Mode::S_IRUSR | Mode::S_IWUSR).map_err(error)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, source)| error(source))
}

/// Removes siblings that are old and whose lock nobody holds; a held lock is never removed.
fn sweep(sessions: &HeldDir) {
    let Ok(folder) = HeldDir::open(sessions.path()) else { return };
    let Ok(fd) = nix::unistd::dup(&folder) else { return };
    for name in entries(&fd).unwrap_or_default() {
        let name = OsStr::new(std::str::from_utf8(name.as_bytes()).unwrap_or_default());
        if !name.is_empty() && is_dead(&folder, name) {
            drop(folder.remove_tree(name));
        }
    }
}

/// Whether somebody holds the lock of the session in this folder: then it lives.
pub(crate) fn is_held(session: &Path) -> bool {
    let lock = std::fs::File::open(session.join(".lock"));
    lock.is_ok_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err())
}

fn is_dead(sessions: &HeldDir, name: &OsStr) -> bool {
    let Ok(session) = sessions.open_below(name) else { return false };
    let flags = OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(&session, ".lock", flags, Mode::empty()) {
        Ok(file) => {
            is_old(&session.path().join(".lock"))
                && Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok()
        }
        Err(Errno::ENOENT) => is_old(session.path()),
        Err(_) => false,
    }
}

fn is_old(path: &Path) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified
        .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > SWEEP_AGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(scratch: &Path) -> Home {
        Home::locate(Some(scratch.as_os_str())).unwrap()
    }

    #[test]
    fn a_session_that_is_refused_leaves_nothing_behind() {
        let scratch = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let id = SessionId::mint();
        let choice = WorkdirChoice::PerSession(project.path().join("workdir"));
        let (folders, undo) = SessionFolders::create(&home(scratch.path()), &id, &choice).unwrap();
        assert!(folders.paths.records.join("tmp").is_dir());
        drop((folders, undo));
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_ended_session_keeps_its_records_and_work_folder_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let id = SessionId::mint();
        let choice = WorkdirChoice::PerSession(project.path().join("workdir"));
        let (folders, undo) = SessionFolders::create(&home(scratch.path()), &id, &choice).unwrap();
        undo.keep();
        let paths = folders.paths.clone();
        folders.end().unwrap();
        assert!(paths.home.is_dir() && paths.tmp.is_dir());
        assert!(project.path().join("workdir").join(&id).is_dir());
        assert!(!paths.session.exists());
    }

    #[test]
    fn a_dead_session_is_swept_and_a_live_one_is_not() {
        let scratch = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let home = home(scratch.path());
        let choice = WorkdirChoice::Given(project.path().to_path_buf());
        let (live, undo) = SessionFolders::create(&home, &SessionId::mint(), &choice).unwrap();
        let old = SystemTime::now() - Duration::from_secs(120);
        let age = |path: &Path| {
            std::fs::File::open(path).unwrap().set_modified(old).unwrap();
        };
        age(&live.session_path().join(".lock"));
        let dead = home.sessions().join("ses_dead");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join(".lock"), "").unwrap();
        age(&dead.join(".lock"));
        let young = home.sessions().join("ses_young");
        std::fs::create_dir(&young).unwrap();
        let next = SessionFolders::create(&home, &SessionId::mint(), &choice).unwrap();
        assert!(live.session_path().exists());
        assert!(young.exists());
        assert!(!dead.exists());
        drop((live, next, undo));
    }
}
