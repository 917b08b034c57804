//! Finds and executes the program. The words of a refusal are those that engines look for.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::sys::stat::stat;
use nix::unistd::{AccessFlags, Uid, faccessat, getpid};

use super::fault::Fault;
use super::identity::home_of;
use crate::plan::Program;
use crate::sys::process::{self, CStringArray};

/// A program ready to execute.
#[derive(Debug)]
pub(super) struct Prepared {
    arguments: CStringArray,
    environment: CStringArray,
    listens: bool,
    found: Option<CString>,
}

impl Prepared {
    /// Turns the plan's texts into what execve(2) takes.
    pub(super) fn new(program: &Program) -> nix::Result<Self> {
        let texts = |list: &[String]| -> nix::Result<CStringArray> {
            let texts = list.iter().map(|text| CString::new(text.as_str()));
            texts.collect::<Result<_, _>>().map(CStringArray::new).map_err(|_| Errno::EINVAL)
        };
        Ok(Self {
            arguments: texts(&program.args)?,
            environment: texts(&program.env)?,
            listens: program.listens,
            found: None,
        })
    }

    /// Completes the environment and finds the program, as its user and in its folder.
    pub(super) fn find(&mut self) -> Result<(), Fault> {
        if self.variable("HOME").is_none_or(<[u8]>::is_empty) {
            let home = home_of(Uid::effective().as_raw());
            let entry = [b"HOME=", home.as_os_str().as_bytes()].concat();
            self.environment.remove("HOME");
            self.environment.push(CString::new(entry).map_err(|_| Errno::EINVAL)?);
        }
        if self.listens {
            let entry = format!("LISTEN_PID={}", getpid());
            self.environment.push(CString::new(entry).map_err(|_| Errno::EINVAL)?);
        }
        let name = self.name().to_owned();
        self.found = Some(self.look_up(&name)?);
        Ok(())
    }

    /// Tells the program the number it has now.
    pub(super) fn renumber(&mut self) -> Result<(), Fault> {
        if self.listens {
            self.environment.remove("LISTEN_PID");
            let entry = format!("LISTEN_PID={}", getpid());
            self.environment.push(CString::new(entry).map_err(|_| Errno::EINVAL)?);
        }
        Ok(())
    }

    /// Becomes the program; returns only when that fails.
    pub(super) fn execute(&self) -> Fault {
        let Some(path) = &self.found else { return Fault::from(Errno::ENOENT) };
        let errno = process::execute(path, &self.arguments, &self.environment);
        self.fault(errno.desc().to_lowercase(), errno)
    }

    fn name(&self) -> &CStr {
        self.arguments.strings().first().map_or(c"", CString::as_c_str)
    }

    fn fault(&self, reason: impl Into<String>, errno: Errno) -> Fault {
        Fault::Program(self.name().to_string_lossy().into_owned(), reason.into(), errno as i32)
    }

    fn variable(&self, name: &str) -> Option<&[u8]> {
        self.environment
            .strings()
            .iter()
            .find_map(|entry| entry.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }

    /// execvp(3)'s rule: a name with a slash is a path, any other is looked for in `PATH`.
    fn look_up(&self, name: &CStr) -> Result<CString, Fault> {
        let bytes = name.to_bytes();
        if bytes.contains(&b'/') {
            return match executable(name) {
                Ok(()) => Ok(name.to_owned()),
                // execve(2) answers EACCES for a folder; engines tell 126 from 127 by that.
                Err(Errno::EISDIR) => Err(self.fault("is a directory", Errno::EACCES)),
                Err(Errno::ENOENT) => {
                    let reason =
                        format!("stat {}: no such file or directory", name.to_string_lossy());
                    Err(self.fault(reason, Errno::ENOENT))
                }
                Err(errno) => Err(self.fault(errno.desc().to_lowercase(), errno)),
            };
        }
        let missing = || self.fault("executable file not found in $PATH", Errno::ENOENT);
        if bytes.is_empty() {
            return Err(missing());
        }
        let mut denied = None;
        for folder in self.variable("PATH").ok_or_else(missing)?.split(|byte| *byte == b':') {
            let folder = if folder.is_empty() { b".".as_slice() } else { folder };
            let path = [folder, b"/", bytes].concat();
            let path = CString::new(path).map_err(|_| Errno::EINVAL)?;
            match executable(&path) {
                Ok(()) => return Ok(path),
                Err(Errno::EACCES) => denied = Some(Errno::EACCES),
                Err(_) => {}
            }
        }
        Err(denied.map_or_else(missing, |errno| self.fault("permission denied", errno)))
    }
}

/// Whether this user may execute the file; `EISDIR`: it is a folder.
fn executable(path: &CStr) -> nix::Result<()> {
    let status = stat(path)?;
    if status.st_mode & libc::S_IFMT == libc::S_IFDIR {
        return Err(Errno::EISDIR);
    }
    if status.st_mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    let path = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
    match faccessat(AT_FDCWD, path, AccessFlags::X_OK, AtFlags::AT_EACCESS) {
        // faccessat2(2) is newer than what some containers are let to call.
        Err(Errno::ENOSYS | Errno::EPERM) => Ok(()),
        other => other,
    }
}
