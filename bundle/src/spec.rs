//! A decided root as config.json: process, namespaces, filter, limits.

use mur_policy::{ArgRule, Confinement, SyscallFilter};
use oci_spec::runtime::{
    Arch, Capabilities, Linux, LinuxCapabilities, LinuxIdMapping, LinuxNamespace,
    LinuxNamespaceType, LinuxSeccomp, LinuxSeccompAction, LinuxSeccompArg, LinuxSeccompArgBuilder,
    LinuxSeccompOperator, LinuxSyscall, Process, Root, Spec, User,
};

use crate::annotation::annotations;
use crate::environment::environment;
use crate::landlock::ruleset;
use crate::limits::{control_group_limits, process_limits};
use crate::mounts::mapping;
use crate::root::{Ground, temp_path, visible_work};
use crate::synthetic::hostname;
use crate::tree::{ROOTFS, Tree};
use crate::{IdPair, PlanError};

/// The version of the runtime-spec a bundle asks for. What it uses of later ones (idmapped mounts) is never needed for
/// the bundle to be understood, and runtimes refuse a version that is newer than themselves.
const OCI_VERSION: &str = "1.0.2";

/// Kernel files that tell of the host or act on it. Hidden, or read-only, by mounts; Landlock and the file modes
/// hold as well.
pub(crate) const MASKED: [&str; 8] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
];
pub(crate) const READ_ONLY: [&str; 5] =
    ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// The config.json of a root.
///
/// # Errors
/// There is no process, the processor has no filter, or a value has no JSON form.
pub(crate) fn spec(
    ground: Ground<'_>,
    tree: &Tree,
    confinement: &Confinement,
) -> Result<Spec, PlanError> {
    let ruleset = confinement.landlock.as_ref().map(|base| ruleset(ground, base));
    let mut root = Root::default();
    root.set_path(ROOTFS.into()).set_readonly(Some(true));
    let mut spec = Spec::default();
    spec.set_version(OCI_VERSION.to_owned())
        .set_root(Some(root))
        .set_mounts(Some(tree.mounts()))
        .set_process(Some(process(ground)?))
        .set_hostname(Some(hostname(&ground.policy.capsule.name)))
        .set_hooks(mur_hooks::hooks_for(ground.decision))
        .set_annotations(Some(annotations(ground, ruleset.as_ref())?))
        .set_linux(Some(linux(ground, &confinement.syscalls)?));
    Ok(spec)
}

fn process(ground: Ground<'_>) -> Result<Process, PlanError> {
    let layout = ground.layout;
    let declared = ground.policy.process.as_ref().filter(|process| !process.args.is_empty());
    let declared = declared.ok_or(PlanError::NoProcess)?;
    let work = visible_work(layout);
    let cwd = declared.cwd.as_ref().map_or_else(|| work.clone(), |cwd| work.join(cwd));
    let mut user = User::default();
    user.set_uid(layout.identity.uid.inside).set_gid(layout.identity.gid.inside);
    let none = || Some(Capabilities::default());
    let mut capabilities = LinuxCapabilities::default();
    capabilities
        .set_bounding(none())
        .set_effective(none())
        .set_inheritable(none())
        .set_permitted(none())
        .set_ambient(none());
    let mut process = Process::default();
    process
        .set_terminal(Some(declared.terminal))
        .set_user(user)
        .set_args(Some(declared.args.clone()))
        .set_env(Some(environment(ground.policy, layout, &temp_path(ground))))
        .set_cwd(cwd)
        .set_capabilities(Some(capabilities))
        .set_no_new_privileges(Some(true))
        .set_rlimits(Some(process_limits(&ground.policy.resources, &layout.hard_limits)));
    Ok(process)
}

fn linux(ground: Ground<'_>, filter: &SyscallFilter) -> Result<Linux, PlanError> {
    let identity = &ground.layout.identity;
    let owned = |paths: &[&str]| Some(paths.iter().map(|&path| path.to_owned()).collect());
    let namespaces = [
        LinuxNamespaceType::User,
        LinuxNamespaceType::Mount,
        LinuxNamespaceType::Pid,
        LinuxNamespaceType::Ipc,
        LinuxNamespaceType::Uts,
        LinuxNamespaceType::Cgroup,
        LinuxNamespaceType::Network,
    ];
    let namespaces = namespaces.map(|kind| {
        let mut namespace = LinuxNamespace::default();
        namespace.set_typ(kind);
        namespace
    });
    let layout = ground.layout;
    let limited = layout.no_limits_because.is_none();
    let resources = limited.then(|| control_group_limits(&ground.policy.resources, layout.disk));
    let mut linux = Linux::default();
    linux
        .set_uid_mappings(Some(id_map(identity.uid, identity.spare)))
        .set_gid_mappings(Some(id_map(identity.gid, identity.spare)))
        .set_namespaces(Some(namespaces.into()))
        .set_resources(resources)
        .set_cgroups_path(None)
        .set_devices(None)
        .set_seccomp(Some(seccomp(filter)?))
        .set_rootfs_propagation(Some("private".to_owned()))
        .set_masked_paths(owned(&MASKED))
        .set_readonly_paths(owned(&READ_ONLY));
    Ok(linux)
}

/// The capsule's id, and container id 0 where the caller may map one: a runtime may refuse a map without it.
fn id_map(pair: IdPair, spare: Option<u32>) -> Vec<LinuxIdMapping> {
    let root = spare.filter(|_| pair.inside != 0).map(|host| mapping((0, host)));
    root.into_iter().chain([mapping((pair.inside, pair.host))]).collect()
}

/// The allow-list as `linux.seccomp`, for the native architecture alone.
///
/// Without `SECCOMP_FILTER_FLAG_LOG`: it would write a line into the host's kernel log for each thread a capsule
/// starts, because `clone3` is answered `ENOSYS`.
pub(crate) fn seccomp(filter: &SyscallFilter) -> Result<LinuxSeccomp, PlanError> {
    let syscalls = filter.rules.iter().map(|rule| {
        let args = rule.args.iter().map(condition);
        let args: Vec<_> = args.collect();
        let mut syscall = LinuxSyscall::default();
        syscall
            .set_names(rule.names.clone())
            .set_action(match rule.errno {
                None => LinuxSeccompAction::ScmpActAllow,
                Some(_) => LinuxSeccompAction::ScmpActErrno,
            })
            .set_errno_ret(rule.errno)
            .set_args(if args.is_empty() { None } else { Some(args) });
        syscall
    });
    let mut seccomp = LinuxSeccomp::default();
    seccomp
        .set_default_action(LinuxSeccompAction::ScmpActErrno)
        .set_default_errno_ret(Some(filter.default_errno))
        .set_architectures(Some(vec![native(std::env::consts::ARCH)?]))
        .set_syscalls(Some(syscalls.collect()));
    Ok(seccomp)
}

/// One condition on an argument.
fn condition(arg: &ArgRule) -> LinuxSeccompArg {
    let index = usize::try_from(arg.index).unwrap_or(usize::MAX);
    let condition = LinuxSeccompArgBuilder::default().index(index);
    let condition = match arg.mask {
        Some(mask) => {
            condition.op(LinuxSeccompOperator::ScmpCmpMaskedEq).value(mask).value_two(arg.value)
        }
        None => condition.op(LinuxSeccompOperator::ScmpCmpEq).value(arg.value),
    };
    condition.build().expect("every field has a default")
}

/// A processor as OCI names it.
fn native(arch: &'static str) -> Result<Arch, PlanError> {
    match arch {
        "x86_64" => Ok(Arch::ScmpArchX86_64),
        "aarch64" => Ok(Arch::ScmpArchAarch64),
        "riscv64" => Ok(Arch::ScmpArchRiscv64),
        "s390x" => Ok(Arch::ScmpArchS390x),
        _ => Err(PlanError::Processor { arch }),
    }
}
