//! One file over HTTP: resumed where it was cut, hashed as it arrives, refused unless it is
//! exactly what was announced.

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
use link_agent_core::{event::Event, record::DownloadId};
use link_platform::{checkpoint, disk, fs};
use link_protocol::{
    command::{ModelFile, Sha256Hex},
    limits,
    secret::Secret,
};
use reqwest::{StatusCode, header};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::run::Inbox;

/// How long a server may stay silent in the middle of a file.
const STALL: Duration = Duration::from_secs(30);

/// Waits between tries that brought nothing; one more such try and the download has failed.
const RETRIES: [Duration; 5] = [
    Duration::from_millis(500),
    Duration::from_millis(1500),
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(12),
];

/// Space that is left to the rest of the machine, in bytes.
const SPARE: u64 = 64 * 1024 * 1024;

/// Where a file comes from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) url: String,
    pub(super) bearer: Option<Secret>,
}

/// One download.
#[derive(Debug)]
pub(super) struct Transfer<'a> {
    pub(super) client: reqwest::Client,
    pub(super) source: Source,
    pub(super) file: &'a ModelFile,
    pub(super) path: &'a Path,
    pub(super) download: DownloadId,
    pub(super) inbox: &'a Inbox,
}

/// How one try ended.
enum Try {
    /// Every byte is there.
    Whole,
    /// The connection was cut or refused; another try may go on from here.
    Cut(String),
    /// It can never succeed.
    Fatal(String),
}

/// Makes the client of all downloads.
pub(super) fn client() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .user_agent(concat!("link-agent/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(limits::CONNECT_TIMEOUT)
        .read_timeout(STALL)
        .build()
}

/// Where the bytes are before the file is whole.
pub(super) fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

impl Transfer<'_> {
    /// Brings the file to its place; an error says why it is not there.
    pub(super) async fn run(&self) -> Result<(), String> {
        if tokio::fs::metadata(self.path)
            .await
            .is_ok_and(|found| found.len() == self.file.size_bytes)
        {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_private_dir(folder).map_err(|error| error.to_string())?;
        }
        let part = part(self.path);
        let mut progress = self.resume(&part).await.map_err(|error| explain(&error))?;
        self.check_space(progress.done)?;
        let mut fruitless = 0;
        loop {
            let before = progress.done;
            match self.try_once(&mut progress).await {
                Try::Whole => break,
                Try::Fatal(reason) => return Err(reason),
                Try::Cut(reason) => {
                    fruitless = if progress.done > before { 0 } else { fruitless + 1 };
                    tracing::warn!(done = progress.done, "download was cut: {reason}");
                    let Some(wait) = RETRIES.get(fruitless) else { return Err(reason) };
                    tokio::time::sleep(*wait).await;
                }
            }
        }
        self.verify(progress, &part).await
    }

    /// Takes up what an earlier try left, with its hash.
    async fn resume(&self, part: &Path) -> io::Result<Progress> {
        let mut file = tokio::fs::File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(part)
            .await?;
        let mut progress = Progress { file: None, hash: Sha256::new(), done: 0 };
        if file.metadata().await?.len() > self.file.size_bytes {
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

    fn check_space(&self, done: u64) -> Result<(), String> {
        let needed = self.file.size_bytes.saturating_sub(done).saturating_add(SPARE);
        let folder = self.path.parent().unwrap_or(self.path);
        match disk::free_bytes(folder) {
            Ok(Some(free)) if free < needed => {
                Err(format!("not enough disk space: {needed} bytes are needed, {free} are free"))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(format!("cannot tell the free disk space: {error}")),
        }
    }

    async fn try_once(&self, progress: &mut Progress) -> Try {
        if progress.done == self.file.size_bytes {
            return Try::Whole;
        }
        let mut request = self.client.get(&self.source.url);
        if let Some(token) = &self.source.bearer {
            request = request.bearer_auth(token.expose());
        }
        if progress.done > 0 {
            request = request.header(header::RANGE, format!("bytes={}-", progress.done));
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                return Try::Cut(format!("the server cannot be reached: {}", brief(&error)));
            }
        };
        match response.status() {
            StatusCode::OK => {
                if let Err(error) = progress.restart().await {
                    return Try::Fatal(explain(&error));
                }
            }
            StatusCode::PARTIAL_CONTENT if starts_at(&response, progress.done) => {}
            status if status.is_server_error() => {
                return Try::Cut(format!("the server answered {status}"));
            }
            status => return Try::Fatal(format!("the server answered {status}")),
        }
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    return Try::Cut(format!("the connection was cut: {}", brief(&error)));
                }
            };
            if progress.done + chunk.len() as u64 > self.file.size_bytes {
                return Try::Fatal("the file is longer than announced".to_owned());
            }
            if let Err(error) = progress.write(&chunk).await {
                return Try::Fatal(explain(&error));
            }
            checkpoint::reach("bytes-written");
            let (download, bytes_done) = (self.download, progress.done);
            self.inbox.event(Event::DownloadProgressed { download, bytes_done }).await;
        }
        if progress.done == self.file.size_bytes {
            Try::Whole
        } else {
            // The server ended the file in good order: there is no more of it.
            Try::Fatal(format!(
                "the file is shorter than announced: {} of {} bytes",
                progress.done, self.file.size_bytes
            ))
        }
    }

    async fn verify(&self, progress: Progress, part: &Path) -> Result<(), String> {
        let found = Sha256Hex::from_digest(&progress.hash.finalize());
        if found != self.file.sha256 {
            return Err(format!(
                "the checksum is wrong: expected {}, got {found}",
                self.file.sha256
            ));
        }
        if let Some(mut file) = progress.file {
            let synced = async { file.flush().await.and(file.sync_all().await) };
            synced.await.map_err(|error| explain(&error))?;
        }
        checkpoint::reach("verified");
        fs::rename(part, self.path).map_err(|error| error.to_string())
    }
}

/// The open part file, and the hash of what is in it.
struct Progress {
    file: Option<tokio::fs::File>,
    hash: Sha256,
    done: u64,
}

impl Progress {
    async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(chunk).await?;
            // An error of the disk shows only once the bytes have left the buffer.
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

fn starts_at(response: &reqwest::Response, start: u64) -> bool {
    response
        .headers()
        .get(header::CONTENT_RANGE)
        .and_then(|range| range.to_str().ok())
        .is_some_and(|range| range.starts_with(&format!("bytes {start}-")))
}

/// Leaves out the address: it may be one that only the owner of the model should know.
fn brief(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "connection refused"
    } else {
        "broken off"
    }
}

fn explain(error: &io::Error) -> String {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        "the disk is full".to_owned()
    } else {
        format!("the file cannot be written: {error}")
    }
}
