//! `process` and `deploy`: the process of a capsule without an agent, and what a deployment needs.

use std::collections::BTreeMap;

use crate::block::block;
use crate::grammar::EnvName;
use crate::location::Spanned;
use crate::reader::{Entries, Reader};

block! {
    /// The process of a capsule without an agent.
    pub struct Process {
        /// Program and arguments; the program is one that `shell.allow` names.
        required args: Vec<Spanned<String>>,
        /// Working directory; the work folder where absent.
        optional cwd: Spanned<String>,
        /// Variables, literally. The strip list and the names the runtime owns hold for them too.
        default env: BTreeMap<EnvName, Spanned<String>> = BTreeMap::new(),
        /// Whether it gets a terminal.
        default terminal: bool = false,
    }
    check check_process;
}

/// There is a program.
fn check_process(block: &mut Process, reader: &mut Reader<'_>, entries: &Entries) {
    let accepted = Some("the program and its arguments, as `[python3, main.py]`");
    if reader.length(entries, "args") == 0 {
        let at = reader.place_of(entries, "args");
        reader.refuse(at, "the list is empty".to_owned(), accepted);
    }
    if let Some(program) = block.args.first().filter(|program| program.value.trim().is_empty()) {
        reader.refuse(program.at.clone(), "the program has no name".to_owned(), accepted);
    }
}

block! {
    /// What a deployment needs; `run` ignores it.
    pub struct Deploy: Default {
        /// The version of mur that is deployed with the capsule.
        optional mur_version: String,
    }
}
