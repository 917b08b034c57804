//! A Landlock ruleset from an annotation to a domain. A hard requirement: less is an error.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use landlock::{
    AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, RestrictSelfAttr,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use mur_policy::landlock::{FsAccess, LandlockRuleset, NetAccess, Scope};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::sys::stat::{Mode, SFlag, fstat};
use serde::{Deserialize, Serialize};

/// A ruleset to apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Landlock(pub LandlockRuleset);

/// Why a domain could not be made.
#[derive(Debug)]
pub(crate) enum LandlockFault {
    /// The kernel refused, perhaps over a path.
    Kernel { errno: Errno, path: Option<String> },
    /// The kernel cannot, or what was asked for makes no sense.
    Refused(String),
}

impl Landlock {
    /// Opens every rule where the process is now. The descriptors 0 to 2, where they are files or
    /// terminals, get a rule of their own, or `/dev/stdout` could not be opened again.
    pub(crate) fn build(&self) -> Result<RulesetCreated, LandlockFault> {
        let ruleset = &self.0;
        check_abi(ruleset.abi)?;
        let fs = fs_flags(&ruleset.handled_access.fs);
        let net = net_flags(&ruleset.handled_access.net);
        let mut attributes = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if !fs.is_empty() {
            attributes = attributes.handle_access(fs)?;
        }
        if !net.is_empty() {
            attributes = attributes.handle_access(net)?;
        }
        for scope in &ruleset.scoped {
            attributes = attributes.scope(match scope {
                Scope::AbstractUnixSocket => landlock::Scope::AbstractUnixSocket,
                Scope::Signal => landlock::Scope::Signal,
            })?;
        }
        let mut created = attributes.create()?;
        for rule in &ruleset.rules.path_beneath {
            let access = fs_flags(&rule.allowed_access) & fs;
            for path in &rule.paths {
                created = add_path(created, path, access, rule.optional)?;
            }
        }
        for rule in &ruleset.rules.network_port {
            let access = net_flags(&rule.allowed_access) & net;
            for &port in rule.ports.iter().filter(|_| !access.is_empty()) {
                created = created.add_rule(NetPort::new(port, access))?;
            }
        }
        created = add_streams(created, fs)?;
        log_flags(created, &ruleset.log_flags)
    }
}

/// Enters the domain; the caller has set `no_new_privs` or holds `CAP_SYS_ADMIN`.
pub(crate) fn restrict(ruleset: RulesetCreated) -> Result<(), LandlockFault> {
    let status = ruleset.no_new_privs(false).restrict_self()?;
    if status.ruleset == RulesetStatus::FullyEnforced {
        Ok(())
    } else {
        Err(LandlockFault::Refused(format!("Landlock is {:?} only", status.ruleset)))
    }
}

fn check_abi(wanted: u32) -> Result<(), LandlockFault> {
    let found = crate::sys::process::landlock_abi().unwrap_or(0);
    if found >= wanted {
        return Ok(());
    }
    Err(LandlockFault::Refused(format!(
        "the kernel has Landlock ABI {found}, the ruleset needs {wanted}"
    )))
}

fn add_path(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    optional: bool,
) -> Result<RulesetCreated, LandlockFault> {
    let named = |errno| LandlockFault::Kernel { errno, path: Some(path.display().to_string()) };
    let opened = match open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()) {
        Ok(opened) => opened,
        Err(_) if optional => return Ok(ruleset),
        Err(errno) => return Err(named(errno)),
    };
    let access = mask_by_kind(opened.as_fd(), access).map_err(named)?;
    if access.is_empty() {
        return Ok(ruleset);
    }
    Ok(ruleset.add_rule(PathBeneath::new(opened, access))?)
}

/// Rights of folders make the kernel answer `EINVAL` on anything else.
fn mask_by_kind(
    opened: BorrowedFd<'_>,
    access: BitFlags<AccessFs>,
) -> nix::Result<BitFlags<AccessFs>> {
    let of_files = AccessFs::Execute
        | AccessFs::WriteFile
        | AccessFs::ReadFile
        | AccessFs::Truncate
        | AccessFs::IoctlDev
        | AccessFs::ResolveUnix;
    Ok(if kind_of(opened)? == SFlag::S_IFDIR { access } else { access & of_files })
}

fn kind_of(opened: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(opened)?.st_mode) & SFlag::S_IFMT)
}

fn add_streams(
    mut ruleset: RulesetCreated,
    handled: BitFlags<AccessFs>,
) -> Result<RulesetCreated, LandlockFault> {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for stream in [input.as_fd(), output.as_fd(), errors.as_fd()] {
        let access = stream_access(stream) & handled;
        if !access.is_empty() {
            ruleset = ruleset.add_rule(PathBeneath::new(stream, access))?;
        }
    }
    Ok(ruleset)
}

/// What a standard stream was opened for, when it is a file or a terminal.
fn stream_access(stream: BorrowedFd<'_>) -> BitFlags<AccessFs> {
    let (Ok(kind), Ok(flags)) = (kind_of(stream), fcntl(stream, FcntlArg::F_GETFL)) else {
        return BitFlags::empty();
    };
    let terminal = kind == SFlag::S_IFCHR && nix::unistd::isatty(stream) == Ok(true);
    if kind != SFlag::S_IFREG && !terminal {
        return BitFlags::empty();
    }
    let mode = OFlag::from_bits_truncate(flags) & OFlag::O_ACCMODE;
    let mut access = BitFlags::empty();
    if mode != OFlag::O_WRONLY {
        access |= AccessFs::ReadFile;
    }
    if mode != OFlag::O_RDONLY {
        access |= AccessFs::WriteFile | AccessFs::Truncate;
    }
    if terminal {
        access |= AccessFs::IoctlDev;
    }
    access
}

fn log_flags(
    mut ruleset: RulesetCreated,
    names: &[String],
) -> Result<RulesetCreated, LandlockFault> {
    for name in names {
        ruleset = match name.as_str() {
            "same_exec_off" => ruleset.log_same_exec(false)?,
            "new_exec_on" => ruleset.log_new_exec(true)?,
            "subdomains_off" => ruleset.log_subdomains(false)?,
            other => {
                return Err(LandlockFault::Refused(format!("`{other}` is no Landlock log flag")));
            }
        };
    }
    Ok(ruleset)
}

fn fs_flags(rights: &[FsAccess]) -> BitFlags<AccessFs> {
    let flag = |right: &FsAccess| match right {
        FsAccess::Execute => AccessFs::Execute,
        FsAccess::WriteFile => AccessFs::WriteFile,
        FsAccess::ReadFile => AccessFs::ReadFile,
        FsAccess::ReadDir => AccessFs::ReadDir,
        FsAccess::RemoveDir => AccessFs::RemoveDir,
        FsAccess::RemoveFile => AccessFs::RemoveFile,
        FsAccess::MakeChar => AccessFs::MakeChar,
        FsAccess::MakeDir => AccessFs::MakeDir,
        FsAccess::MakeReg => AccessFs::MakeReg,
        FsAccess::MakeSock => AccessFs::MakeSock,
        FsAccess::MakeFifo => AccessFs::MakeFifo,
        FsAccess::MakeBlock => AccessFs::MakeBlock,
        FsAccess::MakeSym => AccessFs::MakeSym,
        FsAccess::Refer => AccessFs::Refer,
        FsAccess::Truncate => AccessFs::Truncate,
        FsAccess::IoctlDev => AccessFs::IoctlDev,
        FsAccess::ResolveUnix => AccessFs::ResolveUnix,
    };
    rights.iter().map(flag).collect()
}

fn net_flags(rights: &[NetAccess]) -> BitFlags<AccessNet> {
    let flag = |right: &NetAccess| match right {
        NetAccess::BindTcp => AccessNet::BindTcp,
        NetAccess::ConnectTcp => AccessNet::ConnectTcp,
        NetAccess::BindUdp => AccessNet::BindUdp,
        NetAccess::ConnectSendUdp => AccessNet::ConnectSendUdp,
    };
    rights.iter().map(flag).collect()
}

impl From<RulesetError> for LandlockFault {
    fn from(error: RulesetError) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(inner) = cause {
            let system = inner.downcast_ref::<std::io::Error>();
            if let Some(number) = system.and_then(std::io::Error::raw_os_error) {
                return Self::Kernel { errno: Errno::from_raw(number), path: None };
            }
            cause = inner.source();
        }
        Self::Refused(error.to_string())
    }
}
