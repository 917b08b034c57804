use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use mur_bundle::{Folder, IdPair, SessionFolders};
use mur_policy::Caller;

use super::*;

/// A folder with a search path, a work folder and the session's folders.
struct Host {
    dir: tempfile::TempDir,
    request: LayoutRequest,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for folder in ["bin", "v2/bin", "work/src", "runtime", "records", "tmp", "home"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let folder = |name: &str| Folder { path: root.join(name), source: root.join(name) };
        let request = LayoutRequest {
            workdir: root.join("work"),
            workdir_state: WorkdirState::Existing,
            folders: SessionFolders {
                runtime: folder("runtime"),
                records: folder("records"),
                tmp: folder("tmp"),
                home: folder("home"),
            },
            search_path: root.join("bin").into_os_string(),
            environment: vec![
                ("LANG".into(), "C".into()),
                ("TOKEN".into(), "x".into()),
                ("GRANTED".into(), "y".into()),
            ],
            caller: Caller { uid: 4242, gid: 4343, privileged: false },
            identity: IdentityChoice::Natural,
            purpose: Purpose::Session,
            cache: None,
        };
        Self { dir, request }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(name)
    }

    fn program(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, allow: &[&str]) -> HostLayout {
        let mut policy = fixture::policy(allow);
        policy.env_allow = vec!["GRANTED".into()];
        read_layout(&policy, &self.request).unwrap()
    }
}

#[test]
fn a_script_behind_a_link_needs_its_interpreter_and_the_link() {
    let host = Host::new();
    let interpreter = host.path("v2/bin/interp");
    host.program("v2/bin/interp", "\0");
    host.program("v2/bin/tool", &format!("#!{}\n", interpreter.display()));
    symlink("../v2/bin/tool", host.path("bin/tool")).unwrap();
    let layout = host.read(&["tool", "absent"]);
    let [tool, absent] = layout.programs.as_slice() else { panic!("{:?}", layout.programs) };
    assert_eq!(tool.path, Some(host.path("bin/tool")));
    assert_eq!(tool.executables, [host.path("v2/bin/tool"), interpreter]);
    assert_eq!(absent.path, None);
    let link = layout.links.iter().find(|link| link.path == host.path("bin/tool")).unwrap();
    assert_eq!(link.target, PathBuf::from("../v2/bin/tool"));
}

#[test]
fn what_env_starts_is_followed_on_the_search_path() {
    let host = Host::new();
    host.program("bin/env", "\0");
    host.program("bin/inner", "\0");
    let env = host.path("bin/env");
    host.program("bin/tool", &format!("#!{} -S inner -u\n", env.display()));
    let layout = host.read(&["tool"]);
    let expected = [host.path("bin/tool"), env, host.path("bin/inner")];
    assert_eq!(layout.programs[0].executables, expected);
}

#[test]
fn a_caller_without_privilege_stays_itself_and_sees_where_it_may_not_go() {
    let host = Host::new();
    fs::set_permissions(host.path(""), fs::Permissions::from_mode(0o700)).unwrap();
    let layout = host.read(&[]);
    assert_eq!(layout.identity.uid, IdPair { inside: 4242, host: 4242 });
    assert_eq!(layout.identity.gid, IdPair { inside: 4343, host: 4343 });
    assert!(layout.closed_folders.contains(&host.path("")), "{:?}", layout.closed_folders);
    fs::set_permissions(host.path(""), fs::Permissions::from_mode(0o711)).unwrap();
    assert!(!host.read(&[]).closed_folders.contains(&host.path("")));
}

#[test]
fn a_bundle_takes_no_granted_value_and_no_disk_along() {
    let mut host = Host::new();
    let names = |layout: &HostLayout| -> Vec<String> {
        layout.environment.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&host.read(&[])), ["PATH", "LANG", "GRANTED"]);
    host.request.purpose = Purpose::Bundle;
    let layout = host.read(&[]);
    assert_eq!(names(&layout), ["PATH", "LANG"]);
    assert_eq!(layout.disk, None);
}

#[test]
fn a_work_folder_that_cannot_be_used_is_said() {
    let mut host = Host::new();
    for name in ["gone", "bin/file"] {
        fs::write(host.path("bin/file"), "").unwrap();
        host.request.workdir = host.path(name);
        let read = read_layout(&fixture::policy(&[]), &host.request);
        assert!(matches!(read, Err(LayoutError::WorkFolder { .. })), "{name}");
    }
}
