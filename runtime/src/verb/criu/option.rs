//! Decides what criu is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cgroup::{Layout, Placement};

/// What becomes of the processes once they are on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterDump {
    /// They are ended.
    #[default]
    End,
    /// They run on (`--leave-running`).
    Run,
    /// They run on, and only memory is written, for a quicker dump later (`--pre-dump`).
    RunOnWithMemoryWritten,
}

/// The choices of `checkpoint` and `restore` that are criu's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriuOptions {
    /// Folder of the images.
    pub images: PathBuf,
    /// Folder for logs and temporary files; the images' when absent.
    pub work: Option<PathBuf>,
    /// Folder of the images of a dump before, relative to `images`.
    pub parent: Option<PathBuf>,
    /// Flags that are passed on as they are, as `--tcp-established`.
    pub flags: Vec<&'static str>,
    /// How control groups are treated; `soft` when absent.
    pub manage_cgroups: Option<String>,
    /// Address and port of a page server.
    pub page_server: Option<(String, String)>,
    /// A descriptor that gets a byte when the page server is ready.
    pub status_fd: Option<i32>,
}

impl CriuOptions {
    /// Folder for logs.
    pub fn work(&self) -> &Path {
        self.work.as_deref().unwrap_or(&self.images)
    }

    /// What both directions have in common.
    fn common(&self, action: &str, log: &str) -> Vec<OsString> {
        let mut list = Arguments::default();
        list.word(action);
        list.pair("--images-dir", self.images.as_os_str());
        list.pair("--work-dir", self.work().as_os_str());
        list.pair("--log-file", log);
        list.word("-v4");
        for flag in &self.flags {
            list.word(flag);
        }
        // Binds of the host are found again by their place on the host.
        list.pair("--external", "mnt[]:sm");
        list.0
    }

    /// Arguments that dump the tree of `pid`.
    pub(super) fn dump(&self, pid: i32, after: AfterDump, log: &str) -> Vec<OsString> {
        let action = match after {
            AfterDump::RunOnWithMemoryWritten => "pre-dump",
            AfterDump::End | AfterDump::Run => "dump",
        };
        let mut list = Arguments(self.common(action, log));
        list.pair("--tree", pid.to_string());
        let mode = self.manage_cgroups.as_deref().unwrap_or("soft");
        list.word(&format!("--manage-cgroups={mode}"));
        match after {
            AfterDump::End => {}
            AfterDump::Run => list.word("--leave-running"),
            AfterDump::RunOnWithMemoryWritten => list.word("--track-mem"),
        }
        if let Some(parent) = &self.parent {
            list.pair("--prev-images-dir", parent.as_os_str());
            list.word("--track-mem");
        }
        if let Some((address, port)) = &self.page_server {
            list.word("--page-server");
            list.pair("--address", address.as_str());
            list.pair("--port", port.as_str());
        }
        if let Some(fd) = self.status_fd {
            list.pair("--status-fd", fd.to_string());
        }
        list.0
    }

    /// Arguments that restore a tree below `root` and write its first number to `pid_file`.
    pub(super) fn restore(
        &self,
        root: &Path,
        pid_file: &Path,
        placement: &Placement,
        layout: &Layout,
        log: &str,
    ) -> Vec<OsString> {
        let mut list = Arguments(self.common("restore", log));
        list.pair("--root", root.as_os_str());
        list.pair("--pidfile", pid_file.as_os_str());
        // The first process becomes a child of the caller, and criu ends.
        list.word("--restore-detached");
        list.word("--restore-sibling");
        let default = if placement.is_empty() { "ignore" } else { "soft" };
        let mode = self.manage_cgroups.as_deref().unwrap_or(default);
        list.word(&format!("--manage-cgroups={mode}"));
        for root in group_roots(placement, layout) {
            list.pair("--cgroup-root", root);
        }
        list.0
    }
}

/// Where the groups of the images are moved to, as criu writes it: `controllers:/path`.
fn group_roots(placement: &Placement, layout: &Layout) -> Vec<String> {
    let mut roots = Vec::new();
    for hierarchy in &layout.v1 {
        let placed = placement.v1_of(&hierarchy.subsystems[0]);
        let below = placed.and_then(|path| path.strip_prefix(&hierarchy.mount).ok());
        if let Some(below) = below {
            roots.push(format!("{}:/{}", hierarchy.subsystems.join(","), below.display()));
        }
    }
    if let (Some(path), Some(v2)) = (&placement.v2, &layout.v2)
        && layout.v1.is_empty()
        && let Ok(below) = path.strip_prefix(&v2.mount)
    {
        roots.push(format!("/{}", below.display()));
    }
    roots
}

/// Arguments under construction.
#[derive(Debug, Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn word(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn pair(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.push(name.into());
        self.0.push(value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[OsString]) -> String {
        list.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_dump_says_what_becomes_of_the_processes() {
        let options = CriuOptions {
            images: "/i".into(),
            flags: vec!["--tcp-established"],
            ..CriuOptions::default()
        };
        let common = "--images-dir /i --work-dir /i --log-file l -v4 --tcp-established \
                      --external mnt[]:sm --tree 7 --manage-cgroups=soft";
        for (after, line) in [
            (AfterDump::End, format!("dump {common}")),
            (AfterDump::Run, format!("dump {common} --leave-running")),
            (AfterDump::RunOnWithMemoryWritten, format!("pre-dump {common} --track-mem")),
        ] {
            assert_eq!(words(&options.dump(7, after, "l")), line);
        }
    }

    #[test]
    fn groups_are_moved_to_those_of_the_new_container() {
        let options = CriuOptions { images: "/i".into(), ..CriuOptions::default() };
        let layout = Layout::parse("1 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/\n");
        let placement = Placement { v2: Some("/cg/mur-web".into()), ..Placement::default() };
        let line =
            words(&options.restore(Path::new("/r"), Path::new("/p"), &placement, &layout, "l"));
        assert!(line.ends_with("--manage-cgroups=soft --cgroup-root /mur-web"), "{line}");
        let nothing = Placement::default();
        let line =
            words(&options.restore(Path::new("/r"), Path::new("/p"), &nothing, &layout, "l"));
        assert!(line.ends_with("--manage-cgroups=ignore"), "{line}");
    }
}
