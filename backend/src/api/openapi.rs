//! The OpenAPI 3.1 document, generated from the handlers' declarations and completed with the problems of each operation.

mod schemas;

use std::{collections::BTreeMap, sync::LazyLock};

use link_protocol::{
    backend_api::{
        device::DeviceSort,
        event::{StreamEnd, StreamReady},
        model::ModelSort,
    },
    problem::{CONTENT_TYPE, Code, Problem},
};
use serde_json::{Value, json};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self, ContentBuilder, Header, Object, Ref, RefOr, ResponseBuilder, Type,
        path::{Operation, ParameterBuilder, ParameterIn, PathItem},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::api::declared;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Link",
        description = "Deploys models to devices, serves them there, and repairs what they serve. \
                       Errors are problem documents (RFC 9457) with a stable `code`."
    ),
    components(schemas(DeviceSort, ModelSort, Problem, StreamReady, StreamEnd)),
    modifiers(&Schemes),
    tags(
        (name = "account", description = "The first account, logins, and the caller's accounts."),
        (name = "member", description = "The members of an account, and invitations."),
        (name = "token", description = "Personal access tokens."),
        (name = "key", description = "Registration and fleet keys."),
        (name = "device", description = "Devices and their registration."),
        (name = "model", description = "Models and their files."),
        (name = "deployment", description = "Deployments of models to devices."),
        (name = "serving", description = "Repair, serve, stop and uninstall models, and the commands for that."),
        (name = "operations", description = "Operations on many devices, which the backend carries out."),
        (name = "usage", description = "Token usage of models, summed by hour or day."),
        (name = "setting", description = "Settings."),
        (name = "agent", description = "Requests of the agent of a device."),
        (name = "operation", description = "Health checks of the backend.")
    )
)]
pub(crate) struct Document;

/// The problems that only some operations can answer with.
const PARTICULAR: &[(&str, &[Code])] = &[
    ("set_up", &[Code::SetupTokenInvalid, Code::AlreadySetUp]),
    ("log_in", &[Code::InvalidCredentials, Code::TooManyAttempts]),
    (
        "open_session",
        &[
            Code::InvalidCredentials,
            Code::TooManyAttempts,
            Code::OneTimeCodeInvalid,
            Code::SetupTokenInvalid,
            Code::AlreadySetUp,
            Code::Unauthorized,
            Code::ScopeMissing,
            Code::InvitationInvalid,
            Code::AlreadyMember,
            Code::NotFound,
            Code::AmbiguousSession,
            Code::CrossSite,
            Code::PlainHttp,
            Code::UnknownHost,
        ],
    ),
    ("close_session", &[Code::NotFound]),
    ("end_other_sessions", &[Code::NotFound]),
    ("change_password", &[Code::WrongPassword, Code::TooManyAttempts, Code::NotFound]),
    ("refresh", &[Code::Unauthorized]),
    ("begin_device_login", &[Code::TooManyAttempts]),
    (
        "poll_device_login",
        &[Code::AuthorizationPending, Code::SlowDown, Code::AccessDenied, Code::ExpiredToken],
    ),
    ("inquire_device_login", &[Code::UserCodeUnknown, Code::TooManyAttempts]),
    ("decide_device_login", &[Code::UserCodeUnknown, Code::TooManyAttempts]),
    ("log_in_owner", &[Code::OwnerProofInvalid, Code::NotFound]),
    ("make_owner_code", &[Code::OwnerProofInvalid, Code::NotFound]),
    ("redeem_owner_code", &[Code::OneTimeCodeInvalid, Code::NotFound]),
    ("set_owner_password", &[Code::OwnerProofInvalid, Code::NotFound]),
    ("stream_events", &[Code::NotFound, Code::TooManyStreams]),
    ("create_key", &[Code::QuotaReached]),
    ("create_token", &[Code::QuotaReached]),
    ("invite_member", &[Code::QuotaReached]),
    ("change_member", &[Code::LastOwner]),
    ("remove_member", &[Code::LastOwner]),
    ("leave_account", &[Code::LastOwner]),
    (
        "accept_invitation",
        &[
            Code::Unauthorized,
            Code::TokenExpired,
            Code::ScopeMissing,
            Code::TooManyAttempts,
            Code::InvitationInvalid,
            Code::AlreadyMember,
            Code::AmbiguousSession,
            Code::CrossSite,
            Code::PlainHttp,
            Code::UnknownHost,
        ],
    ),
    ("enter_account", &[Code::NotFound]),
    (
        "register_with_key",
        &[
            Code::Unauthorized,
            Code::TokenExpired,
            Code::KeyMistyped,
            Code::KeyUnknown,
            Code::KeyExpired,
            Code::KeyRevoked,
            Code::KeyUsedUp,
            Code::ProofRequired,
            Code::OtherAccount,
            Code::DeviceLimitReached,
        ],
    ),
    ("retire_device", &[Code::RetireCodeMistyped, Code::RetireCodeUnknown, Code::RetireCodeStale]),
    (
        "create_operation",
        &[Code::NotFound, Code::NothingSelected, Code::QuotaReached, Code::IdempotencyConflict],
    ),
    ("cancel_operation", &[Code::AlreadyFinal]),
    ("retry_operation", &[Code::AlreadyFinal, Code::QuotaReached]),
    ("update_device", &[Code::IdempotencyConflict, Code::QueueFull]),
    ("replace_allowlist", &[Code::PreconditionFailed]),
    (
        "transfer_device",
        &[
            Code::KeyMistyped,
            Code::KeyUnknown,
            Code::KeyExpired,
            Code::KeyRevoked,
            Code::KeyUsedUp,
            Code::DeviceLimitReached,
        ],
    ),
    ("create_model", &[Code::SharingNotAllowed, Code::QuotaReached]),
    ("change_model", &[Code::NotOwner, Code::SharingNotAllowed]),
    ("remove_model", &[Code::NotOwner, Code::ModelInUse]),
    (
        "upload_content",
        &[
            Code::NotOwner,
            Code::QuotaReached,
            Code::InsufficientStorage,
            Code::RequestTimeout,
            Code::ChecksumMismatch,
            Code::NotAModel,
            Code::InvalidRequest,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
        ],
    ),
    ("read_upload", &[Code::NotOwner, Code::InvalidRequest]),
    (
        "resume_content",
        &[
            Code::NotOwner,
            Code::UploadOffset,
            Code::QuotaReached,
            Code::InsufficientStorage,
            Code::RequestTimeout,
            Code::ChecksumMismatch,
            Code::NotAModel,
            Code::InvalidRequest,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
        ],
    ),
    (
        "create_deployment",
        &[
            Code::NotFound,
            Code::NotOwner,
            Code::ModelNotReady,
            Code::AliasTaken,
            Code::IdempotencyConflict,
            Code::QueueFull,
        ],
    ),
    ("cancel_deployment", &[Code::AlreadyFinal, Code::QueueFull]),
    (
        "repair_serving",
        &[
            Code::NotOwner,
            Code::NotDeployed,
            Code::DeviceOffline,
            Code::IdempotencyConflict,
            Code::QueueFull,
        ],
    ),
    ("serve_model", &[Code::NotOwner, Code::NotDeployed, Code::DeviceOffline, Code::QueueFull]),
    ("stop_model", &[Code::NotDeployed, Code::QueueFull]),
    ("uninstall_model", &[Code::NotDeployed, Code::QueueFull]),
    ("open_zenoh", &[Code::ZenohNotOffered]),
    ("poll_commands", &[Code::StalePoll]),
    ("acknowledge_command", &[Code::CommandExpired]),
    ("report_command", &[Code::CommandExpired]),
    ("fetch_content", &[Code::ModelNotReady]),
];

/// The operations that a transferred device may call while it is still in its earlier epoch.
const WHILE_BEHIND: [&str; 3] = ["hello", "open_zenoh", "deregister_device"];

struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, format, description) in [
            (
                "access_token",
                "JWT",
                "The access token of a login, valid for 15 minutes, or a personal access token. The \
                 user's role, and the scopes of a personal token, must include the permission \
                 that the operation names. A page of the backend sends the cookie of \
                 `POST /api/v1/session` and the header `X-Link-Csrf` in its place; beside a token \
                 cookies are ignored.",
            ),
            ("device_token", "opaque", "The token that a device gets from its registration."),
        ] {
            let scheme = HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .bearer_format(format)
                .description(Some(description))
                .build();
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

/// Returns the document as text, formatted and in a stable order.
#[must_use]
pub fn json(public_url: Option<&str>) -> String {
    let mut text = serde_json::to_string_pretty(&document(public_url))
        .expect("a document has only string keys");
    text.push('\n');
    text
}

/// The document without an address.
static DOCUMENT: LazyLock<Value> = LazyLock::new(generated);

/// Returns the document of the backend with this public address.
#[must_use]
pub fn document(public_url: Option<&str>) -> Value {
    let mut document = DOCUMENT.clone();
    if let (Some(url), Some(members)) = (public_url, document.as_object_mut()) {
        members.insert("servers".to_owned(), json!([{ "url": url }]));
        members.sort_keys();
    }
    document
}

fn generated() -> Value {
    let (_, mut document) = declared().split_for_parts();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    for item in document.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, head, .. } = item;
        let changing = [put, post, delete, patch, head].into_iter().flatten();
        changing.for_each(|operation| complete(operation, false));
        if let Some(operation) = get {
            complete(operation, is_for(operation, "access_token"));
        }
    }
    let mut value = serde_json::to_value(&document).expect("a document has only string keys");
    schemas::correct(&mut value);
    // Build features change the order of a map's keys. Sorting makes the order stable.
    value.sort_all_objects();
    value
}

/// Documents the entity tag of a document or a list.
fn add_tag(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    let Some(RefOr::T(found)) = responses.get_mut("200") else { return };
    if !found.content.contains_key("application/json") {
        return;
    }
    let text = || Object::with_type(Type::String);
    let mut tag = Header::new(text());
    tag.description = Some("The tag of the answer.".to_owned());
    found.headers.insert("ETag".to_owned(), RefOr::T(tag));
    let same = ResponseBuilder::new().description("The answer has the tag of `If-None-Match`.");
    responses.insert("304".to_owned(), RefOr::T(same.build()));
    let known = ParameterBuilder::new()
        .name("If-None-Match")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "The tag of an earlier answer. If nothing has changed, the answer is 304.",
        ))
        .schema(Some(text()));
    operation.parameters.get_or_insert_default().push(RefOr::T(known.build()));
}

fn complete(operation: &mut Operation, is_read: bool) {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in problems(operation) {
        let codes = by_status.entry(code.status()).or_default();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    for (status, codes) in by_status {
        let names: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response =
            ResponseBuilder::new().description(names.join(", ")).content(CONTENT_TYPE, content);
        let responses = &mut operation.responses.responses;
        responses.insert(status.to_string(), RefOr::T(response.build()));
    }
    if is_read {
        add_tag(operation);
    }
    if operation.description.is_none() {
        operation.description.clone_from(&operation.summary);
    }
}

fn problems(operation: &Operation) -> Vec<Code> {
    let mut codes = vec![Code::Internal, Code::Overloaded];
    if is_secured(operation) {
        codes.extend([Code::Unauthorized, Code::TokenExpired]);
    }
    if operation.operation_id.as_deref() == Some("check_readiness") {
        codes.push(Code::NotReady);
    }
    if is_secured(operation) && is_for(operation, "access_token") {
        codes.extend([Code::Forbidden, Code::ScopeMissing, Code::InvalidRequest]);
        codes.extend([Code::AmbiguousSession, Code::CrossSite, Code::PlainHttp, Code::UnknownHost]);
    }
    let places: Vec<&ParameterIn> = operation
        .parameters
        .iter()
        .flatten()
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(&parameter.parameter_in),
            RefOr::Ref(_) => None,
        })
        .collect();
    if places.contains(&&ParameterIn::Path) {
        codes.push(Code::NotFound);
    }
    if places.contains(&&ParameterIn::Query) {
        codes.push(Code::InvalidRequest);
    }
    let takes_json = operation.request_body.as_ref().is_some_and(|body| match body {
        RefOr::T(body) => body.content.contains_key("application/json"),
        RefOr::Ref(_) => false,
    });
    if takes_json {
        codes.extend([
            Code::MalformedRequest,
            Code::RequestTimeout,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
            Code::InvalidRequest,
        ]);
    }
    let id = operation.operation_id.as_deref().unwrap_or_default();
    if is_for(operation, "device_token") && !WHILE_BEHIND.contains(&id) {
        codes.push(Code::HandoverPending);
    }
    let particular = PARTICULAR.iter().find(|(operation, _)| *operation == id);
    codes.extend(particular.into_iter().flat_map(|(_, codes)| *codes));
    codes
}

/// Tells whether the operation accepts the token scheme `scheme`.
fn is_for(operation: &Operation, scheme: &str) -> bool {
    let requirements = serde_json::to_value(&operation.security).unwrap_or_default();
    requirements.as_array().into_iter().flatten().any(|one| one.get(scheme).is_some())
}

/// Tells whether the operation requires a token: it does not list the empty requirement.
fn is_secured(operation: &Operation) -> bool {
    let requirements = serde_json::to_value(&operation.security).unwrap_or_default();
    let requirements = requirements.as_array().cloned().unwrap_or_default();
    !requirements.is_empty()
        && requirements.iter().all(|one| one.as_object().is_some_and(|one| !one.is_empty()))
}
