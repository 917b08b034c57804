//! How a step reads when it fails.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use super::mount::{Mount, Mounted};
use super::step::{Confinement, Entry, Identity, Meeting, RootStep, Step};

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("cannot ")?;
        match self {
            Self::Entry(step) => entry(step, f),
            Self::Root(step) => root(step, f),
            Self::Identity(step) => identity(step, f),
            Self::Confinement(step) => f.write_str(confinement(step)),
            Self::Meeting(step) => f.write_str(meeting(step)),
        }
    }
}

fn entry(step: &Entry, f: &mut Formatter<'_>) -> fmt::Result {
    match step {
        Entry::JoinCgroup => f.write_str("join the cgroup"),
        Entry::JoinTarget => f.write_str("enter the container's namespaces"),
        Entry::JoinNamespace(kind) => write!(f, "enter the {kind} namespace"),
        Entry::NewCgroupNamespace => f.write_str("make a cgroup namespace"),
        Entry::AwaitIdMaps => f.write_str("receive from the runtime"),
        Entry::TimeNamespace(_) => f.write_str("make the time namespace"),
        Entry::LoopbackUp => f.write_str("bring `lo` up"),
        Entry::Hostname(name) => write!(f, "set the host name `{name}`"),
        Entry::Domainname(name) => write!(f, "set the domain name `{name}`"),
    }
}

fn root(step: &RootStep, f: &mut Formatter<'_>) -> fmt::Result {
    let with =
        |f: &mut Formatter<'_>, what: &str, path: &Path| write!(f, "{what} `{}`", path.display());
    match step {
        RootStep::OpenRoot(root) => with(f, "prepare the root file system", &root.path),
        RootStep::Mount(entry) => mount(entry, f),
        RootStep::Device(device) => with(f, "make the device", &device.path),
        RootStep::DeviceLinks => f.write_str("make the links in `/dev`"),
        RootStep::Terminal(_) => f.write_str("make the terminal"),
        RootStep::WorkFolder(path) => with(f, "make the working folder", path),
        RootStep::Mask(path) => with(f, "mask", path),
        RootStep::ReadOnlyPath(path) => with(f, "make read-only", path),
        RootStep::Sysctl(sysctl) => with(f, "write the sysctl", &sysctl.path),
        RootStep::RestrictRoot(_) => f.write_str("restrict the root's mount"),
        RootStep::EnterRoot(_) => f.write_str("enter the root file system"),
        RootStep::ChangeRoot(path) => with(f, "change the root to", path),
        RootStep::RootPropagation(_) => f.write_str("set the propagation of the root"),
    }
}

fn mount(mount: &Mount, f: &mut Formatter<'_>) -> fmt::Result {
    let destination = mount.destination.display();
    match &mount.what {
        Mounted::Bind { source, .. } => write!(f, "bind `{}` to `{destination}`", source.display()),
        Mounted::Kernel { kind, .. } | Mounted::Other { kind, .. } => {
            write!(f, "mount {kind} on `{destination}`")
        }
        Mounted::Cgroup => write!(f, "mount the cgroups on `{destination}`"),
        Mounted::Remount { .. } => write!(f, "remount `{destination}`"),
    }
}

fn identity(step: &Identity, f: &mut Formatter<'_>) -> fmt::Result {
    match step {
        Identity::OomScoreAdjust(score) => write!(f, "set `oom_score_adj` to `{score}`"),
        Identity::NotDumpable => f.write_str("hide from debuggers"),
        Identity::EndWithParent => f.write_str("end with its parent"),
        Identity::MakerIds(_) => f.write_str("become a user of its user namespace"),
        Identity::UserIds(ids) => {
            write!(f, "become user `{}`, group `{}`", ids.uid, ids.gid)
        }
        Identity::NewSession => f.write_str("make a session"),
        Identity::Keyring(name) => write!(f, "join the session keyring `{name}`"),
        Identity::ApparmorProfile(name) => write!(f, "apply the AppArmor profile `{name}`"),
        Identity::SelinuxLabel(label) => write!(f, "apply the SELinux label `{label}`"),
        Identity::CpuAffinity(_) => f.write_str("set the cpus it may run on"),
        Identity::Schedule(_) => f.write_str("set the scheduler"),
        Identity::IoPriority(_) => f.write_str("set the I/O priority"),
        Identity::MemoryPolicy(_) => f.write_str("set the memory policy"),
        Identity::Personality(_) => f.write_str("set the execution domain"),
        Identity::Rlimit(limit) => write!(f, "set `{}`", limit.name),
        Identity::Umask(_) => f.write_str("set the umask"),
        Identity::Cwd(path) => write!(f, "enter the working folder `{}`", path.display()),
        Identity::BoundingSet(_) => f.write_str("limit the bounding capabilities"),
    }
}

const fn confinement(step: &Confinement) -> &'static str {
    match step {
        Confinement::LandlockRules(_) => "build the Landlock ruleset",
        Confinement::NoNewPrivileges => "set `no_new_privs`",
        Confinement::RegainCapabilities => "put capabilities in force",
        Confinement::Capabilities(_) => "set the capabilities",
        Confinement::LandlockDomain => "enter the Landlock domain",
        Confinement::SyscallFilter(_) => "load the syscall filter",
    }
}

const fn meeting(step: &Meeting) -> &'static str {
    match step {
        Meeting::CreateRuntimeHooks => "run prestart and createRuntime hooks",
        Meeting::CreateContainerHooks => "run createContainer hooks",
        Meeting::StartContainerHooks => "run startContainer hooks",
        Meeting::FindProgram | Meeting::Execute => "execute the program",
        Meeting::Ready => "tell the runtime that all is prepared",
        Meeting::Gate => "wait for `start`",
        Meeting::Holder => "start the program below the holder",
    }
}
