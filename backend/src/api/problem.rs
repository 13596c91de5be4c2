//! Converts errors of the domain into problem documents (RFC 9457). No other module does so.

use std::any::Any;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use link_protocol::{
    error_chain::chain,
    problem::{Code, Problem},
};

use crate::{
    content::ContentError,
    database::{Fault, Passing, StoreError},
    domain::refusal::Refusal,
    failure::AppError,
};

/// The seconds after which a client may retry when the backend is overloaded.
const OVERLOAD_WAIT_S: u64 = 2;

/// The seconds after which a device may retry to get a slot.
const SLOT_WAIT_S: u64 = 10;

/// The seconds after which a transferred device may retry. It says hello before that.
const HANDOVER_WAIT_S: u64 = 2;

/// The seconds after which a client may retry when the store of model files did not answer.
const CONTENT_WAIT_S: u64 = 10;

/// An answer that is a problem. [`crate::api::layer`] writes the body, which contains the request
/// id.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    pub(crate) problem: Box<Problem>,
    retry_after_s: Option<u64>,
    /// The fault of the database that caused the problem, if there is one.
    pub(crate) fault: Option<Fault>,
}

impl Rejection {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { problem: Box::new(Problem::new(code, detail)), retry_after_s: None, fault: None }
    }

    /// Tells whether the problem has this code.
    pub(crate) fn is(&self, code: Code) -> bool {
        self.problem.known_code() == Some(code)
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds.max(1));
        self
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let mut rejection = Self::new(refusal.code(), refusal.to_string());
        if let Refusal::NotAModel(why) = &refusal {
            rejection.problem.hint = Some(why.hint().to_owned());
        }
        if let Refusal::TooManyAttempts { retry_after_s } = refusal {
            rejection.retry_after(retry_after_s)
        } else if let Refusal::QueueFull(_)
        | Refusal::TooManyUploads
        | Refusal::TooManyLogins
        | Refusal::TooManyStreams = refusal
        {
            rejection.retry_after(OVERLOAD_WAIT_S)
        } else if refusal == Refusal::HandoverPending {
            rejection.retry_after(HANDOVER_WAIT_S)
        } else if refusal == Refusal::NoSlotFree {
            rejection.retry_after(SLOT_WAIT_S)
        } else {
            rejection
        }
    }
}

impl From<AppError> for Rejection {
    fn from(failure: AppError) -> Self {
        match failure {
            AppError::Refused(refusal) => refusal.into(),
            AppError::Store(StoreError::NotFound) => Self::new(Code::NotFound, "it is gone"),
            AppError::Store(error @ (StoreError::Unavailable(_) | StoreError::Conflict)) => {
                let rejection = match error.passing() {
                    Some(passing) => unavailable(passing, &error),
                    None => internal(&error),
                };
                Self { fault: error.fault(), ..rejection }
            }
            AppError::Content(ContentError::Bucket(fault)) => {
                tracing::warn!(error = fault.said(), "the bucket of models cannot be used");
                let detail = if fault.is_silence() {
                    "the store of model files does not answer"
                } else {
                    "the store of model files does not do what the backend asks"
                };
                Self::new(Code::ContentUnavailable, detail).retry_after(CONTENT_WAIT_S)
            }
            AppError::Content(error) if error.is_no_room() => Refusal::NoRoom.into(),
            AppError::Content(error @ (ContentError::Missing | ContentError::Folder(_))) => {
                internal(&error)
            }
            AppError::Broken(what, cause) => internal(&AppError::Broken(what, cause)),
        }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.status);
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if response_needs_login(&self.problem) {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Answers a request whose method the path does not support.
pub(crate) async fn method_not_allowed() -> Rejection {
    std::future::ready(Rejection::new(
        Code::MethodNotAllowed,
        "this path has other methods; see /docs",
    ))
    .await
}

/// Answers for a handler that panicked. The log contains the panic message.
pub(crate) fn panicked(_cause: Box<dyn Any + Send + 'static>) -> Response {
    Rejection::new(Code::Internal, "the request could not be completed").into_response()
}

fn response_needs_login(problem: &Problem) -> bool {
    problem.status == StatusCode::UNAUTHORIZED.as_u16()
}

/// Returns the answer for a passing state of the database: 503, so the client may retry.
fn unavailable(passing: Passing, error: &StoreError) -> Rejection {
    tracing::warn!(error = chain(error), "the database did not answer");
    Rejection::new(Code::Overloaded, passing.detail()).retry_after(OVERLOAD_WAIT_S)
}

fn internal(error: &dyn std::error::Error) -> Rejection {
    tracing::error!(error = chain(error), "a request failed");
    Rejection::new(Code::Internal, "the request could not be completed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overloaded_database_is_a_503_with_a_time_to_retry() {
        let busy = StoreError::from(sqlx::Error::PoolTimedOut);
        let response = Rejection::from(AppError::from(busy)).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
    }

    #[test]
    fn what_broke_is_not_told() {
        let broken = AppError::broken("open the vault")("the key is hunter2");
        let rejection = Rejection::from(broken);
        assert_eq!(rejection.problem.status, 500);
        assert!(!format!("{:?}", rejection.problem).contains("hunter2"));
    }
}
