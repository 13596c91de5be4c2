//! The proxy's own answers in the form that clients of OpenAI's API read: `error` in a problem
//! document, and the entries of the model list. Pure.

use link_agent_core::effect::Route;
use link_protocol::{problem::Problem, task::Task};
use serde::Serialize;

/// A problem document (RFC 9457) that is also an OpenAI error object.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    error: ErrorObject<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorObject<'a> {
    /// The message: the failure, and what to do next.
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    code: &'a str,
    /// The parameter at fault; always absent, because the proxy checks no parameters.
    param: Option<&'a str>,
}

/// An entry of the model list.
#[derive(Debug, Serialize)]
pub(super) struct Model<'a> {
    id: &'a str,
    object: &'static str,
    /// When the model was created, in seconds of Unix time; taken from its id.
    created: u64,
    owned_by: &'static str,
    /// What the model is for, once its engine has been started.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Task>,
    /// The paths that the model serves.
    paths: Vec<&'a str>,
}

/// Converts a problem for both kinds of clients.
pub(super) fn document(problem: &Problem) -> Document<'_> {
    let message = match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.detail),
        None => problem.detail.clone(),
    };
    let error =
        ErrorObject { message, kind: kind(problem.status), code: &problem.code, param: None };
    Document { problem, error }
}

/// Creates the list entry of one model, which serves `paths`.
pub(super) fn model<'a>(route: &'a Route, task: Option<Task>, paths: Vec<&'a str>) -> Model<'a> {
    let made = route.model_id.uuid().get_timestamp().map(|time| time.to_unix().0);
    Model {
        id: route.alias.as_str(),
        object: "model",
        created: made.unwrap_or_default(),
        owned_by: "link",
        task,
        paths,
    }
}

/// Returns the type of an error. `llama-server` uses the same type for the same status.
const fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        503 => "unavailable_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

#[cfg(test)]
mod tests {
    use link_protocol::problem::Code;

    use super::*;

    #[test]
    fn a_problem_is_read_by_clients_of_either_kind() {
        let mut unknown =
            Problem::new(Code::ModelNotServed, "no model `gpt-4o`; served here: tiny, big");
        unknown.request_id = Some("0195a7c0000070008000000000000001".to_owned());
        let mut refused =
            Problem::new(Code::OriginNotAllowed, "the allowlist of `tiny` does not name this page");
        refused.request_id = unknown.request_id.clone();
        for (problem, golden) in [
            (unknown, include_str!("golden/model-not-served.json")),
            (refused, include_str!("golden/origin-not-allowed.json")),
        ] {
            let written = serde_json::to_string_pretty(&document(&problem)).unwrap();
            assert_eq!(written, golden.trim_end());
        }
    }

    #[test]
    fn every_status_of_the_proxy_has_a_type() {
        for (code, kind) in [
            (Code::MalformedRequest, "invalid_request_error"),
            (Code::PayloadTooLarge, "invalid_request_error"),
            (Code::HostNotAllowed, "permission_error"),
            (Code::PathNotServed, "not_found_error"),
            (Code::EngineLoading, "unavailable_error"),
            (Code::EngineUnavailable, "server_error"),
        ] {
            assert_eq!(document(&Problem::new(code, "x")).error.kind, kind, "{code}");
        }
    }
}
