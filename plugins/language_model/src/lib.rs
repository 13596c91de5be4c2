//! The language-model plugin: how to start `llama-server` and which of its paths clients may reach.
//!
//! Pure: the manifest is data, and a launch becomes a command line. The agent owns the process.

#![forbid(unsafe_code)]

use std::{ffi::OsString, path::Path};

use link_protocol::{command::Alias, port::Port};
use serde::Deserialize;

/// The plugin's description of itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct Manifest {
    pub id: String,
    pub description: String,
    pub engine: Engine,
    pub serve: Serve,
}

/// The engine that a plugin runs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct Engine {
    /// The name of its folder among the installed engines.
    pub name: String,
    pub executable: String,
    pub default_build: String,
    pub accepted_builds: Vec<String>,
    pub listens_on: ListensOn,
    pub health_path: String,
    pub proof_path: String,
}

/// Where an engine can listen.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ListensOn {
    /// A UNIX socket, or a loopback port if the system has no UNIX sockets.
    Socket,
    /// Only a loopback port.
    Port,
}

/// The paths that clients may reach.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct Serve {
    pub paths: Vec<String>,
    pub metered_paths: Vec<String>,
    pub usage_unasked: UsageUnasked,
}

/// What an engine adds to a stream whose client did not ask for usage.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum UsageUnasked {
    /// Timings that contain the token counts.
    Timings,
}

/// One start of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub model: &'a Path,
    pub alias: &'a Alias,
    pub listen: Listen<'a>,
    /// A file that only this user can read; its single line is the secret of this launch.
    pub api_key_file: &'a Path,
    /// Compute threads; if absent, the engine chooses.
    pub threads: Option<u16>,
    /// The context, in tokens.
    pub context: u32,
}

/// Where one launch of the engine listens.
#[derive(Clone, Copy, Debug)]
pub enum Listen<'a> {
    /// The path of a UNIX socket; it ends in `.sock`, so that `llama-server` recognizes it.
    Socket(&'a Path),
    /// A port of 127.0.0.1.
    Port(Port),
}

/// Returns the plugin's manifest.
#[must_use]
pub fn manifest() -> Manifest {
    toml::from_str(include_str!("../plugin.toml")).expect("the manifest is checked by a test")
}

/// Returns the engine's arguments. The secret is in a file, never in an argument.
#[must_use]
pub fn arguments(launch: &Launch<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "--model".into(),
        launch.model.into(),
        "--alias".into(),
        launch.alias.as_str().into(),
        "--api-key-file".into(),
        launch.api_key_file.into(),
        "--ctx-size".into(),
        launch.context.to_string().into(),
        "--no-webui".into(),
    ];
    match launch.listen {
        Listen::Socket(path) => arguments.extend(["--host".into(), path.into()]),
        Listen::Port(port) => arguments
            .extend(["--host", "127.0.0.1", "--port", &port.to_string()].map(OsString::from)),
    }
    if let Some(threads) = launch.threads {
        arguments.extend(["--threads".into(), threads.to_string().into()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_reads_and_opens_no_control_path_of_the_engine() {
        let manifest = manifest();
        assert_eq!(manifest.id, "language_model");
        assert!(
            manifest.serve.metered_paths.iter().all(|path| manifest.serve.paths.contains(path))
        );
        for closed in ["/props", "/slots", "/metrics", "/models/load", "/health"] {
            assert!(!manifest.serve.paths.iter().any(|path| path == closed), "{closed}");
        }
    }

    #[test]
    fn an_engine_listens_where_it_is_told_and_its_secret_is_no_argument() {
        let socket = Listen::Socket(Path::new("/state/run/1.sock"));
        assert_eq!(line(socket), format!("{COMMON} --host /state/run/1.sock --threads 1"));
        let port = Listen::Port("18080".parse().unwrap());
        assert_eq!(line(port), format!("{COMMON} --host 127.0.0.1 --port 18080 --threads 1"));
    }

    const COMMON: &str = "--model /models/tiny.gguf --alias tiny --api-key-file /state/run/1.key \
         --ctx-size 4096 --no-webui";

    fn line(listen: Listen<'_>) -> String {
        let launch = Launch {
            model: Path::new("/models/tiny.gguf"),
            alias: &"tiny".parse().unwrap(),
            listen,
            api_key_file: Path::new("/state/run/1.key"),
            threads: Some(1),
            context: 4096,
        };
        let words = arguments(&launch);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}
