//! The examples as the programs print them.

use std::{collections::BTreeSet, process::Command};

use clap::CommandFactory as _;
use link_tests::program;

/// Returns the examples of every `--help` of `link`, `link-backend` and `link-agent`, without their explanations.
pub(super) fn examples() -> BTreeSet<String> {
    let mut texts = vec![help_of_the_agent()];
    let mut commands = vec![link_cli::command(), link_backend::args::Arguments::command()];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().cloned());
        let below = [command.get_after_help(), command.get_after_long_help()];
        texts.extend(below.into_iter().flatten().map(ToString::to_string));
    }
    texts.iter().flat_map(|text| examples_in(text)).collect()
}

/// Returns the help of the agent, which has no library.
fn help_of_the_agent() -> String {
    let helped = Command::new(program::path("link-agent")).arg("--help").output().unwrap();
    String::from_utf8(helped.stdout).unwrap()
}

fn examples_in(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    // Two spaces separate the command from its explanation.
    lines.map(|line| line.trim().split("  ").next().unwrap_or_default().to_owned()).collect()
}
