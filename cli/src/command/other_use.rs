//! A served model that does not chat: what it is for, and a request that it takes. Pure.

use link_client::chat::Offer;
use link_protocol::{exit_code::ExitCode, local_api::PipelineEntry, task::Task};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{error::CliError, error_code::ErrorCode};

/// The path of conversations.
const CHAT: &str = "/v1/chat/completions";
/// Texts for a request, as the workspace page has them.
const QUERY: &str = "How tall is the Eiffel Tower?";
const DOCUMENTS: [&str; 2] =
    ["The Eiffel Tower is 330 metres tall.", "Bread is made of flour and water."];

/// The programs in which a request is pasted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Terminal {
    /// A shell of Linux or macOS, with curl.
    Shell,
    /// PowerShell. Its `curl` is something else than curl.
    PowerShell,
}

/// What a model serves that does not chat.
#[derive(Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(super) struct OtherUse {
    /// The alias of the model.
    model: String,
    port: u16,
    /// The paths that the model serves.
    paths: Vec<String>,
    /// A command that sends a request to the model. Absent if no request for its paths is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip)]
    does: &'static str,
}

impl Terminal {
    /// Returns the terminal of an operating system.
    pub(super) fn of(system: &str) -> Self {
        match system {
            "windows" => Self::PowerShell,
            _ => Self::Shell,
        }
    }
}

impl OtherUse {
    /// Returns what the model is for, if it does not chat. None if it does, and if that is not known.
    pub(super) fn of(entry: &PipelineEntry, offer: &Offer, terminal: Terminal) -> Option<Self> {
        let paths = match (&offer.paths, offer.task) {
            (Some(paths), _) => paths.clone(),
            // An agent of an earlier version does not list the paths.
            (None, Some(Task::Embeddings)) => vec!["/v1/embeddings".to_owned()],
            (None, Some(Task::Rerank)) => vec!["/v1/rerank".to_owned()],
            (None, Some(Task::Chat) | None) => return None,
        };
        if paths.is_empty() || paths.iter().any(|path| path == CHAT) {
            return None;
        }
        let (model, port) = (entry.alias.to_string(), entry.port.get());
        let known = paths.iter().find_map(|path| Some((path, request(path)?)));
        let does = known.as_ref().map_or("serves other requests", |(_, request)| request.does());
        let command = known.map(|(path, request)| {
            request.command(terminal, &format!("http://127.0.0.1:{port}{path}"), &model)
        });
        Some(Self { model, port, paths, command, does })
    }

    /// Returns what the model is for and what to do, as text for a person.
    pub(super) fn in_words(&self) -> String {
        match &self.command {
            Some(command) => command.clone(),
            None => self.paths.join("\n"),
        }
    }

    /// Says that the model is served.
    pub(super) fn said(&self) -> String {
        let Self { model, port, does, .. } = self;
        let next =
            if self.command.is_some() { "send a request:" } else { "it serves these paths:" };
        format!("`{model}` is served on port {port}; it does not chat, it {does}; {next}")
    }

    /// Refuses a question.
    pub(super) fn refusal(&self) -> CliError {
        let Self { model, port, does, .. } = self;
        let message = format!("`{model}` does not chat: it {does}");
        let hint = match &self.command {
            Some(command) => format!("send it a request: {command}"),
            None => format!("send requests to port {port}, to {}", self.paths.join(", ")),
        };
        CliError::new(ExitCode::Failed, ErrorCode::DoesNotChat, message).hint(hint)
    }
}

/// A request that a path takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Request {
    Embedding,
    Ranking,
    /// A file in a form.
    File {
        file: &'static str,
        does: &'static str,
    },
}

/// Returns the request that a well-known path takes.
fn request(path: &str) -> Option<Request> {
    match path {
        "/v1/embeddings" => Some(Request::Embedding),
        "/v1/rerank" => Some(Request::Ranking),
        "/v1/audio/transcriptions" => Some(Request::File {
            file: "recording.wav",
            does: "writes down what is said in a recording",
        }),
        "/v1/images/classifications" => {
            Some(Request::File { file: "picture.jpg", does: "says what a picture shows" })
        }
        "/v1/audio/classifications" => {
            Some(Request::File { file: "recording.wav", does: "says what is heard in a recording" })
        }
        _ => None,
    }
}

impl Request {
    const fn does(self) -> &'static str {
        match self {
            Self::Embedding => "makes embeddings",
            Self::Ranking => "ranks texts",
            Self::File { does, .. } => does,
        }
    }

    /// Returns a command that sends the request to the model `alias`, which has no characters of a shell.
    fn command(self, terminal: Terminal, address: &str, alias: &str) -> String {
        let body = match self {
            Self::Embedding => to_json(&Embedding { model: alias, input: QUERY }),
            Self::Ranking => to_json(&Ranking { model: alias, query: QUERY, documents: DOCUMENTS }),
            Self::File { file, .. } => {
                let curl = match terminal {
                    Terminal::Shell => "curl",
                    Terminal::PowerShell => "curl.exe",
                };
                return format!("{curl} {address} -F model={alias} -F file=@{file}");
            }
        };
        match terminal {
            Terminal::Shell => {
                format!("curl {address} -H 'content-type: application/json' -d '{body}'")
            }
            Terminal::PowerShell => format!(
                "Invoke-RestMethod {address} -Method Post -ContentType 'application/json' -Body '{body}' \
                 | ConvertTo-Json -Depth 5"
            ),
        }
    }
}

#[derive(Serialize)]
struct Embedding<'a> {
    model: &'a str,
    input: &'static str,
}

#[derive(Serialize)]
struct Ranking<'a> {
    model: &'a str,
    query: &'static str,
    documents: [&'static str; 2],
}

fn to_json(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("the members are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_does_not_chat_names_the_request_that_it_takes() {
        for (path, does, command) in [
            (
                "/v1/embeddings",
                "makes embeddings",
                "curl http://127.0.0.1:8081/v1/embeddings -H 'content-type: application/json' -d \
                 '{\"model\":\"e5\",\"input\":\"How tall is the Eiffel Tower?\"}'",
            ),
            (
                "/v1/audio/transcriptions",
                "writes down what is said in a recording",
                "curl http://127.0.0.1:8081/v1/audio/transcriptions -F model=e5 -F file=@recording.wav",
            ),
            (
                "/v1/images/classifications",
                "says what a picture shows",
                "curl http://127.0.0.1:8081/v1/images/classifications -F model=e5 -F file=@picture.jpg",
            ),
        ] {
            let offer = Offer { task: None, paths: Some(vec![path.to_owned()]) };
            let other = OtherUse::of(&entry(), &offer, Terminal::Shell).unwrap();
            let refusal = other.refusal();
            assert_eq!(refusal.message, format!("`e5` does not chat: it {does}"));
            assert_eq!(refusal.hint, Some(format!("send it a request: {command}")));
            assert_eq!(other.in_words(), command);
        }
        let own = Offer { task: None, paths: Some(vec!["/v1/tea".to_owned()]) };
        let other = OtherUse::of(&entry(), &own, Terminal::Shell).unwrap();
        assert_eq!(other.in_words(), "/v1/tea");
        assert_eq!(other.refusal().hint.as_deref(), Some("send requests to port 8081, to /v1/tea"));
    }

    #[test]
    fn what_chats_and_what_is_not_known_is_asked() {
        let of = |task, paths: Option<&[&str]>| {
            let paths = paths.map(|paths| paths.iter().map(ToString::to_string).collect());
            OtherUse::of(&entry(), &Offer { task, paths }, Terminal::Shell)
        };
        assert_eq!(of(Some(Task::Chat), Some(&["/v1/completions", CHAT])), None);
        assert_eq!(of(None, Some(&[CHAT, "/v1/embeddings", "/v1/rerank"])), None);
        assert_eq!(of(Some(Task::Chat), None), None);
        assert_eq!(of(None, None), None);
        assert_eq!(of(None, Some(&[])), None);
        let earlier = of(Some(Task::Rerank), None).unwrap();
        assert_eq!(earlier.paths, ["/v1/rerank"]);
    }

    #[test]
    fn a_request_for_powershell_avoids_what_powershell_calls_curl() {
        let of = |path: &str| {
            let offer = Offer { task: None, paths: Some(vec![path.to_owned()]) };
            OtherUse::of(&entry(), &offer, Terminal::PowerShell).unwrap().in_words()
        };
        assert!(of("/v1/rerank").starts_with("Invoke-RestMethod http://127.0.0.1:8081/v1/rerank "));
        assert!(of("/v1/audio/classifications").starts_with("curl.exe http://127.0.0.1:8081/"));
    }

    fn entry() -> PipelineEntry {
        PipelineEntry {
            pipeline_id: "pip_00000000000000000000000000000007".parse().unwrap(),
            alias: "e5".parse().unwrap(),
            port: 8081.try_into().unwrap(),
            host: "127.0.0.1".to_owned(),
            is_serving: true,
        }
    }
}
