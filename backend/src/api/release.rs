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
use link_protocol::problem::Code;
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
/// The first line of the installer. The backend's address is inserted after it.
const SHEBANG: &str = "#!/bin/sh\n";
/// The installer for Windows.
const POWER_SHELL: &str = include_str!("../../../scripts/install.ps1");
/// The line of the installer for Windows that the backend's address replaces.
const PLACE: &str = "  # A backend that serves this script puts its address here.\n";
/// The size of a read, in bytes.
const CHUNK: usize = 64 * 1024;

/// Answers with the installer, which contains the backend's address.
pub(crate) async fn install_script(State(app): State<Arc<App>>) -> Response {
    let script = told(app.public_url());
    let fields = [
        (header::CONTENT_TYPE, "text/x-shellscript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    std::future::ready((fields, script).into_response()).await
}

/// Answers with the installer for Windows, which contains the backend's address. Windows PowerShell reads the text of an
/// answer only if its type is a text.
pub(crate) async fn install_power_shell(State(app): State<Arc<App>>) -> Response {
    let script = told_power_shell(app.public_url());
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

/// Returns the installer with this backend's address as the default for releases and for the registration. An address
/// with characters that are special to a shell is not inserted.
fn told(public_url: Option<&str>) -> String {
    let Some(base) = plain(public_url) else { return SCRIPT.to_owned() };
    let told = format!(
        "{SHEBANG}[ -n \"${{LINK_INSTALL_URL:-}}${{LINK_REPO_URL:-}}\" ] || LINK_INSTALL_URL='{base}/releases'\n\
         : \"${{LINK_BACKEND_URL:={base}}}\"; export LINK_INSTALL_URL LINK_BACKEND_URL\n"
    );
    SCRIPT.replacen(SHEBANG, &told, 1)
}

/// Returns the installer for Windows with this backend's address, as [`told`] does.
fn told_power_shell(public_url: Option<&str>) -> String {
    let Some(base) = plain(public_url) else { return POWER_SHELL.to_owned() };
    let told = format!(
        "  if (-not $env:LINK_INSTALL_URL -and -not $env:LINK_REPO_URL) {{ $env:LINK_INSTALL_URL = '{base}/releases' }}\n  \
         if (-not $env:LINK_BACKEND_URL) {{ $env:LINK_BACKEND_URL = '{base}' }}\n"
    );
    POWER_SHELL.replacen(PLACE, &told, 1)
}

/// Returns the address without a slash at its end, if it has no characters that are special to a shell.
pub(super) fn plain(public_url: Option<&str>) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]".contains(c);
    let base = public_url.filter(|url| url.chars().all(is_plain))?;
    Some(base.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installer_is_told_an_address_that_a_shell_cannot_read_otherwise() {
        let script = told(Some("https://link.example/"));
        assert!(script.starts_with("#!/bin/sh\n[ -n "), "{}", &script[..80]);
        assert!(script.contains("LINK_INSTALL_URL='https://link.example/releases'"));
        assert!(script.contains(": \"${LINK_BACKEND_URL:=https://link.example}\""));
        for bad in ["https://a.example/$(id)", "https://a.example/';id;'", "https://a.example/`id`"]
        {
            assert_eq!(told(Some(bad)), SCRIPT, "{bad}");
            assert_eq!(told_power_shell(Some(bad)), POWER_SHELL, "{bad}");
        }
        assert_eq!(told(None), SCRIPT);
        assert_eq!(told_power_shell(None), POWER_SHELL);
    }

    #[test]
    fn the_installer_for_windows_is_told_the_address_once_and_inside_its_function() {
        assert_eq!(POWER_SHELL.matches(PLACE).count(), 1);
        let script = told_power_shell(Some("https://link.example/"));
        let (before, after) =
            script.split_once("$env:LINK_INSTALL_URL = 'https://link.example/releases'").unwrap();
        assert!(
            before.contains("\nfunction Install-Link {\n"),
            "nothing runs outside of the function"
        );
        assert!(
            before.contains("'LINK_INSTALL_URL', 'LINK_BACKEND_URL')) { $before"),
            "the session gets its values back"
        );
        assert!(after.starts_with(" }\n  if (-not $env:LINK_BACKEND_URL) { $env:LINK_BACKEND_URL = 'https://link.example' }\n"));
        assert!(!script.contains(PLACE));
    }
}
