//! What of an engine's mounts stays, and what may be read, written and run in its image.

use std::path::{Path, PathBuf};

use mur_policy::CapabilityPolicy;
use mur_policy::landlock::{LandlockBase, PathBeneath, RightSet, Rules};
use oci_spec::runtime::{Mount, MountBuilder, Spec};

use super::{ImageLayout, NarrowError};
use crate::Program;

/// Mounts that are the kernel's and never become folders to write in.
const KERNEL_TYPES: [&str; 6] = ["proc", "sysfs", "cgroup", "cgroup2", "mqueue", "devpts"];

/// The devices every container has, and what may be done with them.
const DEVICES: [(&str, RightSet); 9] = [
    ("/dev/null", RightSet::Terminal),
    ("/dev/zero", RightSet::DeviceRead),
    ("/dev/full", RightSet::DeviceReadWrite),
    ("/dev/tty", RightSet::Terminal),
    ("/dev/console", RightSet::Terminal),
    ("/dev/ptmx", RightSet::Terminal),
    ("/dev/pts", RightSet::Terminal),
    ("/dev/random", RightSet::DeviceRead),
    ("/dev/urandom", RightSet::DeviceRead),
];

/// The engine's mounts, nothing writable executable; the image itself not executable; over it the allowed programs.
pub(super) fn mounts(
    spec: &Spec,
    policy: &CapabilityPolicy,
    image: &ImageLayout,
) -> Result<Vec<Mount>, NarrowError> {
    let engine = spec.mounts().clone().unwrap_or_default();
    let mut mounts: Vec<Mount> =
        engine.iter().map(|mount| without_execution(mount, spec, policy)).collect();
    for program in &image.programs {
        mounts.extend(exec_binds(program, spec, image)?);
    }
    for path in &policy.files.read_only_paths {
        mounts.extend(read_only(&cwd(spec).join(path), &engine)?);
    }
    Ok(mounts)
}

/// A program's files over themselves, executable; one that the engine mounted itself stays the engine's.
fn exec_binds(
    program: &Program,
    spec: &Spec,
    image: &ImageLayout,
) -> Result<Vec<Mount>, NarrowError> {
    if program.path.is_none() {
        return Err(NarrowError::ProgramMissing { name: program.name.clone() });
    }
    let writable = writable_folders(spec);
    let files = program.executables.iter().chain(&program.helpers).chain(&program.libraries);
    let mut binds = Vec::new();
    for file in files {
        if writable.iter().any(|folder| file.starts_with(folder)) {
            let name = program.name.clone();
            return Err(NarrowError::ProgramWritable { name, path: file.clone() });
        }
        let source = image.root.join(file.strip_prefix("/").unwrap_or(file));
        binds.push(bind(file, &source, &["bind", "ro", "nosuid", "nodev"]));
    }
    Ok(binds)
}

/// What may be read, written and run, as paths inside.
pub(super) fn rules(spec: &Spec, base: &LandlockBase, image: &ImageLayout) -> Rules {
    let rule = |set, paths: Vec<PathBuf>, optional| PathBeneath {
        allowed_access: base.rights(set),
        paths,
        optional,
    };
    let programs = image
        .programs
        .iter()
        .flat_map(|program| program.executables.iter().chain(&program.helpers));
    let work = cwd(spec);
    let (work, plain): (Vec<_>, Vec<_>) =
        writable_folders(spec).into_iter().partition(|folder| *folder == work);
    let mut path_beneath = vec![
        rule(RightSet::ReadList, vec!["/".into()], false),
        rule(RightSet::ReadExecute, programs.cloned().collect(), false),
        rule(RightSet::Writable, plain, true),
        rule(RightSet::Work, work, true),
    ];
    path_beneath
        .extend(DEVICES.iter().map(|(device, set)| rule(*set, vec![(*device).into()], true)));
    path_beneath.retain(|rule| !rule.paths.is_empty());
    Rules { path_beneath, network_port: Vec::new() }
}

fn cwd(spec: &Spec) -> PathBuf {
    spec.process().as_ref().map(|process| process.cwd().clone()).unwrap_or_default()
}

fn is_kernel(mount: &Mount) -> bool {
    let kernel_type = mount.typ().as_ref().is_some_and(|typ| KERNEL_TYPES.contains(&typ.as_str()));
    let beneath = |top: &str| mount.destination().starts_with(top);
    kernel_type || beneath("/proc") || beneath("/sys")
}

fn options(mount: &Mount) -> &[String] {
    mount.options().as_deref().unwrap_or_default()
}

/// Folders that stay writable: what the engine mounted so. Never the image, never the kernel's.
fn writable_folders(spec: &Spec) -> Vec<PathBuf> {
    let mounts = spec.mounts().as_deref().unwrap_or_default();
    mounts
        .iter()
        .filter(|mount| !is_kernel(mount) && mount.destination() != Path::new("/dev"))
        .filter(|mount| !options(mount).iter().any(|option| option == "ro" || option == "rro"))
        .map(|mount| mount.destination().clone())
        .collect()
}

/// A mount of the engine without the right to execute or to raise privileges; the kernel's own read-only.
fn without_execution(mount: &Mount, spec: &Spec, policy: &CapabilityPolicy) -> Mount {
    let dropped = ["exec", "suid", "rexec", "rsuid"];
    let mut kept: Vec<String> = options(mount).to_vec();
    kept.retain(|option| !dropped.contains(&option.as_str()));
    let mut add = |option: &str| {
        if !kept.iter().any(|known| known == option) {
            kept.push(option.to_owned());
        }
    };
    add("nosuid");
    if !(policy.files.workdir_exec && *mount.destination() == cwd(spec)) {
        add("noexec");
    }
    if mount.typ().as_deref().is_some_and(|typ| matches!(typ, "sysfs" | "cgroup" | "cgroup2")) {
        kept.retain(|option| option != "rw");
        kept.push("ro".to_owned());
    }
    let mut narrowed = mount.clone();
    narrowed.set_options(Some(kept));
    narrowed
}

fn bind(destination: &Path, source: &Path, options: &[&str]) -> Mount {
    MountBuilder::default()
        .destination(destination)
        .source(source)
        .typ("bind")
        .options(options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>())
        .build()
        .expect("every field has a default")
}

/// A read-only bind of a subtree over itself, from the engine's own bind that holds it. Each folder on the way is bound
/// onto itself first: a mountpoint cannot be renamed, so the subtree cannot be moved aside with its parent. The price is
/// `EXDEV` between these folders; an image has no empty folder to hide anchors with.
fn read_only(path: &Path, engine: &[Mount]) -> Result<Vec<Mount>, NarrowError> {
    let is_bind = |mount: &&Mount| options(mount).iter().any(|it| it == "bind" || it == "rbind");
    let holder = engine
        .iter()
        .filter(|mount| path.starts_with(mount.destination()))
        .filter(is_bind)
        .max_by_key(|mount| mount.destination().as_os_str().len());
    let refused = || NarrowError::ReadOnly { path: path.into() };
    let holder = holder.ok_or_else(refused)?;
    let source = holder.source().as_ref().ok_or_else(refused)?;
    let below = path.strip_prefix(holder.destination()).map_err(|_| refused())?;
    let mut ancestors: Vec<&Path> = below.ancestors().skip(1).collect();
    ancestors.retain(|ancestor| !ancestor.as_os_str().is_empty());
    ancestors.reverse();
    let at = |below: &Path, options: &[&str]| {
        bind(&holder.destination().join(below), &source.join(below), options)
    };
    let held = ["bind", "ro", "noexec", "nosuid", "nodev"];
    let kept =
        ancestors.into_iter().map(|folder| at(folder, &["rbind", "noexec", "nosuid", "nodev"]));
    let mut mounts: Vec<Mount> = kept.collect();
    mounts.push(at(below, &held));
    Ok(mounts)
}
