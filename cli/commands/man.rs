//! `mur man`: manual pages, of the whole and of each verb.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Cli;
use crate::context::{Context, existing_folder};
use crate::report::Exit;

/// Print manual pages, or write them all
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mur man check | man -l -                   read one
  mur man --output /usr/share/man/man1       install all")]
pub(crate) struct Args {
    /// The verb, as `check` or `envelope-check`; without one the page of the whole
    #[arg(value_name = "VERB", conflicts_with = "output")]
    verb: Option<String>,

    /// Write the page of every verb into this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let pages = pages()?;
    if let Some(folder) = &args.output {
        write_all(&existing_folder(folder)?, &pages)?;
        return Ok(Exit::Success);
    }
    let wanted =
        args.verb.as_deref().map_or_else(|| "mur".to_owned(), |verb| format!("mur-{verb}"));
    let page = pages.iter().find(|(name, _)| *name == wanted);
    let (_, text) = page.with_context(|| {
        let verbs: Vec<&str> =
            pages.iter().filter_map(|(name, _)| name.strip_prefix("mur-")).collect();
        format!("there is no page `{wanted}`; the verbs are {}", verbs.join(", "))
    })?;
    context.out.text(text)?;
    Ok(Exit::Success)
}

/// Name and text of each page, the whole first, each verb before those below it.
fn pages() -> anyhow::Result<Vec<(String, String)>> {
    let mut whole = Cli::command();
    whole.build();
    let mut commands = Vec::new();
    collect("mur", &whole, &mut commands);
    commands.into_iter().map(|(name, command)| Ok((name, render(command)?))).collect()
}

fn collect(name: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
    found.push((name.to_owned(), command.clone().display_name(name)));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        collect(&format!("{name}-{}", verb.get_name()), verb, found);
    }
}

fn render(command: clap::Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot render a manual page")?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_all(folder: &Path, pages: &[(String, String)]) -> anyhow::Result<()> {
    for (name, text) in pages {
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}
