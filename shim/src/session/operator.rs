//! Reads the operator's files and folders, and says what of them a policy may grant.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mur_manifest::operator::{OperatorConfig, OperatorErrors, OperatorFiles, OperatorWarning};
use mur_manifest::{Code, Coded, ContainmentFloor};
use mur_policy::{Notice, OperatorGrants};

use super::error::io_code;
use super::home::Home;
use super::request::Surroundings;

/// The machine-wide default, below the operator's own file.
const MACHINE_CONFIG: &str = "/etc/murmur/config.yaml";

/// The bits of a mode that let the group or everybody read.
const READ_BY_OTHERS: u32 = 0o044;

/// The operator's configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorError {
    /// A file is there and cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// A file has faults.
    #[error("the files have faults")]
    Parse(#[source] OperatorErrors),
    /// A host folder is not there, or is no folder.
    #[error("`host_paths[{index}]` of the config names `{}`, which is no folder that can be opened", path.display())]
    HostPath {
        /// Its place in the list.
        index: usize,
        /// As it was written, `~` expanded.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl Coded for OperatorError {
    fn code(&self) -> Code {
        match self {
            Self::Read { source, .. } => io_code(source),
            Self::Parse(errors) => errors.code(),
            Self::HostPath { .. } => Code::ECap205,
        }
    }

    fn fix(&self) -> Option<String> {
        match self {
            Self::Parse(errors) => errors.fix(),
            Self::Read { .. } | Self::HostPath { .. } => None,
        }
    }
}

/// What the operator says, and what is worth saying about it.
#[derive(Debug)]
pub struct Operator {
    /// What a policy is lowered with.
    pub grants: OperatorGrants,
    /// Keys that are unknown or ignored.
    pub warnings: Vec<OperatorWarning>,
    /// Files with secrets that others of this machine may read.
    pub notices: Vec<Notice>,
}

/// Reads the three files, where they exist, and checks the host folders they grant.
pub fn read(
    home: &Home,
    surroundings: &Surroundings,
    flag: Option<ContainmentFloor>,
) -> Result<Operator, OperatorError> {
    let machine_path = Path::new(MACHINE_CONFIG);
    let global_path = home.root().join("config.yaml");
    let machine = contents(machine_path)?;
    let global = contents(&global_path)?;
    let project = contents(&surroundings.current_dir.join(".murmur/config.yaml"))?;
    let files = OperatorFiles {
        machine: machine.as_deref(),
        global: global.as_deref(),
        project: project.as_deref().filter(|_| surroundings.current_dir != home.user()),
    };
    let config = OperatorConfig::parse(files).map_err(OperatorError::Parse)?;
    let mut grants = OperatorGrants::new(&config, flag, home.user());
    for (index, folder) in grants.host_paths.iter_mut().enumerate() {
        folder.path = open_folder(&folder.path).map_err(|source| OperatorError::HostPath {
            index,
            path: folder.path.clone(),
            source,
        })?;
    }
    let secretive = [(machine_path, &machine), (&global_path, &global)];
    let notices = secretive
        .into_iter()
        .filter_map(|(path, bytes)| bytes.as_deref().and_then(|bytes| open_secrets(path, bytes)));
    Ok(Operator { grants, warnings: config.warnings, notices: notices.collect() })
}

/// The warning of a file whose secrets others of this machine may read.
fn open_secrets(path: &Path, bytes: &[u8]) -> Option<Notice> {
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    if mode & READ_BY_OTHERS == 0 || !has_secrets(bytes) {
        return None;
    }
    let path = path.display();
    Some(Notice {
        code: Code::WSec028,
        text: format!("`{path}` holds secrets and has mode {mode:o}: run `chmod 600 {path}`"),
        reference: format!("mur explain --code {}", Code::WSec028),
        at: None,
    })
}

/// Whether one of the operator's files has a value that opens something.
fn has_secrets(bytes: &[u8]) -> bool {
    let alone = OperatorFiles { global: Some(bytes), ..OperatorFiles::default() };
    OperatorConfig::parse(alone).is_ok_and(|config| {
        !config.credentials.is_empty()
            || config.inference.api_key.is_some()
            || config.registry.sources.iter().any(|source| source.token.is_some())
    })
}

/// The folder behind every link; a policy judges what is really granted.
fn open_folder(path: &Path) -> std::io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if real.is_dir() { Ok(real) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
}

fn contents(path: &Path) -> Result<Option<Vec<u8>>, OperatorError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(source) => Err(OperatorError::Read { path: path.into(), source }),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use mur_policy::ContainmentClass;

    use super::*;

    fn surroundings(home: &Path, current_dir: &Path) -> Surroundings {
        Surroundings {
            home: Some(home.into()),
            search_path: OsString::new(),
            environment: Vec::new(),
            current_dir: current_dir.into(),
        }
    }

    #[test]
    fn the_strongest_floor_of_all_files_counts_and_a_flag_is_handed_on() {
        let scratch = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        for (folder, floor) in [(scratch.path(), "scoped"), (project.path(), "advisory")] {
            std::fs::create_dir(folder.join(".murmur")).unwrap();
            let text = format!("containment: {floor}\n");
            std::fs::write(folder.join(".murmur/config.yaml"), text).unwrap();
        }
        let home = Home::locate(Some(scratch.path().as_os_str())).unwrap();
        let around = surroundings(scratch.path(), project.path());
        let grants = read(&home, &around, Some(ContainmentFloor::Sealed)).unwrap().grants;
        assert_eq!(grants.config_floor, Some(ContainmentClass::Scoped));
        assert_eq!(grants.flag, Some(ContainmentClass::Sealed));
    }

    #[test]
    fn a_host_folder_is_granted_as_what_its_links_lead_to() {
        let scratch = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(scratch.path().as_os_str())).unwrap();
        std::fs::create_dir(scratch.path().join(".murmur")).unwrap();
        std::fs::create_dir(scratch.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", scratch.path().join("link")).unwrap();
        let write = |path: &str| {
            let text = format!("host_paths:\n  - {{path: {path}, access: read}}\n");
            std::fs::write(scratch.path().join(".murmur/config.yaml"), text).unwrap();
        };
        let around = surroundings(scratch.path(), scratch.path());
        write("~/link");
        let grants = read(&home, &around, None).unwrap().grants;
        assert_eq!(grants.host_paths[0].path, scratch.path().canonicalize().unwrap().join("real"));
        write("~/missing");
        let refused = read(&home, &around, None).unwrap_err();
        assert_eq!(refused.code(), Code::ECap205);
    }

    #[test]
    fn a_file_with_secrets_that_others_may_read_is_a_warning() {
        let scratch = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(scratch.path().as_os_str())).unwrap();
        std::fs::create_dir(scratch.path().join(".murmur")).unwrap();
        let file = scratch.path().join(".murmur/config.yaml");
        let around = surroundings(scratch.path(), scratch.path());
        for (text, mode, warned) in [
            ("credentials: {LLM_KEY: hush}\n", 0o644, true),
            ("credentials: {LLM_KEY: hush}\n", 0o640, true),
            ("credentials: {LLM_KEY: hush}\n", 0o600, false),
            ("inference: {api_key: hush}\n", 0o604, true),
            ("registry: {sources: [{repo: a/b, token: hush}]}\n", 0o644, true),
            ("containment: scoped\n", 0o644, false),
        ] {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let notices = read(&home, &around, None).unwrap().notices;
            assert_eq!(notices.len(), usize::from(warned), "{text} {mode:o}");
            for notice in notices {
                assert_eq!(notice.code, Code::WSec028);
                let fix = format!("has mode {mode:o}: run `chmod 600 {}`", file.display());
                assert!(notice.text.contains(&fix) && !notice.text.contains("hush"), "{notice}");
            }
        }
    }
}
