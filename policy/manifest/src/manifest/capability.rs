//! `capabilities`: what a capsule, or one artifact of it, asks to be allowed.

use super::limit::{Limits, Resources};
use crate::block::{block, words};
use crate::grammar::{
    AbsolutePath, ArtifactName, BinaryName, EnvName, EnvPattern, HostPath, InstallPattern,
};
use crate::location::Spanned;

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
        /// More variable names to drop from command environments.
        default strip_env: Vec<EnvPattern> = Vec::new(),
        /// More host variables to pass to commands.
        default baseline_env: Vec<EnvName> = Vec::new(),
        /// Host folders an interpreter may reach, read-only.
        default interpreter_runtime: Vec<InterpreterRuntime> = Vec::new(),
        /// Pinned runtime trees that are bound into a sealed root.
        default staged_runtime: Vec<StagedRuntime> = Vec::new(),
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
