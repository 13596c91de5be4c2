//! `cargo xtask setup`: prepares everything that a checkout needs to build and run, and with
//! `--dev` what its tests need.

use clap::Args;

use super::{
    BuildOption, HomeOption,
    checkout::{Checkout, say},
    plugin,
    trouble::Trouble,
};

/// What to set up.
#[derive(Args)]
pub(crate) struct Options {
    /// Also fetch what the tests need: models, a browser, a validator
    #[arg(long)]
    dev: bool,
    #[command(flatten)]
    build: BuildOption,
    #[command(flatten)]
    pub(super) home: HomeOption,
}

/// Sets up the checkout.
///
/// # Errors
/// The missing parts, and how to get them.
pub(super) fn run(checkout: &Checkout, options: &Options) -> anyhow::Result<()> {
    checkout.home.prepare()?;
    say("checking the tools");
    checkout.prepare(&["build"])?;
    if options.dev {
        check_for_tests(checkout)?;
    }
    checkout.build(&options.build)?;
    let plugin = plugin::find(checkout.root(), plugin::FIRST)?;
    plugin.install_engine(checkout, &checkout.home.roots().engines())?;
    if options.dev {
        say("fetching what the tests need");
        checkout.prepare(&["tiny", "browser", "validator", "web"])?;
    }
    let tests = if options.dev { "; `scripts/test` tests it" } else { "" };
    say(&format!("ready: `cargo xtask run` runs the agent{tests}"));
    Ok(())
}

fn check_for_tests(checkout: &Checkout) -> anyhow::Result<()> {
    let has = |tool: &str| {
        let asked = checkout.cargo().args([tool, "--version"]).output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !has(tool) {
            let next = format!("install it with `rustup component add {component}`");
            return Err(Trouble::new(format!("`cargo {tool}` is missing"), next).into());
        }
    }
    if !has("nextest") {
        println!("cargo-nextest is missing; tests run slower without it");
        println!(" next: `cargo install --locked cargo-nextest`, if you like");
    }
    Ok(())
}
