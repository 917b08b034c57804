//! The verbs: one file each, with its arguments and what it does with them.

mod bundle;
mod bundle_arg;
mod check;
mod checkpoint;
mod completions;
mod create;
mod criu_arg;
mod delete;
mod envelope;
mod events;
mod exec;
mod explain;
mod explain_code;
mod features;
mod kill;
mod launch_arg;
mod list;
mod man;
mod pause;
mod ps;
mod ps_oci;
mod restore;
mod resume;
mod run;
mod run_capsule;
mod run_oci;
mod schema;
mod spec;
mod start;
mod state;
mod update;
mod version;

use clap::Subcommand;
use mur_runtime::verb::first_missing;

use crate::context::Context;
use crate::report::Exit;

/// A verb and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Explain(explain::Args),
    Bundle(bundle::Args),
    Check(check::Args),
    Envelope(envelope::Args),
    Schema(schema::Args),
    Create(create::Args),
    Start(start::Args),
    State(state::Args),
    Kill(kill::Args),
    Delete(delete::Args),
    Exec(exec::Args),
    List(list::Args),
    Ps(ps::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Update(update::Args),
    Events(events::Args),
    Features(features::Args),
    Spec(spec::Args),
    Checkpoint(checkpoint::Args),
    Restore(restore::Args),
    Completions(completions::Args),
    Man(man::Args),
    Version(version::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(self, context: &mut Context) -> anyhow::Result<Exit> {
        match self {
            Self::Run(args) => run::run(&args, context),
            Self::Explain(args) => explain::run(&args, context),
            Self::Bundle(args) => bundle::run(&args, context),
            Self::Check(args) => check::run(&args, context),
            Self::Envelope(args) => envelope::run(&args, context),
            Self::Schema(args) => schema::run(&args, context),
            Self::Create(args) => create::run(&args, context),
            Self::Start(args) => start::run(&args, context),
            Self::State(args) => state::run(&args, context),
            Self::Kill(args) => kill::run(&args, context),
            Self::Delete(args) => delete::run(&args, context),
            Self::Exec(args) => exec::run(&args, context),
            Self::List(args) => list::run(&args, context),
            Self::Ps(args) => ps::run(&args, context),
            Self::Pause(args) => pause::run(&args, context),
            Self::Resume(args) => resume::run(&args, context),
            Self::Update(args) => update::run(&args, context),
            Self::Events(args) => events::run(&args, context),
            Self::Features(args) => features::run(&args, context),
            Self::Spec(args) => spec::run(&args, context),
            Self::Checkpoint(args) => checkpoint::run(&args, context),
            Self::Restore(args) => restore::run(&args, context),
            Self::Completions(args) => completions::run(&args, context),
            Self::Man(args) => man::run(&args, context),
            Self::Version(args) => version::run(&args, context),
        }
    }

    /// How the verb ends when it cannot do what was asked.
    pub(crate) fn exit_at_failure(&self) -> Exit {
        if matches!(self, Self::Exec(_)) { Exit::NoProcess } else { Exit::Failure }
    }

    /// Whether it starts processes in containers, which must not reach the program of `mur` itself.
    pub(crate) fn makes_processes(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Create(_) | Self::Exec(_) | Self::Restore(_))
    }

    /// The first descriptor that is to be passed on and is not open.
    pub(crate) fn missing_descriptor(&self) -> Option<i32> {
        let count = if let Self::Run(args) = self {
            args.oci.preserve_fds
        } else if let Self::Create(args) = self {
            args.preserve_fds
        } else if let Self::Exec(args) = self {
            args.preserve_fds
        } else {
            0
        };
        first_missing(count)
    }
}
