//! Where a session's folders are, and whether one lies inside the work folder: `spec/containment.md` §6.8.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The literal segment that stands for a session's id in every path of a report.
pub const SESSION_ID_PLACEHOLDER: &str = "<session-id>";

/// The name of a session's temporary folder below its records folder.
pub const SESSION_TEMP_DIR_NAME: &str = "tmp";

/// The name of a session's home folder below its records folder.
pub const SESSION_HOME_DIR_NAME: &str = "home";

/// The folders of one session, as text for decisions and reports.
///
/// All paths are absolute and already resolved by the caller through their nearest existing ancestor;
/// where a session id belongs they hold [`SESSION_ID_PLACEHOLDER`], so that a dry run and a launch read alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The work folder.
    pub workdir: PathBuf,
    /// The operator's `~/.murmur`.
    pub murmur_home: PathBuf,
    /// What commands read as `MURMUR_RUNTIME_DIR`.
    pub runtime_dir: PathBuf,
    /// What commands read as `MURMUR_RECORDS_DIR`; holds `tmp/` and `home/`.
    pub records_dir: PathBuf,
    /// The host's `/tmp`, resolved.
    pub host_tmp: PathBuf,
}

impl Placement {
    /// The folders of a session of `workdir` under `murmur_home`, as `spec/containment.md` §6.8 lays them out.
    pub fn of_session(workdir: &Path, murmur_home: &Path, host_tmp: &Path) -> Self {
        let below_root = workdir.strip_prefix("/").unwrap_or(workdir);
        Self {
            workdir: workdir.into(),
            murmur_home: murmur_home.into(),
            runtime_dir: murmur_home.join("sessions").join(SESSION_ID_PLACEHOLDER).join("runtime"),
            records_dir: murmur_home.join("records").join(below_root).join(SESSION_ID_PLACEHOLDER),
            host_tmp: host_tmp.into(),
        }
    }

    /// The session's temporary folder.
    pub fn temp_dir(&self) -> PathBuf {
        self.records_dir.join(SESSION_TEMP_DIR_NAME)
    }

    /// The session's home folder, `HOME` of its commands.
    pub fn home_dir(&self) -> PathBuf {
        self.records_dir.join(SESSION_HOME_DIR_NAME)
    }

    /// The folder of one state store.
    pub fn state_dir(&self, store: &str) -> PathBuf {
        self.murmur_home.join("state").join(store)
    }

    /// Whether the runtime folder lies at or below the work folder.
    pub fn runtime_dir_inside(&self) -> bool {
        self.runtime_dir.starts_with(&self.workdir)
    }

    /// Whether the records folder lies at or below the work folder.
    pub fn records_dir_inside(&self) -> bool {
        self.records_dir.starts_with(&self.workdir)
    }

    /// Whether a command could reach a session folder through the work folder.
    pub fn inside_workdir(&self) -> bool {
        self.runtime_dir_inside() || self.records_dir_inside()
    }

    /// Whether the work folder is the host's `/tmp` itself; one beneath it is not.
    pub fn workdir_is_tmp(&self) -> bool {
        self.workdir == self.host_tmp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lays_its_folders_out_below_the_murmur_home() {
        let placement = Placement::of_session(
            Path::new("/work/proj"),
            Path::new("/home/u/.murmur"),
            Path::new("/tmp"),
        );
        assert_eq!(
            placement.runtime_dir,
            Path::new("/home/u/.murmur/sessions/<session-id>/runtime")
        );
        assert_eq!(
            placement.temp_dir(),
            Path::new("/home/u/.murmur/records/work/proj/<session-id>/tmp")
        );
        assert_eq!(
            placement.home_dir(),
            Path::new("/home/u/.murmur/records/work/proj/<session-id>/home")
        );
        assert_eq!(placement.state_dir("x"), Path::new("/home/u/.murmur/state/x"));
        assert!(!placement.inside_workdir());
    }

    #[test]
    fn inside_compares_components_not_strings() {
        for (workdir, home, inside) in [
            ("/home/u", "/home/u/.murmur", true),
            ("/", "/home/u/.murmur", true),
            ("/home/u/.mur", "/home/u/.murmur", false),
            ("/home/u/.murmur", "/home/u/.murmur", true),
            ("/srv", "/home/u/.murmur", false),
        ] {
            let placement =
                Placement::of_session(Path::new(workdir), Path::new(home), Path::new("/tmp"));
            assert_eq!(placement.inside_workdir(), inside, "{workdir} {home}");
        }
    }

    #[test]
    fn only_the_temporary_folder_itself_counts_as_tmp() {
        for (workdir, is_tmp) in [("/tmp", true), ("/tmp/x", false), ("/", false)] {
            let placement = Placement::of_session(
                Path::new(workdir),
                Path::new("/home/u/.murmur"),
                Path::new("/tmp"),
            );
            assert_eq!(placement.workdir_is_tmp(), is_tmp, "{workdir}");
        }
    }
}
