//! Keeps the state folders of containers: one folder each, made exclusively, locked while changed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use oci_spec::runtime::Process;
use serde::{Deserialize, Serialize};

use crate::cgroup::Rights;
use crate::id::ContainerId;
use crate::plan::TenantBase;
use crate::state::{RECORD_FORMAT, Record, StateView, Status};

const STATE: &str = "state.json";
const TENANT: &str = "exec.json";
const LOCK: &str = "lock";
/// Exists from create to start: init reads one byte from it.
const GATE: &str = "start";
/// What init says between the gate and its program.
const REPORT: &str = "report";

/// How long a verb waits for another one that works on the same container.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of all containers.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A container as its state folder tells it.
#[derive(Debug)]
pub struct Container {
    folder: PathBuf,
    record: Record,
}

/// What `exec` needs besides the record; in a file of its own because no other verb reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TenantRecord {
    /// What later processes are held by.
    pub base: TenantBase,
    /// The process of the config, which `exec` without `--process` starts from.
    pub process: Process,
}

/// The state of a container cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such container.
    #[error("container `{id}` does not exist")]
    NotFound {
        /// The name asked for.
        id: ContainerId,
    },
    /// The name is taken.
    #[error("container with id `{id}` already exists")]
    Exists {
        /// The name asked for.
        id: ContainerId,
    },
    /// Another verb works on it and does not finish.
    #[error("container `{id}` is locked by another `mur`")]
    Busy {
        /// The container.
        id: ContainerId,
    },
    /// Its creation was cut short.
    #[error("container `{id}` was never finished")]
    HalfMade {
        /// The container.
        id: ContainerId,
    },
    /// The folder of all containers is nowhere.
    #[error("no folder for the state of containers: `XDG_RUNTIME_DIR` is not set")]
    NoRoot,
    /// A file or folder of the state cannot be made, read or written.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// As `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A state file is not one of ours.
    #[error("cannot understand `{}`", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where it went wrong.
        source: serde_json::Error,
    },
    /// A state file was written by another version.
    #[error("`{}` has format {found}, this `mur` writes {RECORD_FORMAT}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The number in it.
        found: u32,
    },
}

impl Store {
    /// The folder that is used when none is given: `/run/mur`, or below `XDG_RUNTIME_DIR` for
    /// whoever is not the host's root.
    pub fn default_root(rights: Rights) -> Result<PathBuf, StoreError> {
        match rights {
            Rights::Root => Ok("/run/mur".into()),
            Rights::Rootless => {
                let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
                let runtime = runtime.filter(|path| path.is_absolute());
                Ok(runtime.ok_or(StoreError::NoRoot)?.join("mur"))
            }
        }
    }

    /// Uses `root`, an absolute folder that is made when the first container is.
    pub fn open(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Reads a container.
    pub fn load(&self, id: &ContainerId) -> Result<Container, StoreError> {
        let folder = self.root.join(id);
        let path = folder.join(STATE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let id = id.clone();
                return Err(if folder.is_dir() {
                    StoreError::HalfMade { id }
                } else {
                    StoreError::NotFound { id }
                });
            }
            Err(source) => return Err(StoreError::File { action: "read", path, source }),
        };
        let record = parse_record(&bytes, &path)?;
        Ok(Container { folder, record })
    }

    /// Reads every container, in the order of their names. What cannot be read is left out.
    pub fn list(&self) -> Result<Vec<Container>, StoreError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(StoreError::File { action: "read", path: self.root.clone(), source });
            }
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<ContainerId> = names.filter_map(|name| name.parse().ok()).collect();
        ids.sort();
        let loaded = ids.iter().filter_map(|id| match self.load(id) {
            Ok(container) => Some(container),
            Err(error) => {
                tracing::debug!(%id, %error, "not listed");
                None
            }
        });
        Ok(loaded.collect())
    }

    /// Makes the folder of a new container and locks it.
    pub fn reserve(&self, id: &ContainerId) -> Result<StateDir, StoreError> {
        let folder = self.root.join(id);
        let made = match make_folder(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_root()?;
                make_folder(&folder)
            }
            made => made,
        };
        match made {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists { id: id.clone() });
            }
            Err(source) => {
                return Err(StoreError::File { action: "make", path: folder, source });
            }
        }
        // Owned from here on, so that a failure below leaves nothing.
        let mut dir = StateDir { folder, lock: None, kept: false };
        dir.lock = Some(Lock::take(&dir.folder, id, Duration::ZERO)?);
        Ok(dir)
    }

    fn make_root(&self) -> Result<(), StoreError> {
        // The sticky bit keeps cleaners of XDG_RUNTIME_DIR away from it.
        let mode = if self.root.starts_with("/run/user") { 0o1700 } else { 0o700 };
        DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(&self.root)
            .map_err(|source| StoreError::File { action: "make", path: self.root.clone(), source })
    }

    /// Locks a container, waiting for a verb that works on it, and reads it then.
    pub fn load_locked(&self, id: &ContainerId) -> Result<(Container, Lock), StoreError> {
        let folder = self.root.join(id);
        if !folder.is_dir() {
            return Err(StoreError::NotFound { id: id.clone() });
        }
        let lock = Lock::take(&folder, id, PATIENCE)?;
        Ok((self.load(id)?, lock))
    }

    /// Takes over a folder that has no readable record, to remove it.
    pub fn salvage(&self, id: &ContainerId) -> Result<StateDir, StoreError> {
        let folder = self.root.join(id);
        if !folder.is_dir() {
            return Err(StoreError::NotFound { id: id.clone() });
        }
        let lock = Some(Lock::take(&folder, id, PATIENCE)?);
        Ok(StateDir { folder, lock, kept: false })
    }
}

impl Container {
    /// What is remembered of it.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its name.
    pub fn id(&self) -> &ContainerId {
        &self.record.id
    }

    /// Tells its status now.
    pub fn status(&self) -> Status {
        self.record.status(&self.gate())
    }

    /// What `state` prints.
    pub fn view(&self) -> StateView {
        self.record.view(self.status())
    }

    /// Changes the record and writes it.
    pub fn change(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), StoreError> {
        change(&mut self.record);
        replace(&self.folder.join(STATE), &self.record)
    }

    /// Reads what `exec` needs.
    pub fn tenant(&self) -> Result<TenantRecord, StoreError> {
        let path = self.folder.join(TENANT);
        let bytes = fs::read(&path).map_err(|source| StoreError::File {
            action: "read",
            path: path.clone(),
            source,
        })?;
        serde_json::from_slice(&bytes).map_err(|source| StoreError::Parse { path, source })
    }

    /// The file that init waits at.
    pub fn gate(&self) -> PathBuf {
        self.folder.join(GATE)
    }

    /// The file that init says failures to.
    pub fn report(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// Takes the gate away: from now on the container is `running`.
    pub fn remove_gate(&self) {
        let _ = fs::remove_file(self.gate());
        let _ = fs::remove_file(self.report());
    }

    /// Removes its folder.
    pub fn remove(self) -> Result<(), StoreError> {
        remove_folder(&self.folder)
    }
}

/// The folder of a container that is being made; removed on drop unless kept.
#[derive(Debug)]
pub struct StateDir {
    folder: PathBuf,
    lock: Option<Lock>,
    kept: bool,
}

/// The two ends of the gate of a new container, open so that init's ends never block.
#[derive(Debug)]
pub struct GateFiles {
    /// Init waits at this one.
    pub wait: File,
    /// Init writes failures to this one.
    pub report: File,
}

impl StateDir {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes the first record, for a `delete` after a crash.
    pub fn write_first(&self, record: &Record) -> Result<(), StoreError> {
        write_new(&self.folder.join(STATE), record)
    }

    /// Writes what `exec` needs.
    pub fn write_tenant(&self, tenant: &TenantRecord) -> Result<(), StoreError> {
        write_new(&self.folder.join(TENANT), tenant)
    }

    /// Makes the gate.
    pub fn make_gate(&self) -> Result<GateFiles, StoreError> {
        let make = |name: &str| {
            let path = self.folder.join(name);
            let failed = |action, source| StoreError::File { action, path: path.clone(), source };
            mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)
                .map_err(|errno| failed("make", errno.into()))?;
            // Open for both, which never waits for the other end.
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .map_err(|source| failed("open", source))
        };
        Ok(GateFiles { wait: make(GATE)?, report: make(REPORT)? })
    }

    /// Writes the final record and lets the folder stay.
    pub fn keep(mut self, record: Record) -> Result<Container, StoreError> {
        replace(&self.folder.join(STATE), &record)?;
        self.kept = true;
        drop(self.lock.take());
        Ok(Container { folder: self.folder.clone(), record })
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = remove_folder(&self.folder)
        {
            tracing::warn!(%error, "a state folder is left behind");
        }
    }
}

/// A lock on a container, held by this process until it is dropped.
///
/// It is a record lock, because a `flock` would live on in the container's first process, which is
/// forked from its holder.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    fn take(folder: &Path, id: &ContainerId, patience: Duration) -> Result<Self, StoreError> {
        let path = folder.join(LOCK);
        let failed = |action, source| StoreError::File { action, path: path.clone(), source };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| {
                if source.kind() == io::ErrorKind::NotFound {
                    StoreError::NotFound { id: id.clone() }
                } else {
                    failed("open", source)
                }
            })?;
        let whole = libc::flock {
            l_type: i16::try_from(libc::F_WRLCK).unwrap_or(1),
            l_whence: 0,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        let deadline = Instant::now() + patience;
        loop {
            match fcntl(&file, FcntlArg::F_SETLK(&whole)) {
                Ok(_) => return Ok(Self { _file: file }),
                Err(Errno::EAGAIN | Errno::EACCES) if Instant::now() < deadline => {
                    sleep(Duration::from_millis(2));
                }
                Err(Errno::EAGAIN | Errno::EACCES) => {
                    return Err(StoreError::Busy { id: id.clone() });
                }
                Err(errno) => return Err(failed("lock", errno.into())),
            }
        }
    }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

fn parse_record(bytes: &[u8], path: &Path) -> Result<Record, StoreError> {
    let parse = |source| StoreError::Parse { path: path.to_path_buf(), source };
    match serde_json::from_slice::<Record>(bytes) {
        Ok(record) if record.format == RECORD_FORMAT => Ok(record),
        Ok(record) => Err(StoreError::Format { path: path.to_path_buf(), found: record.format }),
        Err(error) => {
            // Another version's file does not parse either: say which it is, if it tells.
            #[derive(Deserialize)]
            struct Head {
                format: u32,
            }
            match serde_json::from_slice::<Head>(bytes) {
                Ok(Head { format }) if format != RECORD_FORMAT => {
                    Err(StoreError::Format { path: path.to_path_buf(), found: format })
                }
                Ok(_) | Err(_) => Err(parse(error)),
            }
        }
    }
}

fn write_new(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    write(path, value, OpenOptions::new().create_new(true))
}

fn write(path: &Path, value: &impl Serialize, how: &mut OpenOptions) -> Result<(), StoreError> {
    let bytes = serde_json::to_vec(value)
        .map_err(|source| StoreError::Parse { path: path.to_path_buf(), source })?;
    let written = how.write(true).mode(0o600).open(path);
    written.and_then(|mut file| file.write_all(&bytes)).map_err(|source| StoreError::File {
        action: "write",
        path: path.to_path_buf(),
        source,
    })
}

/// Writes beside `path` and renames, so that a reader sees the old or the new one.
fn replace(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let beside = path.with_extension("new");
    write(&beside, value, OpenOptions::new().create(true).truncate(true))?;
    fs::rename(&beside, path).map_err(|source| StoreError::File {
        action: "rename to",
        path: path.to_path_buf(),
        source,
    })
}

fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::File { action: "remove", path: folder.to_path_buf(), source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
