//! Files, folders, sockets and processes of the host.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use mur_integration::{Caller, Class, Scratch, leftover};

use crate::Control::{Differs, Succeeds};
use crate::{expect, in_each_shape, possible};

#[test]
fn secrets_of_the_host_are_absent_from_a_sealed_capsule_and_refused_to_a_scoped_one() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        let closed = if class == Class::Sealed { "ENOENT" } else { "EACCES" };
        // What root alone may read outside is its own control; a user is refused there by the mode.
        let roots = if caller == Caller::Root { Succeeds } else { Differs("EACCES") };
        expect(
            &capsule,
            &what,
            &[
                ("read=/etc/shadow", closed, roots),
                ("list=/root", closed, roots),
                ("list=/home", closed, Succeeds),
                ("list=/var/tmp", closed, Succeeds),
                (
                    "read=/etc/machine-id",
                    closed,
                    if fs::read("/etc/machine-id").is_ok() { Succeeds } else { Differs("ENOENT") },
                ),
                ("list=/var/log", closed, Succeeds),
                ("list=/sys/kernel", "ENOENT|EACCES", Succeeds),
                ("list=/run", closed, Succeeds),
            ]
            .into_iter()
            .filter(|(word, _, _)| {
                *word != "read=/etc/machine-id" || fs::metadata("/etc/machine-id").is_ok()
            })
            .collect::<Vec<_>>(),
        );
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn a_socket_of_the_host_is_out_of_reach() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let path = scratch.path().join("host.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let abstract_name = scratch.name("abstract");
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _abstract_listener = UnixListener::bind_addr(&address).unwrap();
    let named = format!("connect-unix={}", path.display());
    let nameless = format!("connect-abstract={abstract_name}");
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        // Without the grant no socket of the family is made at all.
        expect(&capsule, &what, &[(&named, "EACCES", Succeeds), (&nameless, "EACCES", Succeeds)]);
        let capsule = capsule.with("  network:\n    unix_sockets: true\n");
        // The capsule's own network namespace has no such name; Landlock's scope says EPERM.
        expect(
            &capsule,
            &what,
            &[("socket-unix", "ok", Succeeds), (&nameless, "ECONNREFUSED|EPERM", Succeeds)],
        );
        // The grant is for the family: on the host's own root a path is held only by Landlock ABI 9.
        if class == Class::Sealed {
            expect(&capsule, &what, &[(&named, "ENOENT", Succeeds)]);
        }
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn processes_of_the_host_are_neither_seen_nor_signalled() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        // A process of the same caller, so that outside nothing but the capsule stands between.
        let mut sleeper = capsule.outside("/bin/sleep".as_ref(), &["1000"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let pid = sleeper.id();
        let words = [
            format!("stat=/proc/{pid}"),
            format!("read=/proc/{pid}/cmdline"),
            format!("kill-0={pid}"),
            format!("pidfd-open={pid}"),
        ];
        let result = std::panic::catch_unwind(|| {
            expect(
                &capsule,
                &format!("{class:?} by {caller:?}"),
                &[
                    (&words[0], "ENOENT", Succeeds),
                    (&words[1], "ENOENT", Succeeds),
                    (&words[2], "ESRCH", Succeeds),
                    (&words[3], "ESRCH", Succeeds),
                ],
            );
            // Its own are all that it sees: the first process, the probe, the probe's attempt.
            let seen = &capsule.probe(&["list=/proc"])[0];
            let processes = seen
                .detail
                .split(' ')
                .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
            assert!(processes.count() <= 4, "{}", seen.detail);
        });
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn nothing_can_be_written_but_the_work_folder_tmp_and_home() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let outside = scratch.folder("anybodys");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o1777)).unwrap();
    let beside = format!("try-create={}/file", outside.display());
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        let work = format!("create={}/made", capsule.work().display());
        let is_sealed = class == Class::Sealed;
        let (refused, absent) = ("EROFS|EACCES", if is_sealed { "ENOENT" } else { "EROFS|EACCES" });
        let by_root = if caller == Caller::Root { Succeeds } else { Differs("EACCES") };
        let creates = ["usr/", "etc/", "var/", ""]
            .map(|place| format!("try-create=/{place}{}", scratch.name("x")));
        expect(
            &capsule,
            &what,
            &[
                (&beside, absent, Succeeds),
                (&creates[0], refused, by_root),
                (&creates[1], refused, by_root),
                (&creates[2], absent, by_root),
                (&creates[3], refused, by_root),
            ],
        );
        let inside = capsule.probe(&[
            &work,
            "create=/tmp/made",
            "mkdir=/tmp/folder",
            "rename=/tmp/made,/tmp/folder/moved",
        ]);
        assert!(inside.iter().all(|one| one.result == "ok"), "{what}: {inside:?}");
        assert!(capsule.work().join("made").exists());
        assert!(!std::path::Path::new("/tmp/folder").exists(), "the host's /tmp was written");
    });
    leftover::nothing_of(&scratch);
}

#[test]
fn a_read_only_subtree_holds_and_cannot_be_moved_aside() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let what = format!("{class:?} by {caller:?}");
        let capsule = capsule.with("  filesystem:\n    read_only: [a/b/kept]\n");
        let kept = capsule.work().join("a/b/kept");
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("file"), "kept").unwrap();
        if let Some(user) = capsule.user() {
            user.own_all(&capsule.work().join("a"));
        }
        let at = |path: &str| format!("{}/{path}", capsule.work().display());
        let words = [
            format!("read={}", at("a/b/kept/file")),
            format!("write={}", at("a/b/kept/file")),
            format!("create={}", at("a/b/kept/new")),
            format!("rename={},{}", at("a/b/kept"), at("a/b/moved")),
            format!("rename={},{}", at("a/b"), at("a/moved")),
            format!("rename={},{}", at("a"), at("moved")),
            format!("create={}", at("a/b/beside")),
            format!("rename={},{}", at("a/b/beside"), at("beside")),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let results: Vec<String> =
            capsule.probe(&words).into_iter().map(|one| one.result).collect();
        assert_eq!(
            results,
            ["ok", "EROFS", "EROFS", "EBUSY", "EBUSY", "EBUSY", "ok", "ok"],
            "{what}"
        );
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "kept");
    });
    leftover::nothing_of(&scratch);
}
