//! Paths: subtrees of the work folder, and places on the host.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};

/// Longest name of one path component, in bytes (`NAME_MAX`).
const NAME_MAX: usize = 255;
/// Longest path, in bytes, without its final NUL (`PATH_MAX` - 1).
const PATH_MAX: usize = 4095;

/// Why a text is no path of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidPath {
    /// It is empty.
    #[error("the path is empty")]
    Empty,
    /// It begins with `/` where a path below the work folder is wanted.
    #[error("`{path}` is absolute")]
    Absolute {
        /// The path as written.
        path: String,
    },
    /// It begins with neither `/` nor, where that is accepted, `~/`.
    #[error("`{path}` is relative")]
    Relative {
        /// The path as written.
        path: String,
    },
    /// A `..` of it leaves the work folder.
    #[error("`{path}` leaves the work folder through `..`")]
    Escapes {
        /// The path as written.
        path: String,
    },
    /// It has a `..`, where what it names must be plain to a reader.
    #[error("`{path}` has a `..`")]
    Parent {
        /// The path as written.
        path: String,
    },
    /// It is `/`.
    #[error("`/` is the whole host")]
    Root,
    /// It has a NUL byte.
    #[error("the path has a NUL byte")]
    Nul,
    /// A component or the whole is longer than Linux allows.
    #[error("the path or one of its names is too long ({length} bytes, at most {limit})")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit it is over.
        limit: usize,
    },
}

/// Checks that hold for every kind of path.
fn check_bytes(path: &str) -> Result<(), InvalidPath> {
    if path.contains('\0') {
        return Err(InvalidPath::Nul);
    }
    if path.len() > PATH_MAX {
        return Err(InvalidPath::TooLong { length: path.len(), limit: PATH_MAX });
    }
    match path.split('/').map(str::len).max() {
        Some(length) if length > NAME_MAX => Err(InvalidPath::TooLong { length, limit: NAME_MAX }),
        Some(_) | None => Ok(()),
    }
}

/// A subtree of the work folder: a relative path, resolved by its components alone.
///
/// `.` and doubled slashes are dropped and `..` takes back the component before it. The work
/// folder itself has no components and displays as `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathRule {
    components: Vec<String>,
}

impl PathRule {
    /// The work folder itself.
    pub const fn work_folder() -> Self {
        Self { components: Vec::new() }
    }

    /// The names from the work folder down.
    pub fn components(&self) -> &[String] {
        &self.components
    }

    /// Whether this is the work folder itself.
    pub fn is_work_folder(&self) -> bool {
        self.components.is_empty()
    }

    /// Whether `child` is this subtree or lies in it. Compares components, never text.
    pub fn covers(&self, child: &Self) -> bool {
        child.components.starts_with(&self.components)
    }
}

impl Grammar for PathRule {
    const FORM: &'static str = "a relative path that stays in the work folder, as `src/data`";
    const PATTERN: &'static str = r"^\s*([^\s/\u0000][^\u0000]*)?$";
}

impl FromStr for PathRule {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.trim();
        check_bytes(path)?;
        if path.starts_with('/') {
            return Err(InvalidPath::Absolute { path: path.to_owned() });
        }
        let mut components = Vec::new();
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    if components.pop().is_none() {
                        return Err(InvalidPath::Escapes { path: path.to_owned() });
                    }
                }
                name => components.push(name.to_owned()),
            }
        }
        Ok(Self { components })
    }
}

impl fmt::Display for PathRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_work_folder() {
            f.write_str(".")
        } else {
            f.write_str(&self.components.join("/"))
        }
    }
}

text_serde!(PathRule);

/// A file of a package: a relative path without `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackagePath(PathRule);

impl PackagePath {
    /// The names from the package's folder down; at least one.
    pub fn components(&self) -> &[String] {
        self.0.components()
    }
}

impl Grammar for PackagePath {
    const FORM: &'static str = "a relative path without `..`, as `docs/skill.md`";
    const PATTERN: &'static str = r"^\s*[^\s/\u0000][^\u0000]*$";
}

impl FromStr for PackagePath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.split('/').any(|name| name.trim() == "..") {
            return Err(InvalidPath::Parent { path: text.trim().to_owned() });
        }
        let path: PathRule = text.parse()?;
        if path.is_work_folder() { Err(InvalidPath::Empty) } else { Ok(Self(path)) }
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_serde!(PackagePath);

/// The components of an absolute path; `.` and doubled slashes dropped, `..` refused.
fn absolute(path: &str) -> Result<String, InvalidPath> {
    let mut clean = String::with_capacity(path.len());
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return Err(InvalidPath::Parent { path: path.to_owned() }),
            name => {
                clean.push('/');
                clean.push_str(name);
            }
        }
    }
    Ok(clean)
}

/// An absolute path on the host, without `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsolutePath(String);

impl AbsolutePath {
    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path.
    pub fn as_path(&self) -> &std::path::Path {
        self.0.as_ref()
    }
}

impl Grammar for AbsolutePath {
    const FORM: &'static str = "an absolute path without `..`, as `/opt/runtime`";
    const PATTERN: &'static str = r"^\s*/[^\u0000]*$";
}

impl FromStr for AbsolutePath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.trim();
        check_bytes(path)?;
        if path.is_empty() {
            return Err(InvalidPath::Empty);
        }
        if !path.starts_with('/') {
            return Err(InvalidPath::Relative { path: path.to_owned() });
        }
        let clean = absolute(path)?;
        Ok(Self(if clean.is_empty() { "/".to_owned() } else { clean }))
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(AbsolutePath);

/// A folder of the host, absolute or below the operator's home folder (`~/…`); never `/` itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPath {
    /// Whether it is written with `~`.
    home: bool,
    /// From `/` or from the home folder, beginning with `/`; empty for the home folder itself.
    rest: String,
}

impl HostPath {
    /// The absolute path, `home` being the operator's home folder.
    pub fn resolve(&self, home: &std::path::Path) -> std::path::PathBuf {
        let relative = self.rest.trim_start_matches('/');
        match (self.home, relative) {
            (true, "") => home.to_owned(),
            (true, relative) => home.join(relative),
            (false, _) => std::path::PathBuf::from(&self.rest),
        }
    }
}

impl Grammar for HostPath {
    const FORM: &'static str =
        "an absolute path or `~/…`, without `..` and not `/`, as `/srv/cache`";
    const PATTERN: &'static str = r"^\s*(/|~\s*$|~/)[^\u0000]*$";
}

impl FromStr for HostPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.trim();
        check_bytes(path)?;
        if path.is_empty() {
            return Err(InvalidPath::Empty);
        }
        let (home, below) = match path.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => (true, below),
            Some(_) | None => (false, path),
        };
        if !home && !below.starts_with('/') {
            return Err(InvalidPath::Relative { path: path.to_owned() });
        }
        let rest = absolute(below)?;
        if !home && rest.is_empty() {
            return Err(InvalidPath::Root);
        }
        Ok(Self { home, rest })
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.home { "~" } else { "" }, self.rest)
    }
}

text_serde!(HostPath);

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PathRule {
        text.parse().unwrap()
    }

    #[test]
    fn a_subtree_is_resolved_by_its_components() {
        for (text, shown) in [
            ("data", "data"),
            ("./data/", "data"),
            ("data//in", "data/in"),
            ("data/in/../out", "data/out"),
            ("a/../b", "b"),
            ("a/..", "."),
            ("", "."),
            (".", "."),
            ("./", "."),
            (" data ", "data"),
            ("...", "..."),
            ("~", "~"),
            ("ä/\n\"", "ä/\n\""),
        ] {
            assert_eq!(rule(text).to_string(), shown, "{text:?}");
        }
    }

    #[test]
    fn a_path_out_of_the_work_folder_is_refused() {
        for (text, message) in [
            ("/data", "`/data` is absolute"),
            ("..", "`..` leaves the work folder through `..`"),
            ("../..", "`../..` leaves the work folder through `..`"),
            ("a/../../b", "`a/../../b` leaves the work folder through `..`"),
            ("a\0b", "the path has a NUL byte"),
        ] {
            assert_eq!(text.parse::<PathRule>().unwrap_err().to_string(), message, "{text:?}");
        }
        assert!("n".repeat(255).parse::<PathRule>().is_ok());
        assert!("n".repeat(256).parse::<PathRule>().is_err());
        assert!("n/".repeat(2048).parse::<PathRule>().is_err());
    }

    #[test]
    fn a_subtree_covers_itself_and_what_lies_in_it() {
        for (parent, child, covered) in [
            ("data", "data", true),
            ("data", "data/in", true),
            ("data", "data/in/../in", true),
            ("data", "./data", true),
            ("data", ".", false),
            ("data", "other", false),
            ("data", "data/../other", false),
            ("data", "data2", false),
            (".", "data", true),
            (".", ".", true),
        ] {
            assert_eq!(rule(parent).covers(&rule(child)), covered, "{parent} {child}");
        }
    }

    #[test]
    fn an_absolute_path_is_absolute_and_plain() {
        for (text, shown) in [("/", "/"), ("/opt//py/", "/opt/py"), ("/opt/./py", "/opt/py")] {
            assert_eq!(text.parse::<AbsolutePath>().unwrap().to_string(), shown, "{text}");
        }
        for (text, message) in [
            ("", "the path is empty"),
            ("opt", "`opt` is relative"),
            ("~/x", "`~/x` is relative"),
            ("/opt/../etc", "`/opt/../etc` has a `..`"),
        ] {
            assert_eq!(text.parse::<AbsolutePath>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_host_folder_may_lie_below_the_home_folder() {
        let home = std::path::Path::new("/home/ann");
        for (text, shown, resolved) in [
            ("/srv/cache/", "/srv/cache", "/srv/cache"),
            ("~/.cache", "~/.cache", "/home/ann/.cache"),
            ("~", "~", "/home/ann"),
            ("~/", "~", "/home/ann"),
            ("/~", "/~", "/~"),
        ] {
            let path: HostPath = text.parse().unwrap();
            assert_eq!(path.to_string(), shown);
            assert_eq!(path.resolve(home), std::path::Path::new(resolved));
        }
        for (text, message) in [
            ("/", "`/` is the whole host"),
            ("/.", "`/` is the whole host"),
            ("~bob/x", "`~bob/x` is relative"),
            ("~/../bob", "`/../bob` has a `..`"),
            ("cache", "`cache` is relative"),
        ] {
            assert_eq!(text.parse::<HostPath>().unwrap_err().to_string(), message);
        }
    }
}
