//! A request that is not answered, in the shape that OpenAI's clients read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use http::StatusCode;
use serde_json::{Value, json};

/// Why a request gets no classification.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub status: StatusCode,
    /// A stable word for programs.
    pub code: &'static str,
    /// A sentence that is safe to show: what happened, then what to do.
    pub message: String,
    /// The value of `Allow`, for a method that a path does not have.
    pub allow: Option<&'static str>,
}

impl Refusal {
    /// Creates a refusal with this status.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), allow: None }
    }

    /// Creates a refusal of a request whose parameters are wrong (400).
    pub fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Creates a refusal of a file that exceeds a bound (413).
    pub fn too_large(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, message)
    }

    /// Creates a refusal of a file whose format is not in `formats` (415).
    #[must_use]
    pub fn unknown_format(formats: &str) -> Self {
        let message = format!("The format of the file is unknown. Send one of: {formats}.");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_format", message)
    }

    /// Creates a refusal of a file of a known format that cannot be read (422).
    pub fn broken_file(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "broken_file", message)
    }

    /// Creates a refusal that a client should repeat in a second (503).
    pub fn busy(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    /// Creates the refusal of a classification that was aborted or has taken too long (504).
    #[must_use]
    pub fn timed_out() -> Self {
        let message = "The classification timed out. Send a smaller file.";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "inference_timeout", message)
    }

    /// Creates the refusal of a request on which the engine failed (500).
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "engine_failed", message)
    }

    /// Returns the body of the answer.
    #[must_use]
    pub fn document(&self) -> Value {
        let kind =
            if self.status.is_server_error() { "server_error" } else { "invalid_request_error" };
        json!({"error": {
            "message": self.message, "type": kind, "code": self.code, "param": null,
        }})
    }
}

/// Runs a decoder, for which a file that makes it panic is a damaged file. What the decoder has changed must not be used
/// after a refusal.
///
/// # Errors
/// If the decoder refuses the file or panics.
pub fn decoding<T>(decoder: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(decoder)).unwrap_or_else(|_panic| {
        Err(Refusal::broken_file("The file is damaged. Send a whole file."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_shape_of_openai() {
        let refusal = Refusal::bad_request("invalid_top_k", "`top_k` is \"0\".");
        let expected = json!({"error": {
            "code": "invalid_top_k", "message": "`top_k` is \"0\".", "param": null,
            "type": "invalid_request_error",
        }});
        assert_eq!(refusal.document(), expected);
        assert_eq!(decoding::<()>(|| panic!("overflow")).unwrap_err().status, 422);
        assert_eq!(Refusal::timed_out().document()["error"]["type"], "server_error");
    }
}
