//! Every command of the README and of `docs/` runs, as it stands there.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mur_integration::{Run, Runtime, Scratch, need};

/// Commands that build or test the project itself: whoever runs this test has just done that.
const OF_THE_PROJECT: [&str; 2] = ["cargo ", "make "];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The lines of all ```` ```sh ```` blocks of a page, without those of the project itself.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks
        .flat_map(str::lines)
        .filter(|line| !OF_THE_PROJECT.iter().any(|own| line.starts_with(own)))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .collect()
}

/// A folder like a checkout, with `mur` on the path and a home of its own.
fn checkout(scratch: &Scratch) -> PathBuf {
    let folder = scratch.folder("checkout");
    let examples = project().join("examples");
    Command::new("cp").arg("-r").arg(&examples).arg(&folder).finish().ok();
    symlink(Runtime::under_test().program(), scratch.folder("bin").join("mur")).unwrap();
    folder
}

#[test]
fn every_command_of_the_documents_runs() {
    if !(need::ours(Runtime::under_test()) && need::landlock() && need::root()) {
        return;
    }
    let scratch = Scratch::outside_tmp();
    let folder = checkout(&scratch);
    let path = format!(
        "{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        scratch.folder("bin").display()
    );
    let docs = fs::read_dir(project().join("docs")).unwrap().flatten().map(|entry| entry.path());
    let pages = docs.chain([project().join("README.md")]);
    let mut ran = 0;
    for page in pages.filter(|page| page.extension().is_some_and(|end| end == "md")) {
        let text = fs::read_to_string(&page).unwrap();
        for line in commands(&text) {
            let mut command = Command::new("bash");
            command.args(["-euc", line]).current_dir(&folder).env_clear();
            command.env("PATH", &path).env("HOME", scratch.folder("home"));
            let done = command.finish_within(Duration::from_secs(120));
            assert_eq!(done.code, 0, "{}: `{line}`: {done}", page.display());
            ran += 1;
        }
    }
    assert!(ran >= 7, "only {ran} commands were found");
}
