//! Repository chores and the developer's entry point: `cargo xtask <task>`.
//!
//! Each chore is a module that turns the contents of the repository into findings or files. `dev` sets up, runs and
//! resets a checkout. This file only parses the arguments and prints the result. `cargo test -p xtask` runs the checks
//! too.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program: its output is what it is for"
)]

mod catalogue;
mod dev;
mod dist;
mod engines;
mod generate;
mod prepared;
mod release_key;
#[cfg(test)]
mod texts;
mod tidy;
mod tiny_model;
mod web;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    about = "Works on a checkout of Link: sets it up, runs it, and does its chores",
    after_help = "Examples:\n  cargo xtask setup\n  cargo xtask run\n  cargo xtask tidy\n\nA checkout is updated with `git pull`."
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    #[command(flatten)]
    Developer(dev::Command),
    /// Check the rules that no compiler checks, and list the specification rows without a test
    Tidy {
        /// Rewrite the state column of docs/specification.md first
        #[arg(long)]
        write: bool,
        /// Print which module imports which in the crates below this folder
        #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = "")]
        graph: Option<String>,
        /// Only print 105 random doc lines for review, drawn with this seed
        #[arg(long, value_name = "SEED", conflicts_with_all = ["write", "graph"])]
        sample_docs: Option<u64>,
    },
    /// Write man pages, shell completions and the OpenAPI document
    Generate {
        /// Write nothing and fail if a committed file differs
        #[arg(long)]
        check: bool,
    },
    /// Build the pages in web/, which the backend embeds
    Web(web::Options),
    /// Take pictures of every page in web/ and check what Chromium shows
    Screenshots(web::Pictures),
    /// Make a release folder: build the static executables and pack them
    Dist(dist::Options),
    /// Test builds of engines with a sample model, and make a signed index of them
    Engines(engines::Options),
    /// Check a list of models and sign it as the catalogue that is published next to the releases
    Catalogue(catalogue::Options),
    /// Create a key for signing releases and print its public half
    ReleaseKey {
        /// File to create for the key; keep it secret
        file: PathBuf,
        /// Older key that introduces the new key to installations that trust the older key
        #[arg(long, value_name = "FILE")]
        introduced_by: Option<PathBuf>,
    },
    /// Write a tiny model with a known answer, for tests
    TinyModel {
        /// GGUF file to write
        out: PathBuf,
        #[command(flatten)]
        kind: tiny_model::Kind,
    },
}

fn main() -> ExitCode {
    if let Some(code) = link_platform::contain::take_over() {
        return code;
    }
    let ended = dev::check_words(std::env::args_os()).and_then(|()| run(Arguments::parse().task));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            dev::exit_code(&error).into()
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    let root = repository();
    match task {
        Task::Developer(command) => dev::run(root, command)?,
        Task::Tidy { sample_docs: Some(seed), .. } => print!("{}", tidy::sample_docs(root, seed)?),
        Task::Tidy { write, graph, sample_docs: None } => {
            let report = tidy::run(root, write)?;
            if let Some(folder) = graph {
                println!("{}", report.graphs(&folder));
            }
            println!("{report}");
            anyhow::ensure!(report.findings.is_empty(), "the repository is not tidy");
        }
        Task::Generate { check } => println!("{}", generate::run(root, check)?),
        Task::Web(options) => println!("{}", web::run(root, &options)?),
        Task::Screenshots(options) => web::pictures(root, &options)?,
        Task::Dist(options) => println!("{}", dist::run(root, &options)?),
        Task::Engines(options) => println!("{}", engines::run(&options, root)?),
        Task::Catalogue(options) => println!("{}", catalogue::run(&options)?),
        Task::ReleaseKey { file, introduced_by } => {
            println!("{}", release_key::run(&file, introduced_by.as_deref())?);
        }
        Task::TinyModel { out, kind } => println!("{}", tiny_model::run(&out, kind)?),
    }
    Ok(())
}

/// Returns the root folder of the workspace.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}
