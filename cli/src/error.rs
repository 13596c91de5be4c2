//! The error of a command: an exit code, what failed, why, and what to do next.

use link_client::{
    backend::{CallError, UploadError},
    http::{Failure, InvalidAddress},
};
use link_installer::{install::InstallError, state_file::StateError, versions::ChangeError};
use link_platform::fs::FileError;
use link_protocol::{exit_code::ExitCode, problem::Code};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_code::ErrorCode;

pub(crate) use link_protocol::error_chain::chain;

/// The error of a failed command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CliError {
    pub(crate) exit: ExitCode,
    pub(crate) code: StableCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The HTTP status, if the backend has refused the request.
    pub(crate) status: Option<u16>,
    pub(crate) request_id: Option<String>,
}

/// The stable code by which programs distinguish errors.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum StableCode {
    /// A code of this program.
    Own(ErrorCode),
    /// The code of the backend's problem document. A later version of the backend may send an unknown code.
    OfProblem(String),
}

/// The error of a command that has failed, on stderr.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ErrorDocument<'a> {
    /// The stable code by which programs distinguish errors. The manual page of `link` lists the
    /// codes of the command; the backend has further ones.
    error: &'a str,
    /// What failed and why, as text for a person.
    message: &'a str,
    /// The exit code of the command.
    exit_code: u8,
    /// What to do next, as text for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// The HTTP status, if the backend has refused the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The id of the request in the log of the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl CliError {
    /// Creates an error of this program.
    pub(crate) fn new(exit: ExitCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: StableCode::Own(code),
            message: message.into(),
            hint: None,
            status: None,
            request_id: None,
        }
    }

    /// Creates an error about wrong arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, ErrorCode::Usage, message)
    }

    /// Creates an error about a file.
    pub(crate) fn file(error: &FileError) -> Self {
        let exit = if error.is_disk_full() { ExitCode::NoSpace } else { ExitCode::CannotWrite };
        Self::new(exit, ErrorCode::File, chain(error))
    }

    /// Adds a hint: what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prefixes the message with the activity that failed.
    pub(crate) fn context(mut self, doing: &str) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// Returns whether this is an error of this program with this code.
    pub(crate) fn is(&self, code: ErrorCode) -> bool {
        self.code == StableCode::Own(code)
    }

    /// Returns the error as one JSON document.
    pub(crate) fn to_json(&self) -> String {
        let document = ErrorDocument {
            error: self.code.as_str(),
            message: &self.message,
            exit_code: self.exit.number(),
            hint: self.hint.as_deref(),
            status: self.status,
            request_id: self.request_id.as_deref(),
        };
        serde_json::to_string(&document).expect("a document has only string keys")
    }
}

impl StableCode {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Own(code) => code.as_str(),
            Self::OfProblem(code) => code,
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let problem = failure.problem().cloned();
        let known = failure.code();
        let (exit, own_code, status, own_hint) = match &failure {
            Failure::Unavailable { .. } => (
                ExitCode::Unreachable,
                ErrorCode::Unreachable,
                None,
                "check the address and that the backend runs, then retry",
            ),
            Failure::Refused(error) if (300..400).contains(&error.status) => (
                ExitCode::Refused,
                ErrorCode::Redirected,
                Some(error.status),
                "use the address that the backend redirects to",
            ),
            Failure::Refused(error) => (
                known.map_or(ExitCode::Refused, exit_of),
                ErrorCode::Refused,
                Some(error.status),
                "check that a Link backend of this version has this address",
            ),
        };
        let message = match (&failure, &problem) {
            (Failure::Refused(_), Some(problem)) => {
                if problem.detail.is_empty() {
                    problem.title.clone()
                } else {
                    problem.detail.clone()
                }
            }
            (Failure::Refused(error), None) => {
                format!("the backend answered {}: {}", error.status, error.reason)
            }
            (Failure::Unavailable { .. }, _) => failure.to_string(),
        };
        let (hint, code) = match &problem {
            Some(problem) => (problem.hint.clone(), StableCode::OfProblem(problem.code.clone())),
            None => (Some(own_hint.to_owned()), StableCode::Own(own_code)),
        };
        let request_id = problem.and_then(|problem| problem.request_id);
        Self { exit, code, message, hint, status, request_id }
    }
}

impl From<CallError> for CliError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Backend(failure) => failure.into(),
            CallError::Store(_) => Self::new(ExitCode::CannotWrite, ErrorCode::File, chain(&error)),
        }
    }
}

impl From<UploadError> for CliError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Call(error) => error.into(),
            UploadError::File(_) => {
                Self::new(ExitCode::CannotWrite, ErrorCode::File, chain(&error))
            }
        }
    }
}

impl From<ChangeError> for CliError {
    fn from(error: ChangeError) -> Self {
        let hint = match &error {
            ChangeError::Busy => "wait until the other command has ended",
            ChangeError::State(StateError::Damaged { .. }) => {
                "the running version continues, and nothing was overwritten"
            }
            ChangeError::Changed(_) => "run the command again",
            full if full.is_disk_full() => "free some disk space, then run the command again",
            ChangeError::State(StateError::Read { .. })
            | ChangeError::Io { .. }
            | ChangeError::File(_) => "check that you may write to the folder",
        };
        Self::new(error.exit_code(), ErrorCode::Install, chain(&error)).hint(hint)
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        let hint = match error {
            InstallError::Change(error) => return error.into(),
            InstallError::NameTaken(_) => {
                "move that file away, or install into another folder with LINK_HOME"
            }
            InstallError::Downgrade { .. } => "to downgrade, uninstall the newer version first",
        };
        Self::new(error.exit_code(), ErrorCode::Install, chain(&error)).hint(hint)
    }
}

impl From<InvalidAddress> for CliError {
    fn from(error: InvalidAddress) -> Self {
        Self::usage(error.to_string()).hint("give it with --backend or LINK_BACKEND_URL")
    }
}

/// Returns the exit code for a problem of the backend.
const fn exit_of(code: Code) -> ExitCode {
    use Code::{KeyExpired, KeyMistyped, KeyRevoked, KeyUnknown, KeyUsedUp, ProofRequired};
    match code {
        KeyUnknown | KeyExpired | KeyRevoked | KeyUsedUp | KeyMistyped | ProofRequired => {
            ExitCode::KeyRefused
        }
        Code::NotRegistered => ExitCode::NotRegistered,
        Code::UpdateRunning | Code::AgentBusy => ExitCode::Busy,
        Code::MalformedRequest
        | Code::ControlTokenRequired
        | Code::ReaderTokenRequired
        | Code::Unauthorized
        | Code::TokenExpired
        | Code::InvalidCredentials
        | Code::AmbiguousSession
        | Code::CrossSite
        | Code::PlainHttp
        | Code::UnknownHost
        | Code::WrongPassword
        | Code::SetupTokenInvalid
        | Code::OwnerProofInvalid
        | Code::OneTimeCodeInvalid
        | Code::NotOwner
        | Code::SharingNotAllowed
        | Code::Forbidden
        | Code::ScopeMissing
        | Code::ZenohNotOffered
        | Code::AuthorizationPending
        | Code::SlowDown
        | Code::AccessDenied
        | Code::ExpiredToken
        | Code::UserCodeUnknown
        | Code::LastOwner
        | Code::AlreadyMember
        | Code::InvitationInvalid
        | Code::NotFound
        | Code::RetireCodeUnknown
        | Code::RetireCodeStale
        | Code::RetireCodeMistyped
        | Code::MethodNotAllowed
        | Code::DeviceOffline
        | Code::NotDeployed
        | Code::DeviceLimitReached
        | Code::QuotaReached
        | Code::InsufficientStorage
        | Code::AliasTaken
        | Code::PortTaken
        | Code::ModelNotReady
        | Code::ModelInUse
        | Code::AlreadySetUp
        | Code::AlreadyFinal
        | Code::OtherAccount
        | Code::IdempotencyConflict
        | Code::PreconditionFailed
        | Code::StalePoll
        | Code::HandoverPending
        | Code::CommandExpired
        | Code::RequestTimeout
        | Code::PayloadTooLarge
        | Code::UnsupportedMediaType
        | Code::InvalidRequest
        | Code::ChecksumMismatch
        | Code::NotAModel
        | Code::UploadOffset
        | Code::NothingSelected
        | Code::QueueFull
        | Code::TooManyAttempts
        | Code::TooManyStreams
        | Code::Internal
        | Code::Overloaded
        | Code::ContentUnavailable
        | Code::NotReady
        | Code::OriginNotAllowed
        | Code::HostNotAllowed
        | Code::PathNotServed
        | Code::ModelNotServed
        | Code::EngineLoading
        | Code::EngineUnavailable => ExitCode::Refused,
    }
}

#[cfg(test)]
mod tests {
    use link_client::http::{Cause, HttpError};
    use link_protocol::problem::Problem;

    use super::*;

    #[test]
    fn a_problem_gives_its_own_words_and_hint() {
        let problem = Problem::new(Code::DeviceOffline, "device `workstation` is offline");
        let error = CliError::from(refused(409, Some(problem)));
        assert_eq!(
            error.to_json(),
            r#"{"error":"device-offline","message":"device `workstation` is offline","exit_code":77,"hint":"retry when the device is online","status":409}"#
        );
    }

    #[test]
    fn a_refused_key_has_an_exit_code_of_its_own() {
        for code in [Code::KeyUnknown, Code::KeyExpired, Code::KeyRevoked, Code::KeyUsedUp] {
            let error = CliError::from(refused(code.status(), Some(Problem::new(code, ""))));
            assert_eq!((error.exit, error.message.as_str()), (ExitCode::KeyRefused, code.title()));
        }
    }

    #[test]
    fn a_server_that_is_no_backend_is_named_as_such() {
        let error = CliError::from(refused(404, None));
        assert_eq!((error.exit, error.code.as_str()), (ExitCode::Refused, "refused"));
        assert_eq!(error.message, "the backend answered 404: Not Found");
    }

    #[test]
    fn an_unreachable_backend_says_why() {
        let cause = Cause::Connect("Connection refused (os error 111)".into());
        let error =
            CliError::from(Failure::Unavailable { url: "http://127.0.0.1:1/x".into(), cause });
        assert_eq!(error.exit, ExitCode::Unreachable);
        assert_eq!(
            error.message,
            "no answer from http://127.0.0.1:1/x: cannot connect: Connection refused (os error 111)"
        );
    }

    fn refused(status: u16, problem: Option<Problem>) -> Failure {
        Failure::Refused(HttpError {
            status,
            reason: "Not Found".into(),
            retryable: false,
            problem: problem.map(Box::new),
            retry_after: None,
        })
    }
}
