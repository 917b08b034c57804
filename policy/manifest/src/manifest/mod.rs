//! The manifest as values: one struct a block, one field a key, each with its default.

mod artifact;
mod capability;
mod check;
mod config;
mod context;
mod control;
mod door;
mod export;
mod inference;
mod lifecycle;
mod limit;
mod observe;
mod process;

pub use artifact::{Artifact, Gateway, Overflow, RESERVED_TOOL_NAMES, Role};
pub use capability::{
    Access, Capabilities, ContainmentFloor, Conversation, EnvGrant, Filesystem, Harness,
    HarnessPath, Install, InstallSource, InterpreterRuntime, NetworkGrant, PeerFetch, Plan,
    RuntimeDir, Shell, Spawn, StagedRuntime, State, TaskIo,
};
pub use config::ArtifactConfig;
pub(crate) use config::to_json;
pub use context::{Context, ContextRetain, Images, Switch};
pub use control::{AgentSetting, Control, Setting};
pub use door::{Authentication, AuthenticationScheme, Door, DoorCredential};
pub use export::{ExportMode, Exports, FileExport, PeerFileExport, PeerTasks};
pub use inference::{
    Alternate, AlternateDriver, Compaction, Driver, Inference, Retry, ToolRefresh, Transport,
};
pub use lifecycle::{
    AfterTask, ConversationMode, DoneCheck, KeepWorking, Lifecycle, TaskAcceptance,
};
pub use limit::{Limits, Resources};
pub use observe::{Capture, Eval, Observability, Trace, TraceRetain};
pub use process::{Deploy, Process};

use crate::block::block;
use crate::source::Source;

block! {
    /// A capsule manifest, `murmur.yaml`: who the capsule is, what it is made of, what it may do.
    pub struct Manifest {
        /// The capsule's name.
        required name: String,
        /// The capsule's version.
        required version: String,
        /// The tools, drivers, hooks and skills it is made of.
        default artifacts: Vec<Artifact> = Vec::new(),
        /// What it may do; absent is nothing.
        optional capabilities: Capabilities,
        /// The model behind it; absent is a script capsule, without an agent.
        optional inference: Inference,
        /// How much of a conversation is kept, and where.
        optional context: Context,
        /// Who else is told of a session.
        optional observability: Observability,
        /// What is recorded of a session.
        optional trace: Trace,
        /// The inbound door; unrelated to `capabilities.network`.
        optional network: Door,
        /// Which tasks it takes, and what follows them.
        default lifecycle: Lifecycle = Lifecycle::default(),
        /// What it shows to others.
        optional exports: Exports,
        /// What may be changed while it runs.
        optional control: Control,
        /// What a deployment needs; `run` ignores it.
        optional deploy: Deploy,
        /// The process of a capsule without an agent.
        optional process: Process,
    }
    ignore { "runtime", "implementation", "execution", "requires_files" }
    retire {
        "registry" => "registries stand in the operator's `config.yaml`",
        "mur_version" => "it is `deploy.mur_version`",
        "config" => "settings stand on an artifact's entry, `artifacts[].config`",
    }
    check check::check_manifest;
    extra {
        /// The bytes it was read from: digest, warnings, positions. Not part of what it says.
        source: Source,
    }
}
