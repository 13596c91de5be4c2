//! Extractors for handlers. Each refuses an invalid request with a problem document.
//!
//! Every handler extracts the caller first, so a request without a token gets no other information.

use std::{collections::HashMap, sync::Arc};

use axum::{
    body::to_bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, header, request::Parts},
};
use link_protocol::{id::DeviceId, limits, problem::Code};
use serde::de::DeserializeOwned;

use crate::{
    api::problem::Rejection,
    app::App,
    connections::seat::Seat,
    domain::{connections::Party, device::DeviceRecord, refusal::Refusal},
};

const LONGEST_IDEMPOTENCY_KEY: usize = 200;

/// The authenticated device. It matches the path and is in the current epoch. The record is boxed, because a parked
/// poll would otherwise hold several copies of it in its future.
pub(crate) struct PathDevice(pub(crate) Box<DeviceRecord>);

/// The authenticated device. It is in the current epoch.
pub(crate) struct TokenDevice(pub(crate) Box<DeviceRecord>);

/// The authenticated device. It matches the path and may be in an earlier epoch, if it was transferred and has not
/// received the handover yet.
pub(crate) struct AnyPathDevice(pub(crate) Box<DeviceRecord>);

/// The device that a transport other than HTTP has authenticated.
#[derive(Clone)]
pub(crate) struct Proven(pub(crate) DeviceRecord);

/// The identifiers in the path. A malformed identifier counts as unknown.
pub(crate) struct Ids<T>(pub(crate) T);

/// The query parameters.
pub(crate) struct Params<T>(pub(crate) T);

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

/// The `Idempotency-Key` header, if the request has one.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

/// A JSON text does not have the expected structure.
pub(crate) struct JsonError {
    /// The path of the wrong member, or empty for the whole text.
    pub(crate) path: String,
    pub(crate) rejection: Rejection,
}

impl FromRequestParts<Arc<App>> for TokenDevice {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        present(sender(parts, app).await?).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for PathDevice {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        let AnyPathDevice(device) = AnyPathDevice::from_request_parts(parts, app).await?;
        present(device).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for AnyPathDevice {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        // Boxed, so that a parked poll does not hold memory for it.
        let device = Box::pin(sender(parts, app)).await?;
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, app).await;
        let named = path.ok().and_then(|Path(path)| path.get("device_id")?.parse().ok());
        if named == Some(device.id) {
            Ok(Self(device))
        } else {
            Err(Refusal::NotFound("device").into())
        }
    }
}

async fn sender(parts: &mut Parts, app: &Arc<App>) -> Result<Box<DeviceRecord>, Rejection> {
    if let Some(Proven(device)) = parts.extensions.remove::<Proven>() {
        return Ok(Box::new(device));
    }
    let device = app.device_with_token(bearer(&parts.headers)?).await?;
    if let Some(seat) = parts.extensions.get::<Seat>() {
        seat.know(Party::Device(device.account, device.id));
    }
    Ok(Box::new(device))
}

/// Refuses a device in an earlier epoch. Until it enters its new epoch, its reports belong to its previous account.
fn present(device: Box<DeviceRecord>) -> Result<Box<DeviceRecord>, Rejection> {
    if device.is_behind() { Err(Refusal::HandoverPending.into()) } else { Ok(device) }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Ids<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        let path = Path::<T>::from_request_parts(parts, app).await;
        let Path(ids) =
            path.map_err(|_| Rejection::new(Code::NotFound, "an id in the path is malformed"))?;
        Ok(Self(ids))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Rejection> {
        let query = Query::<T>::from_request_parts(parts, app).await;
        let Query(params) =
            query.map_err(|error| Rejection::new(Code::InvalidRequest, error.body_text()))?;
        Ok(Self(params))
    }
}

impl FromRequestParts<Arc<App>> for IdempotencyKey {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Rejection> {
        let Some(value) = parts.headers.get("idempotency-key") else {
            return Ok(Self(None));
        };
        let key = value.to_str().ok().filter(|key| {
            (1..=LONGEST_IDEMPOTENCY_KEY).contains(&key.len())
                && key.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
        });
        let rule = "Idempotency-Key: must have 1 to 200 visible ASCII characters";
        let key = key.ok_or_else(|| Refusal::invalid(rule))?.to_owned();
        std::future::ready(Ok(Self(Some(key)))).await
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, _app: &Arc<App>) -> Result<Self, Rejection> {
        let value = read_json(request).await.map_err(|error| error.rejection)?;
        Ok(Self(value))
    }
}

/// Parses a JSON body. An error names the wrong member.
pub(crate) async fn read_json<T: DeserializeOwned>(request: Request) -> Result<T, JsonError> {
    if !is_json(request.headers()) {
        let detail = "the body must be JSON";
        return Err(whole(Rejection::new(Code::UnsupportedMediaType, detail)));
    }
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let too_large = || {
        let detail = format!("a JSON body has up to {} bytes", limits::JSON_BODY_LIMIT);
        whole(Rejection::new(Code::PayloadTooLarge, detail))
    };
    if announced.is_some_and(|length| length > limits::JSON_BODY_LIMIT) {
        return Err(too_large());
    }
    let body = to_bytes(request.into_body(), limits::JSON_BODY_LIMIT);
    let body = tokio::time::timeout(limits::JSON_BODY_TIMEOUT, body).await;
    let body = body.map_err(|_elapsed| {
        let seconds = limits::JSON_BODY_TIMEOUT.as_secs();
        let detail = format!("the whole body has to come within {seconds} seconds");
        whole(Rejection::new(Code::RequestTimeout, detail))
    })?;
    let body = body.map_err(|error| {
        let limit = std::error::Error::source(&error)
            .is_some_and(|cause| cause.is::<http_body_util::LengthLimitError>());
        if limit {
            too_large()
        } else {
            whole(Rejection::new(Code::MalformedRequest, "the body ended early"))
        }
    })?;
    parse_json(&body)
}

fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, JsonError> {
    // Serde reads a struct from a list of its members too. The list would depend on their order in the code.
    if body.trim_ascii_start().first() == Some(&b'[') {
        let detail = "the body must be a JSON object";
        return Err(whole(Rejection::new(Code::InvalidRequest, detail)));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        let cause = error.inner();
        let code = match cause.classify() {
            serde_json::error::Category::Data => Code::InvalidRequest,
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => Code::MalformedRequest,
        };
        let detail = if path.is_empty() { cause.to_string() } else { format!("{path}: {cause}") };
        JsonError { path, rejection: Rejection::new(code, detail) }
    })?;
    deserializer
        .end()
        .map_err(|error| whole(Rejection::new(Code::MalformedRequest, error.to_string())))?;
    Ok(value)
}

fn whole(rejection: Rejection) -> JsonError {
    JsonError { path: String::new(), rejection }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|text| {
        let essence = text.split(';').next().unwrap_or(text).trim();
        essence.eq_ignore_ascii_case("application/json")
    })
}

/// Returns the token of the `Authorization` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) =
        value.and_then(|value| value.split_once(' ')).ok_or(Refusal::Unauthorized)?;
    if scheme.eq_ignore_ascii_case("Bearer") && !token.trim().is_empty() {
        Ok(token.trim())
    } else {
        Err(Refusal::Unauthorized)
    }
}

/// Parses a device id from a query.
pub(crate) fn device_id(text: &str) -> Result<DeviceId, Rejection> {
    let id = text.parse::<DeviceId>();
    id.map_err(|error| Rejection::new(Code::InvalidRequest, format!("device_id: {error}")))
}
