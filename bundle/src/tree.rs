//! A root file system as an ordered set of mounts, and the mountpoints, links and files they stand on.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use oci_spec::runtime::Mount;

use crate::mounts::{Access, Bind, Exec, Shape, hidden};
use crate::{RootfsStep, StepKind};

/// The folder of a bundle that is the root.
pub(crate) const ROOTFS: &str = "rootfs";
/// An empty folder of a bundle: what hidden anchors are made of.
const ANCHOR: &str = "anchor";
/// Where folders lie that cover one of the host's.
const COVER: &str = "cover";

/// What is mounted at one path.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    /// A bind mount.
    Bind(Bind),
    /// A file system of its own; the runtime makes what is mounted below it.
    Fresh(Mount),
}

/// A root that grows. What is registered first at a path stays.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
    links: BTreeMap<PathBuf, PathBuf>,
    files: BTreeMap<PathBuf, String>,
    folders: BTreeMap<PathBuf, (u32, Option<(u32, u32)>)>,
}

impl Tree {
    /// Binds something at `target`; a path that has a mount already keeps it.
    pub(crate) fn bind(&mut self, target: &Path, bind: Bind) {
        self.nodes.entry(target.into()).or_insert(Node::Bind(bind));
    }

    /// Mounts a file system of its own.
    pub(crate) fn fresh(&mut self, mount: Mount) {
        self.nodes.entry(mount.destination().clone()).or_insert(Node::Fresh(mount));
    }

    /// Covers a folder of the host by one that holds nothing but what is mounted below it.
    pub(crate) fn cover(&mut self, target: &Path) {
        let source = Path::new(COVER).join(below_root(target));
        self.folder(&source, 0o755, None);
        self.bind(target, Bind::tree(&source));
    }

    /// A link that stands in the root, unless a mounted folder holds it.
    pub(crate) fn link(&mut self, path: &Path, target: &Path) {
        self.links.entry(path.into()).or_insert_with(|| target.into());
    }

    /// A file of the bundle, by its path in the bundle.
    pub(crate) fn file(&mut self, path: &Path, text: String) {
        self.files.entry(path.into()).or_insert(text);
    }

    /// A folder of the bundle, by its path in the bundle.
    pub(crate) fn folder(&mut self, path: &Path, mode: u32, owner: Option<(u32, u32)>) {
        self.folders.entry(path.into()).or_insert((mode, owner));
    }

    /// Whether the host's file or folder of this path can be seen.
    pub(crate) fn is_shown(&self, path: &Path) -> bool {
        self.shown_by(path).is_some()
    }

    /// Whether the host's file or folder of this path can be seen and written.
    pub(crate) fn is_shown_writable(&self, path: &Path) -> bool {
        self.shown_by(path).is_some_and(|bind| bind.access == Access::Writable)
    }

    /// Whether the host's file of this path can be seen and executed.
    pub(crate) fn is_executable(&self, path: &Path) -> bool {
        self.shown_by(path).is_some_and(|bind| bind.exec == Exec::Allowed)
    }

    /// The bind that shows the host's own file of this path.
    fn shown_by(&self, path: &Path) -> Option<&Bind> {
        match self.holder(path, Reach::AtOrAbove)? {
            (target, Node::Bind(bind)) if bind.source == *target => Some(bind),
            _ => None,
        }
    }

    /// The nearest mount that holds a path.
    fn holder(&self, path: &Path, reach: Reach) -> Option<(&PathBuf, &Node)> {
        let start = match reach {
            Reach::AtOrAbove => Some(path),
            Reach::Above => path.parent(),
        };
        start?.ancestors().find_map(|ancestor| self.nodes.get_key_value(ancestor))
    }

    /// The mounts, each after whatever it lies below.
    pub(crate) fn mounts(&self) -> Vec<Mount> {
        let mut mounts = Vec::new();
        for (target, node) in &self.nodes {
            match node {
                Node::Fresh(mount) => mounts.push(mount.clone()),
                Node::Bind(bind) => {
                    let anchors = self.anchors(target, bind);
                    if !anchors.is_empty() {
                        mounts.push(hidden(&bind.source, target));
                        mounts.extend(anchors.iter().map(|path| hidden(Path::new(ANCHOR), path)));
                    }
                    mounts.push(bind.at(target));
                }
            }
        }
        mounts
    }

    /// The folders of a writable bind on the way to something mounted below it, deepest first.
    ///
    /// The kernel refuses to rename or remove a name that is a mountpoint through any mount of the namespace,
    /// a covered one too. So an empty folder on each keeps a read-only mount from being moved aside with its
    /// parent, while the visible folder stays one mount, where `rename` and `link` work.
    fn anchors(&self, target: &Path, bind: &Bind) -> Vec<PathBuf> {
        if bind.access != Access::Writable || bind.shape == Shape::File {
            return Vec::new();
        }
        let mut anchors: Vec<PathBuf> = self
            .nodes
            .range(target.to_path_buf()..)
            .skip(1)
            .take_while(|(path, _)| path.starts_with(target))
            .filter(|(path, _)| {
                self.holder(path, Reach::Above).is_some_and(|(holder, _)| holder == target)
            })
            .flat_map(|(path, _)| path.ancestors().skip(1).take_while(|&above| above != target))
            .map(Path::to_path_buf)
            .collect();
        anchors.sort_by(|a, b| b.components().count().cmp(&a.components().count()).then(a.cmp(b)));
        anchors.dedup();
        anchors
    }

    /// What the bundle's folder is made of, parents first.
    pub(crate) fn steps(&self) -> Vec<RootfsStep> {
        let mut steps = Steps::default();
        steps.folder(Path::new(ROOTFS), 0o755, None);
        for (path, (mode, owner)) in &self.folders {
            steps.folder(path, *mode, *owner);
        }
        if self.nodes.iter().any(|(target, node)| match node {
            Node::Bind(bind) => !self.anchors(target, bind).is_empty(),
            Node::Fresh(_) => false,
        }) {
            steps.folder(Path::new(ANCHOR), 0o755, None);
        }
        for (target, node) in &self.nodes {
            if let Some(path) = self.place(target) {
                match node.shape() {
                    Shape::Folder => steps.folder(&path, 0o755, None),
                    Shape::File => steps.put(&path, StepKind::Mountpoint),
                }
            }
        }
        for (path, target) in &self.links {
            if let Some(path) = self.place(path) {
                steps.put(&path, StepKind::Link(target.clone()));
            }
        }
        for (path, text) in &self.files {
            steps.put(path, StepKind::File(text.clone()));
        }
        steps.0.into_values().collect()
    }

    /// Where in the bundle a path of the root stands; `None` where it is a folder of the host or the runtime's.
    fn place(&self, target: &Path) -> Option<PathBuf> {
        match self.holder(target, Reach::Above) {
            None => Some(Path::new(ROOTFS).join(below_root(target))),
            Some((above, Node::Bind(bind))) if bind.source.is_relative() => {
                Some(bind.source.join(target.strip_prefix(above).ok()?))
            }
            Some(_) => None,
        }
    }

    /// Every path the plan names, for the check that config.json can say it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let sources = self.nodes.values().filter_map(|node| match node {
            Node::Bind(bind) => Some(bind.source.as_path()),
            Node::Fresh(_) => None,
        });
        let links = self.links.iter().flat_map(|(path, target)| [path.as_path(), target]);
        self.nodes.keys().map(PathBuf::as_path).chain(sources).chain(links)
    }
}

/// Where a search for the mount that holds a path begins.
#[derive(Debug, Clone, Copy)]
enum Reach {
    AtOrAbove,
    Above,
}

impl Node {
    fn shape(&self) -> Shape {
        match self {
            Self::Bind(bind) => bind.shape,
            Self::Fresh(_) => Shape::Folder,
        }
    }
}

/// The steps by their path in the bundle, so that a parent comes before what is in it.
#[derive(Debug, Default)]
struct Steps(BTreeMap<PathBuf, RootfsStep>);

impl Steps {
    fn folder(&mut self, path: &Path, mode: u32, owner: Option<(u32, u32)>) {
        self.parents(path);
        self.insert(RootfsStep { path: path.into(), kind: StepKind::Folder(mode), owner });
    }

    fn put(&mut self, path: &Path, kind: StepKind) {
        self.parents(path);
        self.insert(RootfsStep { path: path.into(), kind, owner: None });
    }

    fn parents(&mut self, path: &Path) {
        let above: Vec<&Path> =
            path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        for above in above {
            self.insert(RootfsStep {
                path: above.into(),
                kind: StepKind::Folder(0o755),
                owner: None,
            });
        }
    }

    fn insert(&mut self, step: RootfsStep) {
        self.0.entry(step.path.clone()).or_insert(step);
    }
}

/// A path of the root, relative.
pub(crate) fn below_root(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}
