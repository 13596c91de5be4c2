//! Judges the answers of an engine. Pure.

use link_client::engine::Told;
use link_protocol::plugin::Unit;
use serde_json::Value;

/// The length of the quoted beginning of an answer, in characters.
const QUOTED: usize = 120;
/// The names of the counts in the usage of an answer: those of completions and those of responses.
const USAGE: [&str; 4] = ["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"];

/// Checks that an answer has its usage. The length of audio need not be reported: the agent reads it from the upload.
pub(super) fn usage(told: &Told, unit: Unit) -> Result<(), String> {
    let documents: Vec<Value> = if told.content_type.starts_with("text/event-stream") {
        let text = String::from_utf8_lossy(&told.body);
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        events.filter_map(|event| serde_json::from_str(event.trim()).ok()).collect()
    } else {
        serde_json::from_slice(&told.body).into_iter().collect()
    };
    // The last event of a streamed response has the whole response in it.
    let is_number = |document: &Value, of: &str, name: &str| {
        let documents = [Some(document), document.get("response")];
        let mut usages = documents.into_iter().flatten().filter_map(|document| document.get(of));
        usages.any(|usage| usage.get(name).is_some_and(Value::is_number))
    };
    let (holds, member) = match unit {
        Unit::Tokens => {
            let has = |document: &Value| {
                USAGE.iter().any(|name| is_number(document, "usage", name))
                    || is_number(document, "timings", "predicted_n")
            };
            (documents.iter().any(has), "usage.prompt_tokens")
        }
        Unit::Images => {
            let has = |document: &Value| is_number(document, "usage", "images");
            (documents.iter().any(has), "usage.images")
        }
        Unit::Seconds => (true, "usage.seconds"),
    };
    if holds { Ok(()) } else { Err(format!("has no number `{member}`")) }
}

/// Returns the beginning of an answer, for a message.
pub(super) fn begin(told: &Told) -> String {
    let text = String::from_utf8_lossy(&told.body);
    text.chars().filter(|c| !c.is_control()).take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(content_type: &str, body: &'static str) -> Told {
        Told { status: 200, content_type: content_type.to_owned(), body: body.into() }
    }

    #[test]
    fn usage_is_found_in_whole_answers_and_in_streams() {
        let json = "application/json";
        let whole = told(json, r#"{"usage":{"prompt_tokens":1}}"#);
        assert_eq!(usage(&whole, Unit::Tokens), Ok(()));
        let stream = told(
            "text/event-stream; charset=utf-8",
            "data: {\"choices\":[]}\n\ndata: {\"usage\":{\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
        );
        assert_eq!(usage(&stream, Unit::Tokens), Ok(()));
        let timed = told("text/event-stream", "data: {\"timings\":{\"predicted_n\":3}}\n\n");
        assert_eq!(usage(&timed, Unit::Tokens), Ok(()));
        let response = told(json, r#"{"object":"response","usage":{"input_tokens":1}}"#);
        assert_eq!(usage(&response, Unit::Tokens), Ok(()));
        let completed = "data: {\"response\":{\"usage\":{\"output_tokens\":3}}}\n\n";
        assert_eq!(usage(&told("text/event-stream", completed), Unit::Tokens), Ok(()));
        assert_eq!(usage(&told(json, r#"{"usage":{"images":2}}"#), Unit::Images), Ok(()));
        for body in [r#"{"usage":{"prompt_tokens":"1"}}"#, r#"{"text":"usage"}"#, "no JSON"] {
            assert!(usage(&told(json, body), Unit::Tokens).is_err(), "{body}");
        }
        assert!(usage(&whole, Unit::Images).is_err());
        assert_eq!(usage(&told(json, "{}"), Unit::Seconds), Ok(()));
    }
}
