//! Which programs run.

use std::fs;

use mur_integration::{Scratch, leftover};

use crate::Control::Succeeds;
use crate::{expect, in_each_shape, possible};

#[test]
fn no_program_runs_that_the_manifest_does_not_name() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let work = capsule.work().display();
        let copy = format!("exec-copy=/usr/bin/env,{work}/copy");
        let renamed = format!("exec-copy=/usr/bin/env,{work}/mur-probe");
        let hidden = format!("exec-copy=/usr/bin/env,{work}/.hidden");
        let tmp = format!("/tmp/{}-{class:?}-{caller:?}", scratch.tag());
        let in_tmp = format!("exec-copy=/usr/bin/env,{tmp}");
        let table = [
            ("exec=/usr/bin/env", "EACCES", Succeeds),
            ("exec=/usr/bin/perl", "EACCES", Succeeds),
            (copy.as_str(), "EACCES", Succeeds),
            (renamed.as_str(), "EACCES", Succeeds),
            (hidden.as_str(), "EACCES", Succeeds),
            (in_tmp.as_str(), "EACCES", Succeeds),
        ];
        expect(&capsule, &format!("{class:?} by {caller:?}"), &table);
        fs::remove_file(tmp).unwrap();
    });
    leftover::nothing_of(&scratch);
}

/// The loader runs any file that may be mapped executable; where everything else is `noexec`, none may.
#[test]
fn the_loader_of_an_allowed_program_runs_no_other() {
    if !possible() {
        return;
    }
    let scratch = Scratch::outside_tmp();
    in_each_shape(&scratch, |class, caller, capsule| {
        let capsule = capsule.allowing("cat");
        let work = capsule.work();
        fs::copy("/usr/bin/env", work.join("copy")).unwrap();
        if let Some(user) = capsule.user() {
            user.own(&work.join("copy"));
        }
        let map_copy = format!("map-exec={}/copy", work.display());
        let load_copy =
            format!("exec=/lib64/ld-linux-x86-64.so.2,{}/copy,--version", work.display());
        let words = [
            "exec=/lib64/ld-linux-x86-64.so.2,/usr/bin/cat,--version",
            "exec=/lib64/ld-linux-x86-64.so.2,/usr/bin/env,--version",
            &load_copy,
            &map_copy,
            "map-exec=/usr/bin/env",
        ];
        let outside: Vec<String> =
            capsule.probe_outside(&words).into_iter().map(|one| one.result + &one.detail).collect();
        assert_eq!(outside, ["ranexit 0", "ranexit 0", "ranexit 0", "ok", "ok"]);
        let inside: Vec<String> =
            capsule.probe(&words).into_iter().map(|one| one.result + &one.detail).collect();
        assert_eq!(inside[0], "ranexit 0", "{class:?} by {caller:?}");
        assert_eq!(inside[1..3], ["ranexit 127", "ranexit 127"], "{class:?} by {caller:?}");
        assert!(
            inside[3..].iter().all(|result| result == "EPERM" || result == "EACCES"),
            "{inside:?}"
        );
    });
    leftover::nothing_of(&scratch);
}
