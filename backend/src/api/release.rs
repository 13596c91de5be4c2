//! Serves the installers, releases, engines and the model catalogue for new devices.
//!
//! All of these are public: they contain no secrets, and a device downloads them before it is registered. The installers
//! are part of this program. The other files were verified when they were pulled.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::{install_script::Releases, problem::Code};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use crate::{
    api::{
        agent_content::{Part, part, unsatisfiable},
        problem::Rejection,
    },
    app::App,
    failure::AppError,
};

const SCRIPT: &str = include_str!("../../../scripts/install.sh");
/// The installer for Windows.
const POWER_SHELL: &str = include_str!("../../../scripts/install.ps1");
/// The size of a read, in bytes.
const CHUNK: usize = 64 * 1024;

/// Answers with the installer, which contains the backend's address.
pub(crate) async fn install_script(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let script = match base(&app, &headers) {
        Some(base) => Releases::OfBackend(&base).shell(SCRIPT),
        None => SCRIPT.to_owned(),
    };
    let fields = [
        (header::CONTENT_TYPE, "text/x-shellscript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    std::future::ready((fields, script).into_response()).await
}

/// Answers with the installer for Windows, which contains the backend's address. Windows PowerShell reads the text of an
/// answer only if its type is a text.
pub(crate) async fn install_power_shell(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Response {
    let script = match base(&app, &headers) {
        Some(base) => Releases::OfBackend(&base).power_shell(POWER_SHELL),
        None => POWER_SHELL.to_owned(),
    };
    let fields =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    std::future::ready((fields, script).into_response()).await
}

/// Answers with a published file. `Range` resumes a download.
pub(crate) async fn fetch_released(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let nothing = || Rejection::new(Code::NotFound, "there is nothing at this path");
    let opened = app.releases().open(&name).await;
    let found = opened.map_err(|error| AppError::broken("read a release")(error))?;
    let mut found = found.ok_or_else(nothing)?;
    let (size, tag) = (found.size_bytes, format!("\"{}\"", found.sha256));
    let (kind, age) = match found.is_archive {
        true => ("application/gzip", "public, max-age=31536000, immutable"),
        false if name.ends_with(".json") => ("application/json", "no-cache"),
        false => ("text/plain; charset=utf-8", "no-cache"),
    };
    let asked = headers.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    if asked == Some(tag.as_str()) {
        let fields = [(header::ETAG, tag), (header::CACHE_CONTROL, age.to_owned())];
        return Ok((StatusCode::NOT_MODIFIED, fields).into_response());
    }
    let (status, range) = match part(&headers, &tag, size) {
        Part::Whole => (StatusCode::OK, 0..size),
        Part::Range(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Nothing => return Ok(unsatisfiable(size)),
    };
    let place = found.file.seek(std::io::SeekFrom::Start(range.start)).await;
    place.map_err(|error| AppError::broken("read a release")(error))?;
    let length = range.end - range.start;
    let body = Body::from_stream(ReaderStream::with_capacity(found.file.take(length), CHUNK));
    let fields: [(HeaderName, String); 5] = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::CACHE_CONTROL, age.to_owned()),
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

/// Returns the address of this backend: the configured one or, for a client on this machine, the one that it asked.
fn base(app: &App, headers: &HeaderMap) -> Option<String> {
    if let Some(public) = app.public_url() {
        return Some(public.to_owned());
    }
    let host = headers.get(header::HOST)?.to_str().ok()?;
    is_loopback(host).then(|| format!("http://{host}"))
}

/// Returns whether a `Host` header names this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_on_this_machine_is_believed_about_the_address() {
        for host in ["127.0.0.1:8000", "localhost", "localhost:8000", "[::1]:8000"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["link.example", "127.0.0.1.example:80", "10.0.0.1:8000", "::1", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
