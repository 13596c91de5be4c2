//! Errors on the wire: problem documents (RFC 9457) with a stable code and a hint.
//!
//! The code is the last part of `type`. `detail` is safe to show; confidential details are only in
//! the log.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The media type of a problem document.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// A problem document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// `urn:link:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The id of the request in the backend's log and in the `X-Request-Id` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    /// Creates the document for `code` with its usual hint.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:link:problem:{code}"),
            title: code.title().to_owned(),
            status: code.status(),
            detail: detail.into(),
            code: code.as_str().to_owned(),
            hint: code.hint().map(str::to_owned),
            request_id: None,
        }
    }

    /// Returns the code, if this version knows it.
    #[must_use]
    pub fn known_code(&self) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == self.code)
    }
}

macro_rules! codes {
    ($($name:ident = $code:literal, $status:literal, $title:literal, $hint:expr;)+) => {
        /// The stable codes of problems.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Code { $(#[doc = $title] $name,)+ }

        impl Code {
            /// Every code, for tables and tests.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the code on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// Returns the HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)+ }
            }

            /// Returns the title, the same for every occurrence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Returns the code's hint, if the next step is always the same.
            #[must_use]
            pub const fn hint(self) -> Option<&'static str> {
                match self { $(Self::$name => $hint,)+ }
            }
        }
    };
}

codes! {
    MalformedRequest = "malformed-request", 400, "The request could not be read", None;
    Unauthorized = "unauthorized", 401, "No valid access token", Some("log in with `link login`, or send `Authorization: Bearer <token>`");
    ControlTokenRequired = "control-token-required", 401, "Actions on this device need its control token", Some("use the `link` command, as the user who installed Link");
    ReaderTokenRequired = "reader-token-required", 401, "Reading this needs the reader token of this device", Some("it stands in `run/reader.token` of the state folder; `link status` needs none");
    TokenExpired = "token-expired", 401, "The access token has expired", Some("refresh it, or log in again with `link login`");
    AmbiguousSession = "ambiguous-session", 403, "The request has two cookies of one name", Some("delete the cookies of this address in the browser, then log in again");
    CrossSite = "cross-site-request", 403, "The request does not come from a page of this backend", Some("use the pages of this backend; programs send `Authorization: Bearer <token>` and no cookie");
    PlainHttp = "plain-http", 403, "No login in a browser over plain http", Some("set `public_url` to the https address of a proxy, or open the backend on its own machine at http://127.0.0.1, for example through `ssh -L 8000:127.0.0.1:8000`");
    UnknownHost = "unknown-host", 403, "This address is not the backend's own", Some("open the backend at its `public_url`, or on its own machine at http://127.0.0.1");
    WrongPassword = "wrong-password", 403, "The current password is wrong", Some("check the password and try again");
    InvalidCredentials = "invalid-credentials", 401, "The e-mail or the password is wrong", Some("check both and try again");
    SetupTokenInvalid = "setup-token-invalid", 401, "The setup token is wrong", Some("the backend keeps the token in the file `setup-token` of its data folder");
    OwnerProofInvalid = "owner-proof-invalid", 401, "The owner's proof is wrong", Some("run `link up` as the user that runs this backend");
    OneTimeCodeInvalid = "one-time-code-invalid", 401, "The one-time code is no longer valid", Some("run `link open` again; a code is valid once, for 30 seconds");
    KeyUnknown = "key-unknown", 401, "The key is not known", Some("copy the whole key again, or create a new one");
    KeyExpired = "key-expired", 403, "The key has expired", Some("create a new key");
    KeyRevoked = "key-revoked", 403, "The key was revoked", Some("create a new key");
    KeyUsedUp = "key-used-up", 409, "The key has been used up", Some("create a new key, or use a fleet key for several devices");
    ProofRequired = "proof-required", 403, "The device must prove its old key pair", Some("re-activate it with the registration key that registered it");
    NotOwner = "not-owner", 403, "The model is neither yours nor shared", Some("ask its owner to share the model");
    SharingNotAllowed = "sharing-not-allowed", 403, "This account may not share models", Some("ask the operator of the backend to add the account to `sharing.accounts`");
    Forbidden = "forbidden", 403, "Your role does not allow this", Some("ask an owner of the account");
    ScopeMissing = "scope-missing", 403, "The token lacks a scope", Some("log in, or create a token with this scope with `link token create`");
    AuthorizationPending = "authorization-pending", 400, "The person has not decided yet", Some("ask again after the interval");
    SlowDown = "slow-down", 400, "Asked again too soon", Some("wait five seconds longer between two requests");
    AccessDenied = "access-denied", 400, "The person refused", None;
    ExpiredToken = "expired-token", 400, "The device code has expired or was used", Some("start again with `link login --device`");
    UserCodeUnknown = "user-code-unknown", 404, "No login waits for this code", Some("copy the code again; a code is valid once, for ten minutes");
    LastOwner = "last-owner", 409, "The account would have no owner", Some("make another member an owner first");
    AlreadyMember = "already-member", 409, "The user is a member of the account already", Some("change the role with `link member role`");
    InvitationInvalid = "invitation-invalid", 410, "The invitation is no longer valid", Some("use the e-mail that was invited, or ask for a new invitation");
    NotFound = "not-found", 404, "Not found", None;
    RetireCodeUnknown = "retire-code-unknown", 404, "The retire code fits no device", Some("the device may have been removed or registered again, or it belongs to another backend");
    MethodNotAllowed = "method-not-allowed", 405, "The method is not allowed here", None;
    DeviceOffline = "device-offline", 409, "The device is offline", Some("retry when the device is online");
    NotDeployed = "not-deployed", 409, "The model is not deployed on this device", Some("deploy it first with `link model deploy`");
    DeviceLimitReached = "device-limit-reached", 409, "The account has reached its limit of devices", Some("remove a device that you no longer use, or ask the operator of the backend to raise `device_limit`");
    QuotaReached = "quota-reached", 409, "The account has reached its quota", Some("remove what you no longer use, or ask the operator of the backend to raise the quota");
    AliasTaken = "alias-taken", 409, "Another model on this device has this alias", Some("choose another alias");
    OtherAccount = "other-account", 409, "The key belongs to another account than this device", Some("move the device with `link device transfer`, or make it a new device with `link register --new-device`");
    RetireCodeStale = "retire-code-stale", 409, "The device has registered again since the code was made", Some("to remove the device all the same, remove it from the list of devices");
    UpdateRunning = "update-running", 409, "An update of the agent is under way", Some("follow it with `link status`");
    PortTaken = "port-taken", 409, "The port is in use on this device", Some("choose another port");
    UploadOffset = "upload-offset", 409, "The upload resumes at another offset", Some("send a HEAD request, and resume at the offset in its Upload-Offset header");
    ModelNotReady = "model-not-ready", 409, "The model has no content yet", Some("upload its file first");
    ModelInUse = "model-in-use", 409, "The model is deployed on a device", Some("first remove the model from its devices with `link model remove`");
    AlreadySetUp = "already-set-up", 409, "This backend has its first account", Some("use `link login`");
    AlreadyFinal = "already-final", 409, "The work has already ended", None;
    IdempotencyConflict = "idempotency-conflict", 409, "The idempotency key was used for another request", Some("use a new key for a new request");
    ZenohNotOffered = "zenoh-not-offered", 409, "This backend has no zenoh router", Some("use the transport `http`, or give the backend an endpoint for zenoh");
    StalePoll = "superseded-poll", 409, "A newer poll of the same device took over", Some("two agents may be using one identity");
    RequestTimeout = "request-timeout", 408, "The request did not arrive in time", Some("retry; if it keeps failing, check the network between you and the backend");
    CommandExpired = "command-expired", 410, "The command has expired", None;
    PreconditionFailed = "precondition-failed", 412, "It was changed meanwhile", Some("read it again, and repeat your change");
    PayloadTooLarge = "payload-too-large", 413, "The body is larger than allowed", Some("split it, or send less at a time");
    UnsupportedMediaType = "unsupported-media-type", 415, "The media type is not supported", Some("send JSON with `Content-Type: application/json`");
    InvalidRequest = "invalid-request", 422, "The request is not valid", None;
    NothingSelected = "nothing-selected", 422, "No device is selected", Some("list the devices with `link device list` and the tags with `link fleet list`");
    KeyMistyped = "key-mistyped", 422, "The key is mistyped or incomplete", Some("copy the whole key again");
    RetireCodeMistyped = "retire-code-mistyped", 422, "The retire code is mistyped or incomplete", Some("copy the whole code again");
    ChecksumMismatch = "checksum-mismatch", 422, "The content does not have the announced checksum", Some("upload the file again");
    NotAModel = "not-a-model", 422, "No engine can load this file", Some("use the model's .gguf file");
    QueueFull = "queue-full", 429, "Too many commands wait for this device", Some("wait until the device has carried out some of them");
    TooManyStreams = "too-many-streams", 429, "Too many event streams are open", Some("close another page of this account, and wait for the time in the Retry-After header");
    TooManyAttempts = "too-many-attempts", 429, "Too many attempts", Some("wait for the time in the Retry-After header before you try again");
    Internal = "internal", 500, "The backend failed to handle the request", Some("look up the request id in the backend's log");
    Overloaded = "overloaded", 503, "The backend is overloaded", Some("retry after the time in the Retry-After header");
    ContentUnavailable = "content-unavailable", 503, "Model files cannot be read or written", Some("retry after the time in the Retry-After header; if it keeps failing, run `link-backend doctor`");
    HandoverPending = "handover-pending", 503, "The device was transferred to another account", Some("send a hello first: its answer contains the handover");
    NotReady = "not-ready", 503, "The backend is not ready for requests", Some("read the detail; if it lasts, look into the backend's log");
    NotRegistered = "not-registered", 503, "This device is not registered yet", Some("run `link up` for a backend of your own, or `link register` with the key of another one");
    AgentBusy = "agent-busy", 503, "The agent is busy", Some("retry after the time in the Retry-After header");
    InsufficientStorage = "insufficient-storage", 507, "The backend has no room for the file", Some("remove models that nobody uses, or ask the operator of the backend for a larger disk");
    OriginNotAllowed = "origin-not-allowed", 403, "This page's origin is not on the model's allowlist", Some("repair the deployment with `link repair-serving`, or redeploy the model");
    HostNotAllowed = "host-not-allowed", 403, "The Host header is not one of this device", Some("use 127.0.0.1 or localhost");
    PathNotServed = "path-not-served", 404, "The model does not serve this path", Some("use one of the paths that are served");
    ModelNotServed = "model-not-served", 404, "No model of this name is served on this port", None;
    EngineLoading = "engine-loading", 503, "The model is not ready", Some("retry in a few seconds; `link status` on the device shows why it does not answer");
    EngineUnavailable = "engine-unavailable", 502, "The engine does not answer", Some("look at `link status`");
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_every_status_is_an_error() {
        let names: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| (400..600).contains(&code.status())));
    }

    #[test]
    fn a_document_names_its_code_twice() {
        let problem = Problem::new(Code::DeviceOffline, "device dev_x is offline");
        assert_eq!(problem.kind, "urn:link:problem:device-offline");
        assert_eq!((problem.status, problem.known_code()), (409, Some(Code::DeviceOffline)));
    }
}
