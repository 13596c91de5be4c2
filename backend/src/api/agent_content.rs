//! Model files for devices, whole or in ranges, so that a download can resume.
//!
//! The entity tag is the SHA-256 of the file, so a range always belongs to the intended file.

use std::{ops::Range, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::id::{DeviceId, ModelId};

use crate::{
    api::{
        extract::{Ids, PathDevice},
        problem::Rejection,
    },
    app::App,
};

/// The part of a file that a request asks for.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Part {
    Whole,
    Range(Range<u64>),
    /// The range starts after the end of the file.
    Nothing,
}

/// Downloads the file of a model that is deployed to the device. `Range` resumes a download.
#[utoipa::path(get, path = "/agent/{device_id}/models/{model_id}/content", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("model_id" = ModelId, Path),
        ("Range" = Option<String>, Header, description = "One range of bytes."),
        ("If-Range" = Option<String>, Header, description = "The entity tag of the file that the range belongs to.")),
    responses(
        (status = 200, description = "The file.", content_type = "application/octet-stream", body = String,
            headers(("ETag" = String, description = "The file's SHA-256."))),
        (status = 206, description = "The range.", content_type = "application/octet-stream", body = String),
        (status = 416, description = "The range lies beyond the end of the file.")))]
pub(crate) async fn fetch_content(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, model)): Ids<(DeviceId, ModelId)>,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let content = app.content(&device, model).await?;
    let tag = format!("\"{}\"", content.sha256);
    let size = content.size_bytes;
    let (status, range) = match part(&headers, &tag, size) {
        Part::Whole => (StatusCode::OK, 0..size),
        Part::Range(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Nothing => return Ok(unsatisfiable(size)),
    };
    let length = range.end - range.start;
    let body = Body::from_stream(app.open_content(&content, range.clone()).await?);
    let fields: [(HeaderName, String); 4] = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::ETAG, tag),
    ];
    let mut response = (status, fields, body).into_response();
    if status == StatusCode::PARTIAL_CONTENT
        && let Ok(place) = format!("bytes {}-{}/{size}", range.start, range.end - 1).parse()
    {
        response.headers_mut().insert(header::CONTENT_RANGE, place);
    }
    Ok(response)
}

/// Answers a range that starts after the end of the file.
pub(crate) fn unsatisfiable(size: u64) -> Response {
    let place = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
    (StatusCode::RANGE_NOT_SATISFIABLE, place).into_response()
}

/// Returns the requested part of a file of `size` bytes.
pub(crate) fn part(headers: &HeaderMap, tag: &str, size: u64) -> Part {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|condition| condition != tag) {
        return Part::Whole;
    }
    // For unknown units, several ranges and malformed headers, the whole file is sent.
    let spec = text(header::RANGE).and_then(|range| range.strip_prefix("bytes="));
    let Some((first, last)) = spec.and_then(|spec| spec.split_once('-')) else {
        return Part::Whole;
    };
    let bounds = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(length)) if first.is_empty() => size.saturating_sub(length)..size,
        (Some(_) | None, Some(_) | None) => return Part::Whole,
    };
    if bounds.is_empty() { Part::Nothing } else { Part::Range(bounds) }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_anything_else_is_the_whole_file() {
        for (range, expected) in [
            ("bytes=0-9", Part::Range(0..10)),
            ("bytes=5-", Part::Range(5..100)),
            ("bytes=90-500", Part::Range(90..100)),
            ("bytes=-10", Part::Range(90..100)),
            ("bytes=-1000", Part::Range(0..100)),
            ("bytes=100-", Part::Nothing),
            ("bytes=200-300", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=9-5", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=-", Part::Whole),
            ("lines=0-1", Part::Whole),
        ] {
            let headers = HeaderMap::from_iter([(header::RANGE, range.parse().unwrap())]);
            assert_eq!(part(&headers, "\"tag\"", 100), expected, "{range}");
        }
    }

    #[test]
    fn a_range_of_another_file_is_not_a_range_of_this_one() {
        let mut headers = HeaderMap::from_iter([(header::RANGE, "bytes=5-".parse().unwrap())]);
        headers.insert(header::IF_RANGE, "\"tag\"".parse().unwrap());
        assert_eq!(part(&headers, "\"tag\"", 100), Part::Range(5..100));
        assert_eq!(part(&headers, "\"other\"", 100), Part::Whole);
    }
}
