//! How each kind of thing is mounted: the options, in one place.

use std::path::{Path, PathBuf};

use oci_spec::runtime::{LinuxIdMapping, LinuxIdMappingBuilder, Mount};

/// Whether a bind may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The file system answers `EROFS`.
    ReadOnly,
    /// The capsule's to write.
    Writable,
    /// As it is on the host, which is nobody's promise (no Landlock).
    AsOnHost,
}

/// Whether files below a bind may be executed or mapped executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exec {
    /// `noexec`.
    Denied,
    /// Not `noexec`.
    Allowed,
}

/// What is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A folder, with everything mounted below it.
    Folder,
    /// One file.
    File,
}

/// The owner of a folder on disk, and the host ids that stand for it through an idmapped mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdMap {
    /// On disk → on the host.
    pub(crate) uid: (u32, u32),
    /// On disk → on the host.
    pub(crate) gid: (u32, u32),
}

/// One bind mount, before it is written as OCI says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bind {
    /// Absolute on the host, or relative to the bundle.
    pub(crate) source: PathBuf,
    /// What it is.
    pub(crate) shape: Shape,
    /// Whether it may be written.
    pub(crate) access: Access,
    /// Whether it may be executed.
    pub(crate) exec: Exec,
    /// Where the owner on disk is not the capsule's user.
    pub(crate) id_map: Option<IdMap>,
}

impl Bind {
    /// A folder of the host, read-only, nothing in it executable.
    pub(crate) fn tree(source: &Path) -> Self {
        Self {
            source: source.into(),
            shape: Shape::Folder,
            access: Access::ReadOnly,
            exec: Exec::Denied,
            id_map: None,
        }
    }

    /// One file of the host, read-only, not executable.
    pub(crate) fn file(source: &Path) -> Self {
        Self { shape: Shape::File, ..Self::tree(source) }
    }

    /// A folder or a file.
    pub(crate) fn of(source: &Path, folder: bool) -> Self {
        if folder { Self::tree(source) } else { Self::file(source) }
    }

    /// The same, executable.
    pub(crate) fn executable(self) -> Self {
        Self { exec: Exec::Allowed, ..self }
    }

    /// The same, writable.
    pub(crate) fn writable(self, id_map: Option<IdMap>) -> Self {
        Self { access: Access::Writable, id_map, ..self }
    }

    /// The mount at `target`.
    pub(crate) fn at(&self, target: &Path) -> Mount {
        let mut mount = mount_of("bind", &self.source, target, &self.options());
        if let Some(map) = self.id_map {
            mount
                .set_uid_mappings(Some(vec![mapping(map.uid)]))
                .set_gid_mappings(Some(vec![mapping(map.gid)]));
        }
        mount
    }

    /// The options: recursive where a host may have mounted something below.
    fn options(&self) -> Vec<&'static str> {
        let mut options = match (self.shape, self.access) {
            (Shape::File, Access::ReadOnly) => vec!["bind", "ro", "nosuid", "nodev"],
            (Shape::File, _) => vec!["bind", "nosuid", "nodev"],
            (Shape::Folder, Access::ReadOnly) => vec!["rbind", "rro", "rnosuid", "rnodev"],
            (Shape::Folder, _) => vec!["rbind", "rnosuid", "rnodev"],
        };
        match (self.exec, self.shape) {
            (Exec::Allowed, _) => {}
            (Exec::Denied, Shape::Folder) => options.push("rnoexec"),
            (Exec::Denied, Shape::File) => options.push("noexec"),
        }
        if self.id_map.is_some() {
            options.push("idmap");
        }
        options
    }
}

/// A bind that is only there to be covered again: an anchor, or the hidden mount that carries anchors.
pub(crate) fn hidden(source: &Path, target: &Path) -> Mount {
    mount_of("bind", source, target, &["bind", "nosuid", "nodev", "noexec"])
}

/// A fresh procfs; `hidepid=invisible` by its number, which kernels before 5.8 know too.
pub(crate) fn procfs() -> Mount {
    mount_of(
        "proc",
        Path::new("proc"),
        Path::new("/proc"),
        &["nosuid", "nodev", "noexec", "hidepid=2"],
    )
}

/// The host's procfs, where a fresh one is refused.
pub(crate) fn host_procfs() -> Mount {
    mount_of(
        "bind",
        Path::new("/proc"),
        Path::new("/proc"),
        &["rbind", "nosuid", "nodev", "noexec"],
    )
}

/// `/dev` and what is below it, in order. The six nodes and the links to `/proc/self/fd` are those that every
/// runtime supplies by the runtime-spec; after that nobody without a capability
/// may add to the folder, which a read-only mount would refuse the runtime as well.
pub(crate) fn devices() -> [Mount; 3] {
    [
        mount_of(
            "tmpfs",
            Path::new("tmpfs"),
            Path::new("/dev"),
            &["nosuid", "noexec", "mode=0555", "size=1m"],
        ),
        mount_of(
            "devpts",
            Path::new("devpts"),
            Path::new("/dev/pts"),
            &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
        ),
        mount_of(
            "tmpfs",
            Path::new("shm"),
            Path::new("/dev/shm"),
            &["nosuid", "nodev", "noexec", "mode=1777", "size=64m"],
        ),
    ]
}

fn mount_of(kind: &str, source: &Path, target: &Path, options: &[&str]) -> Mount {
    let mut mount = Mount::default();
    mount
        .set_destination(target.into())
        .set_typ(Some(kind.to_owned()))
        .set_source(Some(source.into()))
        .set_options(Some(options.iter().map(|&option| option.to_owned()).collect()));
    mount
}

/// One id on both sides of a map; of a mount, the first is the id on disk.
pub(crate) fn mapping((inside, host): (u32, u32)) -> LinuxIdMapping {
    LinuxIdMappingBuilder::default()
        .container_id(inside)
        .host_id(host)
        .size(1_u32)
        .build()
        .expect("every field has a default")
}
