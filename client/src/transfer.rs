//! Downloads one file over HTTP: resumes after a cut, hashes the bytes as they arrive, and accepts only a file with the
//! expected checksum.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: writes the file as it arrives, and waits between tries"
)]

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::StreamExt as _;
use link_platform::{checkpoint, disk, fs};
use link_protocol::{command::Sha256Hex, secret::Secret};
use reqwest::{StatusCode, header};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::watch,
};

use crate::{download, http::InvalidAddress, retry};

/// The longest silence of a server in the middle of a file.
const STALL: Duration = Duration::from_secs(30);

/// Waits between attempts that brought no bytes. After one more such attempt the download has failed.
const RETRIES: [Duration; 5] = [
    Duration::from_millis(500),
    Duration::from_millis(1500),
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(12),
];

/// The base timeout of every download, to which the time for its size is added.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// The slowest accepted rate, in bytes per second. At this rate of an early mobile network, 10 GB take a week. Without
/// this limit, a server that sends single bytes could keep a download alive for ever.
const SLOWEST: u64 = 16 * 1024;

/// The disk space that a download leaves free, in bytes.
const SPARE: u64 = 64 * 1024 * 1024;

/// The source of a file.
#[derive(Debug)]
pub struct Source {
    pub url: String,
    pub bearer: Option<Secret>,
}

/// One download.
#[derive(Debug)]
pub struct Transfer<'a> {
    pub source: Source,
    pub size_bytes: u64,
    pub sha256: &'a Sha256Hex,
    /// The path of the complete file. Its folder is created if necessary.
    pub path: &'a Path,
    /// Receives the number of bytes on disk.
    pub progress: &'a watch::Sender<u64>,
}

/// The outcome of one attempt.
enum Try {
    /// The file is complete.
    Whole,
    /// The connection was cut or refused. A retry after `retry_after` may resume.
    Cut { reason: String, retry_after: Option<Duration> },
    /// No retry can succeed.
    Fatal(TransferError),
}

impl Try {
    fn cut(reason: String) -> Self {
        Self::Cut { reason, retry_after: None }
    }
}

/// The failure of a download, for a person.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TransferError {
    /// The file does not match the expected size or checksum.
    #[error("{0}")]
    Altered(String),
    #[error("{0}")]
    Failed(String),
}

/// Returns the path of the incomplete file.
#[must_use]
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

impl Transfer<'_> {
    /// Downloads the file. Resumes from the part file that a cut or a crash has left.
    ///
    /// # Errors
    /// [`TransferError`] when the file is not complete and verified.
    pub async fn run(&self) -> Result<(), TransferError> {
        if tokio::fs::metadata(self.path).await.is_ok_and(|found| found.len() == self.size_bytes) {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_private_dir(folder).map_err(|error| failed(&error))?;
        }
        let part = part(self.path);
        let client = download::client(&self.source.url, STALL).map_err(|error| match error {
            // The address may be private to the owner of the file, so the message does not contain it.
            InvalidAddress::NotHttp(_) => failed(&"the file has no http or https address"),
            InvalidAddress::Tls(cause) => failed(&format!("cannot set up TLS: {cause}")),
        })?;
        let mut progress = self.resume(&part).await.map_err(|error| explain(&error))?;
        self.check_space(progress.done)?;
        let resumed = progress.done > 0;
        let limit = patience(self.size_bytes.saturating_sub(progress.done));
        match self.fetch(&client, &mut progress, &part, limit).await {
            // A power cut may have damaged the bytes of an earlier run.
            Err(TransferError::Altered(reason)) if resumed => {
                tracing::warn!("a resumed download was damaged and restarts: {reason}");
                progress.restart().await.map_err(|error| explain(&error))?;
                let limit = patience(self.size_bytes);
                self.fetch(&client, &mut progress, &part, limit).await
            }
            ended => ended,
        }
    }

    async fn fetch(
        &self,
        client: &reqwest::Client,
        progress: &mut Progress,
        part: &Path,
        limit: Duration,
    ) -> Result<(), TransferError> {
        match tokio::time::timeout(limit, self.fetch_all(client, progress)).await {
            Ok(fetched) => fetched?,
            Err(_elapsed) => {
                let (done, size) = (progress.done, self.size_bytes);
                let reason = format!("the server is too slow: {done} of {size} bytes came in time");
                return Err(failed(&reason));
            }
        }
        self.verify(progress, part).await
    }

    /// Retries until the file is complete or the attempts bring no more bytes.
    async fn fetch_all(
        &self,
        client: &reqwest::Client,
        progress: &mut Progress,
    ) -> Result<(), TransferError> {
        let mut fruitless = 0;
        loop {
            let before = progress.done;
            match self.try_once(client, progress).await {
                Try::Whole => return Ok(()),
                Try::Fatal(error) => return Err(error),
                Try::Cut { reason, retry_after } => {
                    fruitless = if progress.done > before { 0 } else { fruitless + 1 };
                    tracing::warn!(done = progress.done, "download was cut: {reason}");
                    let Some(wait) = RETRIES.get(fruitless) else {
                        return Err(failed(&reason));
                    };
                    tokio::time::sleep(retry::no_sooner(*wait, retry_after)).await;
                }
            }
        }
    }

    /// Opens the part file and hashes its bytes from an earlier attempt.
    async fn resume(&self, part: &Path) -> io::Result<Progress> {
        let mut file = tokio::fs::File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(part)
            .await?;
        let mut progress = Progress { file: None, hash: Sha256::new(), done: 0 };
        if file.metadata().await?.len() > self.size_bytes {
            file.set_len(0).await?;
        }
        let mut buffer = vec![0; 1024 * 1024];
        loop {
            let read = file.read(&mut buffer).await?;
            if read == 0 {
                break;
            }
            progress.hash.update(&buffer[..read]);
            progress.done += read as u64;
        }
        progress.file = Some(file);
        Ok(progress)
    }

    fn check_space(&self, done: u64) -> Result<(), TransferError> {
        let needed = self.size_bytes.saturating_sub(done).saturating_add(SPARE);
        let folder = self.path.parent().unwrap_or(self.path);
        match disk::free_bytes(folder) {
            Ok(Some(free)) if free < needed => {
                let short = format!("{needed} bytes are needed, {free} are free");
                Err(failed(&format!("not enough disk space: {short}")))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(failed(&format!("cannot read the free disk space: {error}"))),
        }
    }

    async fn try_once(&self, client: &reqwest::Client, progress: &mut Progress) -> Try {
        if progress.done == self.size_bytes {
            return Try::Whole;
        }
        let mut request = client.get(&self.source.url);
        if let Some(token) = &self.source.bearer {
            request = request.bearer_auth(token.expose());
        }
        if progress.done > 0 {
            request = request.header(header::RANGE, format!("bytes={}-", progress.done));
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                return Try::cut(format!("the server is unreachable: {}", brief(&error)));
            }
        };
        match response.status() {
            StatusCode::OK => {
                if let Err(error) = progress.restart().await {
                    return Try::Fatal(explain(&error));
                }
            }
            StatusCode::PARTIAL_CONTENT if starts_at(&response, progress.done) => {}
            status if may_pass(status) => {
                let reason = format!("the server answered {status}");
                return Try::Cut { reason, retry_after: retry::asked_for(response.headers()) };
            }
            status => return Try::Fatal(failed(&format!("the server answered {status}"))),
        }
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    return Try::cut(format!("the connection was cut: {}", brief(&error)));
                }
            };
            if progress.done + chunk.len() as u64 > self.size_bytes {
                let reason = "the file is longer than announced".to_owned();
                return Try::Fatal(TransferError::Altered(reason));
            }
            if let Err(error) = progress.write(&chunk).await {
                return Try::Fatal(explain(&error));
            }
            checkpoint::reach("bytes-written");
            self.progress.send_replace(progress.done);
        }
        if progress.done == self.size_bytes {
            Try::Whole
        } else {
            // The server ended the file cleanly, so no more bytes will come.
            Try::Fatal(TransferError::Altered(format!(
                "the file is shorter than announced: {} of {} bytes",
                progress.done, self.size_bytes
            )))
        }
    }

    async fn verify(&self, progress: &mut Progress, part: &Path) -> Result<(), TransferError> {
        let found = Sha256Hex::from_digest(&progress.hash.clone().finalize());
        if found != *self.sha256 {
            return Err(TransferError::Altered(format!(
                "the checksum is wrong: expected {}, got {found}",
                *self.sha256
            )));
        }
        if let Some(mut file) = progress.file.take() {
            let synced = async { file.flush().await.and(file.sync_all().await) };
            synced.await.map_err(|error| explain(&error))?;
        }
        checkpoint::reach("verified");
        fs::rename(part, self.path).map_err(|error| failed(&error))
    }
}

/// The open part file, and the hash of its bytes.
struct Progress {
    file: Option<tokio::fs::File>,
    hash: Sha256,
    done: u64,
}

impl Progress {
    async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(chunk).await?;
            // A disk error appears only after the bytes have left the buffer.
            file.flush().await?;
        }
        self.hash.update(chunk);
        self.done += chunk.len() as u64;
        Ok(())
    }

    async fn restart(&mut self) -> io::Result<()> {
        use tokio::io::AsyncSeekExt as _;

        if let Some(file) = &mut self.file {
            file.set_len(0).await?;
            file.seek(io::SeekFrom::Start(0)).await?;
        }
        self.hash = Sha256::new();
        self.done = 0;
        Ok(())
    }
}

/// Returns the longest time for `bytes`, including retries and waits.
fn patience(bytes: u64) -> Duration {
    PATIENCE.saturating_add(Duration::from_secs(bytes / SLOWEST))
}

/// Returns whether a retry may succeed after this answer.
fn may_pass(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

fn starts_at(response: &reqwest::Response, start: u64) -> bool {
    response
        .headers()
        .get(header::CONTENT_RANGE)
        .and_then(|range| range.to_str().ok())
        .is_some_and(|range| range.starts_with(&format!("bytes {start}-")))
}

/// Describes an error without the address, which may be private to the owner of the model.
fn brief(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "no answer in time"
    } else if let Some(reason) = download::tls_or_proxy(error) {
        reason
    } else if error.is_connect() {
        "connection refused"
    } else {
        "broken off"
    }
}

fn explain(error: &io::Error) -> TransferError {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        failed(&"the disk is full")
    } else {
        failed(&format!("the file cannot be written: {error}"))
    }
}

fn failed(reason: &dyn std::fmt::Display) -> TransferError {
    TransferError::Failed(reason.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::{Router, body::Body, http::StatusCode, response::IntoResponse as _, routing::get};
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn a_download_may_take_as_long_as_its_size_needs_on_a_slow_line() {
        assert_eq!(patience(0), PATIENCE);
        assert_eq!(patience(16 * 1024 * 60), PATIENCE + Duration::from_secs(60));
        let days = patience(10_000_000_000).as_secs() / (24 * 60 * 60);
        assert_eq!(days, 7, "10 GB");
        assert!(patience(u64::MAX) > patience(10_000_000_000));
    }

    #[tokio::test]
    async fn a_server_that_drips_does_not_keep_a_download_alive() {
        crate::install_crypto();
        let drip = || async {
            let drops = futures_util::stream::unfold((), |()| async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                Some((Ok::<_, io::Error>("x"), ()))
            });
            Body::from_stream(drops)
        };
        let app = Router::new().route("/m", get(drip));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/m", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (progress, _) = watch::channel(0);
        let transfer = Transfer {
            source: Source { url, bearer: None },
            size_bytes: 1024 * 1024,
            sha256: &Sha256Hex::from_digest(&[7; 32]),
            path: &path,
            progress: &progress,
        };
        let part = part(&path);
        let client = download::client(&transfer.source.url, STALL).unwrap();
        let mut kept = transfer.resume(&part).await.unwrap();
        let limit = Duration::from_millis(300);
        let failed =
            transfer.fetch(&client, &mut kept, &part, limit).await.unwrap_err().to_string();
        assert!(failed.starts_with("the server is too slow"), "{failed}");
        assert!(kept.done < transfer.size_bytes && !path.exists(), "{}", kept.done);
    }

    #[tokio::test]
    async fn a_server_that_asks_for_a_longer_wait_is_not_asked_earlier() {
        crate::install_crypto();
        let times = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&times);
        let busy_at_first = move || {
            let mut asked = asked.lock().unwrap();
            asked.push(Instant::now());
            let is_first = asked.len() == 1;
            async move {
                if is_first {
                    let busy = StatusCode::TOO_MANY_REQUESTS;
                    return (busy, [(header::RETRY_AFTER, "3")]).into_response();
                }
                "whole".into_response()
            }
        };
        let app = Router::new().route("/m", get(busy_at_first));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/m", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (progress, _) = watch::channel(0);
        let sha256 = &Sha256Hex::from_digest(&Sha256::digest("whole"));
        let source = Source { url, bearer: None };
        let transfer = Transfer { source, size_bytes: 5, sha256, path: &path, progress: &progress };
        transfer.run().await.unwrap();
        let times = times.lock().unwrap().clone();
        let [first, second] = times[..] else { panic!("{times:?}") };
        assert!(second - first >= Duration::from_secs(3), "{:?}", second - first);
    }

    /// A mirror, or one of two mirrors behind the same name, may answer with the rest of a different file.
    #[tokio::test]
    async fn parts_of_two_files_are_never_put_together() {
        crate::install_crypto();
        let (one, other) = (vec![1_u8; 64 * 1024], vec![2_u8; 64 * 1024]);
        let (size_bytes, half) = (one.len() as u64, one[..one.len() / 2].to_vec());
        let sha256 = &Sha256Hex::from_digest(&Sha256::digest(&one));
        let answer = |headers: axum::http::HeaderMap| async move {
            let range = headers.get("range").and_then(|range| range.to_str().ok());
            let start = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
            let start = start.and_then(|start| start.parse::<usize>().ok());
            let range = format!("bytes {}-{}/{}", start.unwrap_or(0), other.len() - 1, other.len());
            axum::http::Response::builder()
                .status(if start.is_some() { 206 } else { 200 })
                .header("content-range", range)
                .body(Body::from(other[start.unwrap_or(0)..].to_vec()))
                .unwrap()
        };
        let app = Router::new().route("/m", get(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/m", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (progress, _) = watch::channel(0);
        let source = Source { url, bearer: None };
        let transfer = Transfer { source, size_bytes, sha256, path: &path, progress: &progress };
        fs::write_private(&part(&path), &half).unwrap();
        let refused = transfer.run().await.unwrap_err();
        assert!(matches!(refused, TransferError::Altered(_)), "{refused:?}");
        assert!(!path.exists());
    }
}
