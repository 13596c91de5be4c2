//! `link model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use link_protocol::{
    backend_api::model::LANGUAGE_MODEL, command::Sha256Hex, file_name::FileName, port::Port,
    selector::Selector,
};

use crate::args::{Naming, Wait};

/// `link model …`.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List the models that you may deploy, shared ones with their publisher
    #[command(after_help = "Example:\n  link model list")]
    List,
    /// Search the catalogue of models; without words, list it
    #[command(after_help = "Example:\n  link model search small apache")]
    Search {
        /// Words that the name, the summary, the architecture or the licence has
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Add a model: of the catalogue, by its file, or by the address that devices fetch it from
    #[command(after_help = ADD_EXAMPLES)]
    Add(Add),
    /// Show a model and where it is deployed, or one of the catalogue
    #[command(after_help = "Example:\n  link model show smollm")]
    Show {
        /// Model, by id or by name; of another account as `publisher/name`
        model: String,
    },
    /// Deploy a model to a device, or redeploy it with the current allowlist
    #[command(after_help = DEPLOY_EXAMPLES)]
    Deploy(Deploy),
    /// Serve a model that is deployed
    #[command(after_help = "Example:\n  link model serve smollm --wait")]
    Serve(Serve),
    /// Stop serving a model; it stays deployed
    #[command(after_help = "Example:\n  link model stop smollm --wait")]
    Stop(OnDevice),
    /// Delete a model from a device; it stays available to deploy again
    #[command(after_help = "Example:\n  link model remove smollm --device workstation --wait")]
    Remove(OnDevice),
    /// End a deployment that is under way
    #[command(after_help = "Example:\n  link model cancel smollm")]
    Cancel {
        /// Model, by id or by name; of another account as `publisher/name`
        model: String,
        /// Device, by id or by name [default: this machine's]
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
    },
    /// Delete a model that is deployed nowhere
    #[command(after_help = "Example:\n  link model delete smollm")]
    Delete {
        /// Model, by id or by name; of another account as `publisher/name`
        model: String,
    },
}

/// `link model add`.
#[derive(Args, Debug)]
pub struct Add {
    /// File to upload; else a name of the catalogue, `hf:owner/repo/file` or an address
    #[arg(value_name = "NAME|FILE", required_unless_present = "url", conflicts_with = "url")]
    pub file: Option<PathBuf>,
    /// Address that devices fetch the file from; the backend keeps no copy
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// SHA-256 of the file at the address [default: asked for, or pinned to what is there now]
    #[arg(long, value_name = "HEX")]
    pub sha256: Option<Sha256Hex>,
    /// Size of the file at the address in bytes [default: asked from its server]
    #[arg(long, value_name = "BYTES")]
    pub size: Option<u64>,
    /// Name of the model [default: the file's, without its extension]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Name of the file on devices [default: the file's]
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<FileName>,
    /// Plugin whose engine runs it
    #[arg(long, value_name = "PLUGIN", default_value = LANGUAGE_MODEL)]
    pub plugin: String,
    /// Let every account of the backend deploy it as `publisher/name`, where the backend's
    /// configuration lets this account share
    #[arg(long)]
    pub shared: bool,
}

impl Add {
    /// Returns what adds a language model under the name that it has.
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
    /// Model, by id or by name; of another account as `publisher/name`
    pub model: String,
    /// Device, by id or by name [default: this machine's]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// All devices that fit, such as `tag=lab,state=online`, in place of one
    #[arg(long, value_name = "SELECTION", conflicts_with = "device")]
    pub select: Option<Selector>,
    /// Port to serve on [default: the one of the deployment before, or 8080]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
    #[command(flatten)]
    pub naming: Naming,
    /// Serve it as soon as it is there
    #[arg(long)]
    pub serve: bool,
    /// Let no web page call the model
    #[arg(long)]
    pub no_cors: bool,
    /// Do not report the token usage of inferences
    #[arg(long)]
    pub no_telemetry: bool,
    #[command(flatten)]
    pub wait: Wait<1800>,
}

/// `link model serve`.
#[derive(Args, Debug)]
pub struct Serve {
    #[command(flatten)]
    pub on: OnDevice,
    /// Port to serve on from now on [default: the current one]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
}

/// A model on a device.
#[derive(Args, Debug)]
pub struct OnDevice {
    /// Model, by id or by name; of another account as `publisher/name`
    pub model: String,
    /// Device, by id or by name [default: this machine's]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    #[command(flatten)]
    pub wait: Wait<180>,
}

const ADD_EXAMPLES: &str = "\
Examples:
  link model add ./smollm.gguf
  link model add ./smollm.gguf --name smollm --shared
  link model add smollm2:135m                       of the catalogue, see `link model search`
  link model add hf:owner/repo/smollm.gguf
  link model add --url https://models.example/smollm.gguf --sha256 2c26…b0d4

An upload that is cut goes on by itself, and where it stopped when the same command is run within a day.";

const DEPLOY_EXAMPLES: &str = "\
Examples:
  link model deploy smollm --serve --wait
  link model deploy smollm --device workstation --port 8081 --alias chat --wait --timeout 1h
  link model deploy smollm --select tag=lab --serve --wait
  link model deploy bob/llama                       a model that the account `bob` shares";
