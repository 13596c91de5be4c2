//! `link model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use link_protocol::{
    backend_api::model::LANGUAGE_MODEL, command::Sha256Hex, file_name::FileName,
    plugin::Assignment, port::Port,
};

use crate::args::{Many, Naming, Wait};

/// `link model …`.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List the models that you may deploy; shared models show their publisher
    #[command(after_help = "Example:\n  link model list")]
    List,
    /// Search the catalogue of models; without words, list every model
    #[command(after_help = "Example:\n  link model search small apache")]
    Search {
        /// Words to find in the name, summary, architecture or licence of a model
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Add a model from the catalogue, a file, or a URL that devices download from
    #[command(after_help = ADD_EXAMPLES)]
    Add(Add),
    /// Show a model and its deployments, or a model of the catalogue
    #[command(after_help = "Example:\n  link model show smollm")]
    Show {
        /// Model, by id or name; a model of another account as `publisher/name`
        model: String,
    },
    /// Deploy a model to a device, or redeploy it with the current allowlist
    #[command(after_help = DEPLOY_EXAMPLES)]
    Deploy(Deploy),
    /// Serve a deployed model
    #[command(
        after_help = "Examples:\n  link model serve smollm --wait\n  link model serve smollm --select tag=lab --wait"
    )]
    Serve(Serve),
    /// Stop serving a model; the model stays deployed
    #[command(
        after_help = "Examples:\n  link model stop smollm --wait\n  link model stop smollm --select tag=lab --dry-run"
    )]
    Stop(OnDevice),
    /// Delete a model from a device; the model can be deployed again
    #[command(
        after_help = "Examples:\n  link model remove smollm --device workstation --wait\n  link model remove smollm --select tag=lab --wait"
    )]
    Remove(Remove),
    /// Cancel an unfinished deployment
    #[command(after_help = "Example:\n  link model cancel smollm")]
    Cancel {
        /// Model, by id or name; a model of another account as `publisher/name`
        model: String,
        /// Device, by id or name [default: this machine]
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
    },
    /// Delete a model that is not deployed anywhere
    #[command(after_help = "Example:\n  link model delete smollm")]
    Delete {
        /// Model, by id or name; a model of another account as `publisher/name`
        model: String,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

/// `link model add`.
#[derive(Args, Debug)]
pub struct Add {
    /// File to upload, or a catalogue name, `hf:owner/repo/file` or a URL
    #[arg(value_name = "NAME|FILE", required_unless_present = "url", conflicts_with = "url")]
    pub file: Option<PathBuf>,
    /// URL that devices download the file from; the backend keeps no copy
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// SHA-256 of the file at the URL [default: prompt, or pin the current file]
    #[arg(long, value_name = "HEX")]
    pub sha256: Option<Sha256Hex>,
    /// Size of the file at the URL in bytes [default: the server's answer]
    #[arg(long, value_name = "BYTES")]
    pub size: Option<u64>,
    /// Name of the model [default: the file name without its extension]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Name of the file on devices [default: the file's own name]
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<FileName>,
    /// Plugin whose engine runs the model
    #[arg(long, value_name = "PLUGIN", default_value = LANGUAGE_MODEL)]
    pub plugin: String,
    /// Let every account of the backend deploy the model as `publisher/name`, if the backend's
    /// configuration lets this account share
    #[arg(long)]
    pub shared: bool,
}

impl Add {
    /// Returns the arguments that add a language model under its own name.
    #[must_use]
    pub fn as_it_is() -> Self {
        Self {
            file: None,
            url: None,
            sha256: None,
            size: None,
            name: None,
            file_name: None,
            plugin: LANGUAGE_MODEL.to_owned(),
            shared: false,
        }
    }
}

/// `link model deploy`.
#[derive(Args, Debug)]
pub struct Deploy {
    /// Model, by id or name; a model of another account as `publisher/name`
    pub model: String,
    /// Device, by id or name [default: this machine]
    #[arg(long, value_name = "DEVICE", conflicts_with = "select")]
    pub device: Option<String>,
    #[command(flatten)]
    pub many: Many,
    /// Port to serve on [default: the port of the last deployment, or 8080]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
    #[command(flatten)]
    pub naming: Naming,
    /// Serve the model as soon as it is downloaded
    #[arg(long)]
    pub serve: bool,
    /// Let no web page call the model, until a deployment with `--cors`
    #[arg(long, conflicts_with = "cors")]
    pub no_cors: bool,
    /// Let web pages of the allowlist call the model again
    #[arg(long)]
    pub cors: bool,
    /// Do not report the token usage of inferences, until a deployment with `--telemetry`
    #[arg(long, conflicts_with = "telemetry")]
    pub no_telemetry: bool,
    /// Report the token usage of inferences again
    #[arg(long)]
    pub telemetry: bool,
    /// Value for a setting of the model's plugin; repeat it for more [default: the settings of the last deployment]
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// Drop the settings of the last deployment
    #[arg(long)]
    pub reset: bool,
    #[command(flatten)]
    pub wait: Wait<1800>,
}

/// `link model serve`.
#[derive(Args, Debug)]
pub struct Serve {
    #[command(flatten)]
    pub on: OnDevice,
    /// Port to serve on from now on [default: the current port]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
}

/// A model on a device.
#[derive(Args, Debug)]
pub struct OnDevice {
    /// Model, by id or name; a model of another account as `publisher/name`
    pub model: String,
    /// Device, by id or name [default: this machine]
    #[arg(long, value_name = "DEVICE", conflicts_with = "select")]
    pub device: Option<String>,
    #[command(flatten)]
    pub many: Many,
    #[command(flatten)]
    pub wait: Wait<180>,
}

/// `link model remove`.
#[derive(Args, Debug)]
pub struct Remove {
    #[command(flatten)]
    pub on: OnDevice,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

const ADD_EXAMPLES: &str = "\
Examples:
  link model add ./smollm.gguf
  link model add ./smollm.gguf --name smollm --shared
  link model add smollm2-135m                       a model of `link model search`
  link model add hf:owner/repo/smollm.gguf
  link model add --url https://models.example/smollm.gguf --sha256 2c26…b0d4

Link resumes an interrupted upload. If the command itself ends, run it again within a day: the upload
resumes where it stopped.";

const DEPLOY_EXAMPLES: &str = "\
Examples:
  link model deploy smollm --serve --wait
  link model deploy smollm --device workstation --port 8081 --alias chat --wait --timeout 1h
  link model deploy smollm --select tag=lab --serve --wait
  link model deploy smollm --set context=8192 --serve --wait
  link model deploy bob/llama                       a model that the account `bob` shares

With --select, an offline device that does not come online within five minutes fails; to deploy to
the failed devices again, run `link operation retry ID`.

`link plugin show PLUGIN` lists the settings of a plugin with the values that they take. --set replaces all
settings of the last deployment. The device checks them before it downloads anything.";
