//! A conversation with a model that this machine serves, over the chat completions API of the
//! model's public port. Answers are streamed while the engine computes them.

use std::time::Duration;

use hyper::Method;
use link_protocol::{command::Alias, port::Port, task::Task};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;

use crate::{
    event_stream::EventStream,
    exchange::{Answer, Connection},
    http::{Cause, Failure},
};

const PATH: &str = "/v1/chat/completions";
const MODELS_PATH: &str = "/v1/models";

/// How long the list of the models on a port may take. The agent answers it without an engine.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// The data of the last event in a stream of completions.
const DONE: &str = "[DONE]";

/// A model that sends nothing for this long counts as hanging. Processing a long prompt takes
/// minutes.
const SILENCE: Duration = Duration::from_mins(10);

/// The largest event, in bytes.
const EVENT_LIMIT: usize = 1024 * 1024;

/// A model that is served on a port of this machine.
#[derive(Clone, Debug)]
pub struct ChatClient {
    port: Port,
    alias: Alias,
}

/// What a served model offers to its clients.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub struct Offer {
    /// What the model is for, if its file says so.
    pub task: Option<Task>,
    /// The paths that the model serves. None if the agent is of an earlier version.
    pub paths: Option<Vec<String>>,
}

/// One message of a conversation.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// The sampling parameters of an answer. The engine chooses absent ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sampling {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A part of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Part {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of a reasoning model's reasoning before its answer.
    Thought(String),
    /// The answer reached its token limit or the end of the model's context (`finish_reason`
    /// `length`).
    CutOff,
    /// The token counts of the question and the answer.
    Usage(Usage),
}

/// The token counts of an answer.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, schemars::JsonSchema,
)]
#[schemars(rename = "TokenUsage")]
pub struct Usage {
    #[serde(default)]
    pub prompt_tokens: u64,
    #[serde(default)]
    pub completion_tokens: u64,
}

/// An answer that is being computed. Dropping it aborts the computation.
pub struct Reply {
    answer: Answer,
    events: EventStream,
    parts: std::collections::VecDeque<Part>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a Alias,
    messages: &'a [Message],
    #[serde(flatten)]
    sampling: &'a Sampling,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
    #[serde(flatten)]
    offer: Offer,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<EngineError>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
}

#[derive(Deserialize)]
struct EngineError {
    #[serde(default)]
    message: String,
}

impl ChatClient {
    /// Creates a handle for the model without connecting.
    #[must_use]
    pub const fn new(port: Port, alias: Alias) -> Self {
        Self { port, alias }
    }

    /// Returns what the model offers. An empty offer if the port does not list the model.
    ///
    /// # Errors
    /// [`Failure`] if nothing listens on the port or the list is unreadable.
    pub async fn offer(&self) -> Result<Offer, Failure> {
        let asked = async {
            let connection = self.connect().await?;
            connection.ask(Method::GET, MODELS_PATH, None).await?.json::<Listed>().await
        };
        let listed = tokio::time::timeout(LIST_PATIENCE, asked).await;
        let listed = listed.map_err(|_| self.unavailable(Cause::Timeout))??;
        let named = listed.data.into_iter().find(|model| model.id == self.alias.as_str());
        Ok(named.map(|model| model.offer).unwrap_or_default())
    }

    /// Requests the answer to the last of `messages`.
    ///
    /// # Errors
    /// [`Failure`] if nothing listens on the port or the engine refuses the request.
    pub async fn ask(&self, messages: &[Message], sampling: &Sampling) -> Result<Reply, Failure> {
        let request = Request {
            model: &self.alias,
            messages,
            sampling,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
        };
        let body = serde_json::to_string(&request).expect("a question has only string keys");
        let asked = async {
            let connection = self.connect().await?;
            connection.ask(Method::POST, PATH, Some(body)).await?.success().await
        };
        let answer = tokio::time::timeout(SILENCE, asked).await;
        let answer = answer.map_err(|_| self.unavailable(Cause::Timeout))??;
        Ok(Reply { answer, events: EventStream::default(), parts: [].into() })
    }

    async fn connect(&self) -> Result<Connection, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", self.port.get())).await;
        let stream = stream.map_err(|error| self.unavailable(Cause::Connect(error.to_string())))?;
        Connection::over(stream, self.address()).await
    }

    fn unavailable(&self, cause: Cause) -> Failure {
        Failure::Unavailable { url: self.address(), cause }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Reply {
    /// Waits for the next part. `None` when the answer is complete.
    ///
    /// # Errors
    /// [`Failure`] if the engine failed, the stream broke, or no part arrived for ten minutes.
    pub async fn next(&mut self) -> Result<Option<Part>, Failure> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Ok(Some(part));
            }
            if let Some(event) = self.events.take() {
                if event.data == DONE {
                    return Ok(None);
                }
                let parts = parts_of(&event.data).map_err(|why| self.broken(why))?;
                self.parts.extend(parts);
                continue;
            }
            let chunk = tokio::time::timeout(SILENCE, self.answer.chunk()).await;
            match chunk.map_err(|_| self.fail(Cause::Timeout))?? {
                Some(bytes) => self.events.add(&bytes),
                None => return Err(self.broken("the answer ended too early".to_owned())),
            }
            if self.events.waiting() > EVENT_LIMIT {
                return Err(self.broken("an event without an end".to_owned()));
            }
        }
    }

    fn broken(&self, why: String) -> Failure {
        self.fail(Cause::Broken(why))
    }

    fn fail(&self, cause: Cause) -> Failure {
        Failure::Unavailable { url: self.answer.name().to_owned(), cause }
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reply").field("of", &self.answer.name()).finish_non_exhaustive()
    }
}

/// Returns the part in one event of a stream, or the engine's error.
fn parts_of(data: &str) -> Result<Vec<Part>, String> {
    let chunk: Chunk = serde_json::from_str(data).map_err(|error| error.to_string())?;
    if let Some(EngineError { message }) = chunk.error {
        return Err(message);
    }
    let mut parts = Vec::new();
    for Choice { delta: Delta { content, reasoning_content }, finish_reason } in chunk.choices {
        parts.extend(reasoning_content.filter(|text| !text.is_empty()).map(Part::Thought));
        parts.extend(content.filter(|text| !text.is_empty()).map(Part::Text));
        parts.extend((finish_reason.as_deref() == Some("length")).then_some(Part::CutOff));
    }
    parts.extend(chunk.usage.map(Part::Usage));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use axum::{Router, extract::Request, http::StatusCode, response::IntoResponse as _};

    use super::*;

    #[test]
    fn an_event_says_text_thoughts_usage_or_a_failure() {
        let text = |text: &str| Part::Text(text.to_owned());
        let first = r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#;
        assert_eq!(parts_of(first), Ok(vec![]));
        let delta = r#"{"choices":[{"delta":{"reasoning_content":"hm","content":"Hi"}}]}"#;
        assert_eq!(parts_of(delta), Ok(vec![Part::Thought("hm".to_owned()), text("Hi")]));
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"x":1}}"#;
        let expected = Usage { prompt_tokens: 3, completion_tokens: 2 };
        assert_eq!(parts_of(usage), Ok(vec![Part::Usage(expected)]));
        let last = |reason: &str| {
            parts_of(&format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
        };
        assert_eq!((last("length"), last("stop")), (Ok(vec![Part::CutOff]), Ok(vec![])));
        assert_eq!(parts_of(r#"{"error":{"message":"no room"}}"#), Err("no room".to_owned()));
        assert!(parts_of("{").is_err());
    }

    #[tokio::test]
    async fn an_answer_is_read_while_it_comes_and_its_end_is_told_from_a_cut() {
        let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n\
                     data: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\ndata: [DONE]\n\n";
        let text = |text: &str| Ok(Some(Part::Text(text.to_owned())));
        let mut reply = ask(StatusCode::OK, whole).await.unwrap();
        let mut next = async || reply.next().await.map_err(|error| error.to_string());
        assert_eq!([next().await, next().await, next().await], [text("Hel"), text("lo"), Ok(None)]);
        let mut cut = ask(StatusCode::OK, &whole[..70]).await.unwrap();
        cut.next().await.unwrap();
        let error = cut.next().await.unwrap_err().to_string();
        assert!(error.contains("ended too early"), "{error}");
    }

    #[tokio::test]
    async fn a_model_offers_what_the_list_of_its_port_says() {
        let list = r#"{"object":"list","data":[{"id":"other","paths":["/v1/rerank"]},
            {"id":"tiny","object":"model","task":"embeddings","paths":["/v1/embeddings"]}]}"#;
        let paths = Some(vec!["/v1/embeddings".to_owned()]);
        let offer = serve(StatusCode::OK, list).await.offer().await.unwrap();
        assert_eq!(offer, Offer { task: Some(Task::Embeddings), paths });
        let earlier = serve(StatusCode::OK, r#"{"data":[{"id":"tiny"}]}"#).await.offer().await;
        assert_eq!(earlier.unwrap(), Offer::default());
        assert!(serve(StatusCode::OK, "{}").await.offer().await.is_err());
        assert!(serve(StatusCode::NOT_FOUND, list).await.offer().await.is_err());
    }

    #[tokio::test]
    async fn a_refusal_says_its_detail() {
        let problem = r#"{"type":"about:blank","title":"t","status":404,"code":"model-not-found","detail":"no such model"}"#;
        let error = ask(StatusCode::NOT_FOUND, problem).await.unwrap_err().to_string();
        assert!(error.contains("404"), "{error}");
    }

    /// Sends a request to a server that answers with `status` and `body`.
    async fn ask(status: StatusCode, body: &str) -> Result<Reply, Failure> {
        let question = [Message { role: Role::User, content: "Hello?".to_owned() }];
        serve(status, body).await.ask(&question, &Sampling::default()).await
    }

    /// Serves a model on a port that answers with `status` and `body`.
    async fn serve(status: StatusCode, body: &str) -> ChatClient {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
        let body = body.to_owned();
        let answer = move |_: Request| std::future::ready((status, body).into_response());
        tokio::spawn(async { axum::serve(listener, Router::new().fallback(answer)).await });
        ChatClient::new(port, "tiny".parse().unwrap())
    }
}
