//! `mur completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::report::Exit;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mur completions bash > /usr/share/bash-completion/completions/mur
  mur completions zsh > \"${fpath[1]}/_mur\"
  mur completions fish > ~/.config/fish/completions/mur.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mur", &mut script);
    context.out.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
