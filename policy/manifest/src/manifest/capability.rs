//! `capabilities`: what a capsule, or one artifact of it, asks to be allowed.

use std::collections::{HashMap, HashSet};

use super::limit::{Limits, Resources};
use crate::block::{block, words};
use crate::grammar::{
    AbsolutePath, ArtifactName, BinaryName, EnvName, EnvPattern, HostPath, InstallPattern,
};
use crate::location::Spanned;
use crate::reader::{Entries, Reader};

block! {
    /// What a capsule may do. An absent block is an absent grant.
    pub struct Capabilities: Default {
        /// The containment class the launch must reach at least; a requirement, not a grant.
        optional containment: Spanned<ContainmentFloor>,
        /// The work folder and what commands may do in it.
        optional filesystem: Filesystem,
        /// Outbound destinations and local sockets.
        optional network: NetworkGrant,
        /// Host programs the capsule may run.
        optional shell: Shell,
        /// Capsules this one may start.
        optional spawn: Spawn,
        /// Host variables that reach the capsule's process and its tools.
        optional env: EnvGrant,
        /// Whether plans may be submitted.
        optional plan: Plan,
        /// Artifacts that may be installed while the capsule runs.
        optional install: Install,
        /// Destinations that files may be fetched from.
        optional peer_fetch: PeerFetch,
        /// Bounds of a WASM guest, in its store.
        optional limits: Limits,
        /// Bounds the operating system puts on subprocesses.
        optional resources: Resources,
        /// A folder that outlives the session; on artifact entries.
        optional state: State,
        /// Whether a hook reads a task's text and answer; on hook entries.
        optional task_io: TaskIo,
        /// Whether a hook reads the conversation; on hook entries.
        optional conversation: Conversation,
        /// Host folders the coding harness may use.
        optional harness: Harness,
    }
}

words! {
    /// A containment class as a manifest, a config or a flag asks for it.
    pub enum ContainmentFloor {
        /// No mechanism at all; takes no part in a maximum of floors.
        Unconfined = "unconfined",
        /// Honoured by dispatch and convention.
        Advisory = "advisory",
        /// What is not granted is denied.
        Scoped = "scoped",
        /// What is not granted is absent.
        Sealed = "sealed",
    }
}

block! {
    /// The work folder and what commands may do in it.
    pub struct Filesystem: Default {
        /// The subtree of the work folder that commands see, relative to it; its shape is judged when staging (`E-CAP-002`).
        optional scope: Spanned<String>,
        /// Keep the right to execute files in the work folder; caps the achieved class at `advisory`.
        default workdir_exec: bool = false,
        /// Subtrees of the work folder that may be read but not written; their shape is judged when staging (`E-CAP-012`).
        default read_only: Vec<Spanned<String>> = Vec::new(),
        /// Hook entries only: the hook's folder is the `hooks/` of the records directory.
        default records: bool = false,
    }
    check drop_blanks;
}

/// Blanks around these paths do not count, and a blank path is none.
fn drop_blanks(block: &mut Filesystem, _reader: &mut Reader<'_>, _entries: &Entries) {
    let trim = |mut path: Spanned<String>| {
        path.value = String::from(path.value.trim());
        (!path.value.is_empty()).then_some(path)
    };
    block.scope = block.scope.take().and_then(trim);
    block.read_only = std::mem::take(&mut block.read_only).into_iter().filter_map(trim).collect();
}

block! {
    /// Outbound destinations and local sockets.
    pub struct NetworkGrant: Default {
        /// Outbound destinations; `[]` is none at all. On an artifact entry an absent list inherits the capsule's. Shape: `E-CAP-001` when staging.
        optional allow: Vec<Spanned<String>>,
        /// Whether subprocesses may create `AF_UNIX` sockets.
        default unix_sockets: bool = false,
    }
}

block! {
    /// Host programs the capsule may run.
    pub struct Shell {
        /// Program names, looked up on the runtime's `PATH`.
        required allow: Vec<Spanned<BinaryName>>,
        /// More variable names to drop from command environments; at most 64 of them with `*` on both sides.
        default strip_env: Vec<EnvPattern> = Vec::new(),
        /// More host variables to pass to commands.
        default baseline_env: Vec<EnvName> = Vec::new(),
        /// Host folders an interpreter may reach, read-only.
        default interpreter_runtime: Vec<InterpreterRuntime> = Vec::new(),
        /// Pinned runtime trees that are bound into a sealed root.
        default staged_runtime: Vec<StagedRuntime> = Vec::new(),
    }
    check check_shell;
}

/// Most patterns with `*` on both sides: each is looked for in every name.
const INNER_PATTERNS: usize = 64;

/// Something is allowed, and what runtimes are for is allowed too.
fn check_shell(block: &mut Shell, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_empty(reader, entries, "allow", "the name of a program, or drop `shell`");
    let complete = reader.length(entries, "allow") == block.allow.len();
    let interpreters = block.interpreter_runtime.iter().map(|grant| &grant.binary);
    let staged = block.staged_runtime.iter().map(|grant| &grant.binary);
    let inner = block.strip_env.iter().filter(|pattern| pattern.is_inner()).count();
    if inner > INNER_PATTERNS {
        let at = reader.place_of(entries, "strip_env");
        let message = format!("{inner} patterns have `*` on both sides");
        reader.refuse(at, message, Some(&format!("at most {INNER_PATTERNS} of them")));
    }
    let allowed: HashSet<&BinaryName> = block.allow.iter().map(|allowed| &allowed.value).collect();
    for binary in interpreters.chain(staged) {
        if complete && !allowed.contains(&binary.value) {
            let message = format!("`{binary}` is not in `shell.allow`");
            reader.refuse(binary.at.clone(), message, Some("a name that `shell.allow` has"));
        }
    }
    let interpreted: HashSet<&BinaryName> =
        block.interpreter_runtime.iter().map(|grant| &grant.binary.value).collect();
    for staged in &block.staged_runtime {
        if interpreted.contains(&staged.binary.value) {
            let message = format!("`{}` has an `interpreter_runtime` as well", staged.binary);
            reader.refuse(staged.binary.at.clone(), message, Some("one of the two grants"));
        }
    }
}

/// Refuses a list that is written and has nothing in it.
fn refuse_empty(reader: &mut Reader<'_>, entries: &Entries, key: &str, accepted: &str) {
    if reader.length(entries, key) == 0 {
        let at = reader.place_of(entries, key);
        reader.refuse(at, "the list is empty".to_owned(), Some(accepted));
    }
}

block! {
    /// Widens the file scope outwards, so that an interpreter reaches its library tree.
    pub struct InterpreterRuntime {
        /// The program, one of `shell.allow`.
        required binary: Spanned<BinaryName>,
        /// The folders; at least one.
        required dirs: Vec<RuntimeDir>,
    }
    check check_interpreter;
}

/// There is a folder.
fn check_interpreter(_: &mut InterpreterRuntime, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_empty(
        reader,
        entries,
        "dirs",
        "at least one folder, as `{path: /opt/x, list_dir: true}`",
    );
}

block! {
    /// One folder an interpreter may read and execute from.
    pub struct RuntimeDir {
        /// Absolute path on the host.
        required path: Spanned<AbsolutePath>,
        /// Whether the folder itself may be listed.
        required list_dir: bool,
    }
}

block! {
    /// A pinned runtime tree, bound read-only at its own path inside the composed root.
    pub struct StagedRuntime {
        /// The program, one of `shell.allow`.
        required binary: Spanned<BinaryName>,
        /// Absolute path of the tree on the host.
        required source_path: Spanned<AbsolutePath>,
        /// What the tree is, for humans; never verified.
        required pin: String,
    }
}

block! {
    /// Capsules this one may start.
    pub struct Spawn: Default {
        /// Full names of the capsules.
        default allow: Vec<Spanned<ArtifactName>> = Vec::new(),
        /// Those of them that start in a copy of this session's work folder.
        default workdir_snapshot: Vec<Spanned<ArtifactName>> = Vec::new(),
    }
    check check_spawn;
}

/// Children are told apart by their bare names, and snapshots are for children alone.
fn check_spawn(block: &mut Spawn, reader: &mut Reader<'_>, entries: &Entries) {
    let mut seen: HashMap<&str, &ArtifactName> = HashMap::new();
    for child in &block.allow {
        if let Some(other) = seen.insert(child.value.bare(), &child.value) {
            let message = format!(
                "`{child}` and `{other}` share the name `{}`, by which the model calls them",
                child.value.bare()
            );
            reader.refuse(child.at.clone(), message, Some("one of the two"));
        }
    }
    let complete = reader.length(entries, "allow") == block.allow.len();
    let allowed: HashSet<&ArtifactName> = block.allow.iter().map(|child| &child.value).collect();
    for child in &block.workdir_snapshot {
        if complete && !allowed.contains(&child.value) {
            let message = format!("`{child}` is not in `spawn.allow`");
            reader.refuse(child.at.clone(), message, Some("a name that `spawn.allow` has"));
        }
    }
}

block! {
    /// Host variables that reach the capsule's process and its tools.
    pub struct EnvGrant: Default {
        /// Variable names; the values are read from the host at start.
        default allow: Vec<Spanned<EnvName>> = Vec::new(),
    }
}

block! {
    /// Whether plans may be submitted.
    pub struct Plan {
        /// Offers the `submit-plan` tool.
        required submit: bool,
    }
}

block! {
    /// Artifacts that may be installed while the capsule runs.
    pub struct Install: Default {
        /// Which skills.
        default skill: Vec<Spanned<InstallPattern>> = Vec::new(),
        /// Which tools.
        default tool: Vec<Spanned<InstallPattern>> = Vec::new(),
        /// Where they may come from.
        default from: Vec<InstallSource> = vec![InstallSource::Stores],
    }
    check check_install;
}

/// Something may be installed, and from the stores at least.
fn check_install(block: &mut Install, reader: &mut Reader<'_>, entries: &Entries) {
    if reader.length(entries, "skill") + reader.length(entries, "tool") == 0 {
        let message = "neither `skill` nor `tool` has an entry".to_owned();
        reader.refuse(
            entries.at().clone(),
            message,
            Some("an entry in one of them, or drop `install`"),
        );
    }
    let stores = block.from.iter().filter(|source| **source == InstallSource::Stores).count();
    let sources = block.from.len() - stores;
    let complete = !entries.has("from") || reader.length(entries, "from") == block.from.len();
    if complete && (stores != 1 || sources > 1) {
        let at = reader.place_of(entries, "from");
        let found: Vec<&str> = block.from.iter().map(|source| source.as_str()).collect();
        let message = format!("found `[{}]`", found.join(", "));
        reader.refuse(at, message, Some("`[stores]` or `[stores, sources]`"));
    }
}

words! {
    /// A place artifacts are installed from.
    pub enum InstallSource {
        /// The local stores.
        Stores = "stores",
        /// The configured registries.
        Sources = "sources",
    }
}

block! {
    /// Destinations that files may be fetched from.
    pub struct PeerFetch {
        /// Destinations, in the grammar of `network.allow`, never an alias of it.
        required allow: Vec<Spanned<String>>,
    }
    check check_peer_fetch;
}

/// There is a destination.
fn check_peer_fetch(_: &mut PeerFetch, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_empty(reader, entries, "allow", "a destination, or drop `peer_fetch`");
}

block! {
    /// A folder that outlives the session.
    pub struct State: Default {
        /// Its name under `~/.murmur/state/`, by default the capsule's; shape: `E-CAP-009` when staging.
        optional store: Spanned<String>,
    }
}

block! {
    /// Whether a hook reads a task's text and answer.
    pub struct TaskIo {
        /// Consent, which must be written.
        required read: bool,
    }
}

block! {
    /// Whether a hook reads the conversation.
    pub struct Conversation {
        /// Consent, which must be written.
        required read: bool,
    }
}

block! {
    /// Host folders the coding harness may use.
    pub struct Harness: Default {
        /// The folders.
        default paths: Vec<HarnessPath> = Vec::new(),
    }
}

block! {
    /// A host folder the coding harness may use.
    pub struct HarnessPath {
        /// Absolute, or below the home folder as `~/…`.
        required path: Spanned<HostPath>,
        /// How it may be used.
        required access: Access,
    }
}

words! {
    /// How a host folder may be used.
    pub enum Access {
        /// Read and list.
        Read = "read",
        /// Read, list, write.
        ReadWrite = "read-write",
    }
}
