//! `link chat` and `link run`.

use clap::Args;
use link_client::chat::Sampling;
use link_protocol::port::Port;

/// `link chat`.
#[derive(Args, Debug)]
pub struct Chat {
    /// Name of the model in `link status` [default: the only one that is served, or a choice on a terminal]
    pub model: Option<String>,
    /// Device, by id or name, which must be this machine [default: this machine]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    #[command(flatten)]
    pub question: Question,
}

/// `link run`.
#[derive(Args, Debug)]
pub struct Run {
    /// Model, by id or name (a model of another account as `publisher/name`), or a catalogue name,
    /// `hf:owner/repo/file`, a URL, or the path of a model file
    pub model: String,
    /// Continue even if the model needs more memory than this machine has
    #[arg(long)]
    pub anyway: bool,
    /// Port to serve on [default: the port of the last deployment, or 8080]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
    #[command(flatten)]
    pub question: Question,
}

/// The question for a model and the sampling of its answer.
#[derive(Args, Clone, Debug)]
pub struct Question {
    /// Question to answer once [default: standard input, or a conversation on a terminal]
    #[arg(value_name = "QUESTION")]
    pub words: Vec<String>,
    /// System prompt
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Sampling temperature, from 0 to 10 [default: the engine's]
    #[arg(long, value_name = "N", value_parser = parse_temperature)]
    pub temperature: Option<f64>,
    /// Largest number of tokens in an answer [default: the engine's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tokens: Option<u32>,
    /// Seed of the sampling [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl Question {
    /// Returns the sampling of the answers.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        let Self { temperature, max_tokens, seed, .. } = *self;
        Sampling { temperature, top_p: None, max_tokens, seed }
    }
}

pub(super) const CHAT_EXAMPLES: &str = "\
Examples:
  link chat
  link chat smollm
  link chat smollm \"Why is the sky blue?\"
  link chat smollm \"Summarize this:\" < report.txt
  link chat smollm --system \"Answer in one sentence.\" --temperature 0.2

At the prompt, /help lists commands, Ctrl-C stops an answer and Ctrl-D leaves. Typed lines are kept in a
file that only you can read, for the arrow keys; a line that begins with a space is not kept.

A question from a pipe ends with the input. In a script that leaves standard input open, add `< /dev/null`.";

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  link run smollm
  link run smollm2-135m
  link run ./smollm.gguf
  link run smollm \"Why is the sky blue?\"

Starts the agent, and adds, deploys and serves the model, if that is not done yet. Then it chats like
`link chat`. For a model that does not chat, such as one for embeddings, it prints a request that the model takes.";

fn parse_temperature(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=10.0).contains(value));
    value.ok_or_else(|| "expected a number from 0 to 10".to_owned())
}
