//! The command line, the same for every classifier.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser};

/// The arguments of a classifier.
#[derive(Clone, Debug, Eq, Parser, PartialEq)]
#[command(version, disable_help_subcommand = true)]
pub struct Arguments {
    /// The model: a plain tar archive with `model.onnx` and `model.json`, or an `.onnx` file with its own description
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// The name of the model in answers
    #[arg(long, value_name = "NAME")]
    pub alias: String,
    /// The file whose only line is the secret that requests must carry
    #[arg(long, value_name = "FILE")]
    pub api_key_file: PathBuf,
    #[command(flatten)]
    pub address: Address,
    /// The port of the address; 0 takes a free one, which the log names
    #[arg(long, value_name = "N", requires = "host", conflicts_with = "socket")]
    pub port: Option<u16>,
    /// Threads that compute an inference
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// The library of ONNX Runtime; by default libonnxruntime.so beside this program
    #[arg(long, value_name = "FILE", env = "ORT_DYLIB_PATH", hide_env_values = true)]
    pub runtime: Option<PathBuf>,
}

/// Where a classifier listens: a UNIX socket or a loopback port.
#[derive(Args, Clone, Debug, Eq, PartialEq)]
#[group(required = true, multiple = false)]
pub struct Address {
    /// Listen on a UNIX socket, which only programs of this user may use
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Listen on a loopback address
    #[arg(long, value_name = "ADDRESS", requires = "port", value_parser = loopback)]
    pub host: Option<IpAddr>,
}

impl Arguments {
    /// Reads the command line of this process. Prints and ends if it asks for help or is wrong.
    #[must_use]
    pub fn of_this_process(program: &'static str, about: &'static str, path: &str) -> Self {
        let matches = command(program, about, path).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|fault| fault.exit())
    }
}

/// Returns the definition of the command line of `program`, which answers on `path`.
#[must_use]
pub fn command(program: &'static str, about: &'static str, path: &str) -> clap::Command {
    let examples = format!(
        "Examples:\n  \
         {program} --model model.tar --alias mine --api-key-file key --socket ./engine.sock\n  \
         {program} --model model.tar --alias mine --api-key-file key --host 127.0.0.1 --port 8090\n  \
         curl -H \"Authorization: Bearer $(cat key)\" -F file=@input http://127.0.0.1:8090{path}"
    );
    Arguments::command().name(program).about(about).after_help(examples)
}

fn loopback(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|_| "this is not an IP address".to_owned())?;
    if address.is_loopback() {
        return Ok(address);
    }
    Err("only a loopback address is allowed, such as 127.0.0.1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_classifier_listens_on_a_socket_or_on_a_loopback_port() {
        let port = parse("--host 127.0.0.1 --port 8090").unwrap();
        assert_eq!((port.port, port.address.socket, port.threads), (Some(8090), None, 1));
        assert!(parse("--socket /run/engine.sock --threads 4").is_ok());
        for wrong in [
            "",
            "--port 8090",
            "--host 127.0.0.1",
            "--host 0.0.0.0 --port 8090",
            "--host 127.0.0.1 --port 8090 --socket s",
            "--socket s --port 8090",
            "--socket s --threads 0",
            "--host 127.0.0.1 --port 65536",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_help_has_examples() {
        let help = command("link-image-classifier", "Classifies", "/v1/x").render_long_help();
        assert!(help.to_string().contains("--socket ./engine.sock"));
    }

    fn parse(rest: &str) -> Result<Arguments, clap::Error> {
        let words = ["p", "--model", "m", "--alias", "a", "--api-key-file", "k"];
        let matches = command("p", "about", "/v1/x")
            .try_get_matches_from(words.into_iter().chain(rest.split_whitespace()))?;
        Arguments::from_arg_matches(&matches)
    }
}
