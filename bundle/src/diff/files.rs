//! What is at each path, and what may be done with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use oci_spec::runtime::{Mount, Root, Spec};

use super::{Changes, Direction, direction, listed};

/// Compares every path that either configuration mounts something at.
pub(super) fn compare(before: &Spec, after: &Spec, changes: &mut Changes) {
    let (before, after) = (View::of(before), View::of(after));
    let paths: BTreeSet<&Path> = before.paths().chain(after.paths()).collect();
    for path in paths {
        let (was, is) = (before.at(path), after.at(path));
        let what = format!("`{}`", path.display());
        if was.origin == is.origin {
            if let Some(direction) = direction(&was.uses, &is.uses) {
                changes.add(direction, what, listed(&was.uses), listed(&is.uses));
            }
        } else {
            let direction = match (was.origin.shows_host(), is.origin.shows_host()) {
                (false, true) => Direction::Wider,
                (true, false) => Direction::Narrower,
                (true, true) | (false, false) => Direction::Other,
            };
            changes.add(direction, what, was.text(), is.text());
        }
    }
}

/// Where what is at a path comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// The root of the bundle itself: what is not granted is absent there.
    Root,
    /// This path of the host.
    Host(PathBuf),
    /// This path of the bundle.
    Bundle(PathBuf),
    /// A file system of its own, of this type and size.
    Fresh(String),
}

impl Origin {
    const fn shows_host(&self) -> bool {
        matches!(self, Self::Host(_))
    }
}

/// What is at one path.
#[derive(Debug)]
struct Place {
    origin: Origin,
    uses: BTreeSet<&'static str>,
}

impl Place {
    fn text(&self) -> String {
        let origin = match &self.origin {
            Origin::Root => "nothing of the host".to_owned(),
            Origin::Host(path) => format!("the host's `{}`", path.display()),
            Origin::Bundle(path) => format!("`{}` of the bundle", path.display()),
            Origin::Fresh(kind) => format!("a new {kind}"),
        };
        format!("{origin}: {}", listed(&self.uses))
    }
}

/// The mounts of a configuration, in their order.
struct View<'a> {
    mounts: &'a [Mount],
    root_writable: bool,
}

impl<'a> View<'a> {
    fn of(spec: &'a Spec) -> Self {
        Self {
            mounts: spec.mounts().as_deref().unwrap_or_default(),
            root_writable: spec.root().as_ref().and_then(Root::readonly) != Some(true),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &'a Path> {
        let mounts = self.mounts.iter().map(|mount| mount.destination().as_path());
        mounts.chain([Path::new("/")])
    }

    /// The last mount at or above a path is what is seen: it covers all earlier ones.
    fn at(&self, path: &Path) -> Place {
        let holds = |mount: &&Mount| path.starts_with(mount.destination());
        if let Some(mount) = self.mounts.iter().rev().find(holds) {
            return Place { origin: origin(mount, path), uses: uses(mount) };
        }
        let mut uses = BTreeSet::from(["read", "execute"]);
        uses.extend(self.root_writable.then_some("write"));
        Place { origin: Origin::Root, uses }
    }
}

fn origin(mount: &Mount, path: &Path) -> Origin {
    let options = mount.options().as_deref().unwrap_or_default();
    let kind = mount.typ().as_deref().unwrap_or_default();
    let bound = kind == "bind" || options.iter().any(|own| own == "bind" || own == "rbind");
    match mount.source() {
        Some(source) if bound => {
            let rest = path.strip_prefix(mount.destination()).unwrap_or(Path::new(""));
            let full = if rest.as_os_str().is_empty() { source.clone() } else { source.join(rest) };
            if source.is_absolute() { Origin::Host(full) } else { Origin::Bundle(full) }
        }
        _ => {
            let named = |name: &str| options.iter().find(|own| own.starts_with(name));
            let words = [named("size="), named("hidepid=")].into_iter().flatten();
            let words = std::iter::once(kind).chain(words.map(String::as_str));
            Origin::Fresh(words.collect::<Vec<_>>().join(" "))
        }
    }
}

/// What the options leave possible. Of two that contradict each other the last holds.
fn uses(mount: &Mount) -> BTreeSet<&'static str> {
    let mut uses = BTreeSet::from(["read", "write", "execute", "setuid", "devices"]);
    for option in mount.options().as_deref().unwrap_or_default() {
        let (name, allowed) = match option.as_str() {
            "ro" | "rro" => ("write", false),
            "rw" | "rrw" => ("write", true),
            "noexec" | "rnoexec" => ("execute", false),
            "exec" | "rexec" => ("execute", true),
            "nosuid" | "rnosuid" => ("setuid", false),
            "suid" | "rsuid" => ("setuid", true),
            "nodev" | "rnodev" => ("devices", false),
            "dev" | "rdev" => ("devices", true),
            _ => continue,
        };
        if allowed {
            uses.insert(name);
        } else {
            uses.remove(name);
        }
    }
    uses
}
