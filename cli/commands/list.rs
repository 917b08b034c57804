//! `mur list`: prints every container of the root.

use clap::ValueEnum;

use crate::context::Context;
use crate::report::Exit;

/// List containers
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shape of the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    format: Format,

    /// Names only
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns
    Table,
    /// An array of states
    Json,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let containers = context.store()?.list()?;
    if args.quiet {
        let names: String = containers.iter().map(|c| c.id().as_str().to_owned() + "\n").collect();
        context.out.text(&names)?;
        return Ok(Exit::Success);
    }
    let views: Vec<_> = containers.iter().map(mur_runtime::store::Container::view).collect();
    match args.format {
        Format::Json => context.out.json_line(&views)?,
        Format::Table => {
            let row = |view: &mur_runtime::state::StateView| {
                vec![
                    view.id.to_string(),
                    view.pid.to_string(),
                    view.status.to_string(),
                    view.bundle.display().to_string(),
                    view.created.clone(),
                    view.owner.clone(),
                ]
            };
            let rows: Vec<_> = views.iter().map(row).collect();
            let heading = ["ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"];
            context.out.table(&heading, &rows)?;
        }
    }
    Ok(Exit::Success)
}
