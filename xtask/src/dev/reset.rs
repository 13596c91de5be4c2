//! `cargo xtask reset`: restores a checkout's home to the state before the first run; with
//! `--hard`, deletes the home.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;

use super::{
    HomeOption,
    checkout::{Checkout, say},
    home::Extent,
    stop,
    trouble::Trouble,
};

/// What to reset.
#[derive(Args)]
pub(crate) struct Options {
    /// Also delete the models, the engines and the builds in the home
    #[arg(long)]
    hard: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    pub(super) home: HomeOption,
}

/// Stops the checkout's agent and deletes its state.
///
/// # Errors
/// The reason why nothing was deleted, or what could not be deleted.
pub(super) fn run(checkout: &Checkout, options: &Options) -> anyhow::Result<()> {
    let extent = if options.hard { Extent::All } else { Extent::State };
    let home = checkout.home.path().display();
    if !checkout.home.exists()? {
        say(&format!("`{home}` does not exist"));
        return Ok(());
    }
    for path in checkout.home.doomed(extent)? {
        println!("{} goes", path.display());
    }
    if !options.yes && !confirm()? {
        say("nothing was changed");
        return Ok(());
    }
    let was_registered = checkout.home.roots().identity().exists();
    stop::stop_checkout(checkout)?;
    checkout.home.delete(extent)?;
    say(&format!("reset {home}"));
    if was_registered {
        println!("the backend still lists the device: `link device remove` removes it there");
    }
    Ok(())
}

fn confirm() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Trouble::misuse("there is no terminal to ask on", "add --yes").into());
    }
    print!("Delete it? [y/N] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
