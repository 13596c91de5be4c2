//! Uploads the file of a model. An interrupted upload resumes at the end of the backend's copy,
//! even after a restart.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the file, and waits between tries"
)]

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt as _;
use link_protocol::{agent_api::PREFIX, backend_api::model::Model, id::ModelId, problem::Code};
use reqwest::{Method, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use crate::{
    backend::{BackendClient, CallError},
    http::{Call, Cause, Failure},
};

/// The size of one read and send, in bytes.
const CHUNK: usize = 256 * 1024;
/// An upload without progress for this long is aborted.
const STALL: Duration = Duration::from_secs(60);
/// The waits between attempts that sent no bytes. After one more such attempt the upload has
/// failed.
const RETRIES: [Duration; 6] = [
    Duration::from_millis(500),
    Duration::from_millis(1500),
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(12),
    Duration::from_secs(12),
];

/// A file to upload.
#[derive(Clone, Debug)]
pub struct UploadSource {
    pub path: PathBuf,
    pub size_bytes: u64,
}

/// An upload failed.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The backend refused the upload.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The file could not be read to its end.
    #[error("the file could not be read while it was uploaded")]
    File(#[source] io::Error),
}

impl UploadError {
    /// Returns whether a later upload may resume. Otherwise the backend has refused the file.
    #[must_use]
    pub fn may_go_on(&self) -> bool {
        match self {
            Self::Call(CallError::Backend(Failure::Unavailable { .. })) => true,
            Self::Call(CallError::Backend(failure @ Failure::Refused(error))) => {
                matches!(error.status, 401 | 408 | 429)
                    || failure.code() == Some(Code::UploadOffset)
            }
            Self::Call(CallError::Store(_)) | Self::File(_) => true,
        }
    }

    /// Returns whether an immediate retry may succeed.
    fn may_pass(&self) -> bool {
        let is_full = |failure: &Failure| failure.code() == Some(Code::InsufficientStorage);
        match self {
            Self::Call(CallError::Backend(failure)) => self.may_go_on() && !is_full(failure),
            Self::Call(CallError::Store(_)) | Self::File(_) => false,
        }
    }
}

impl BackendClient {
    /// Uploads the file of a model, starting at the end of the backend's copy. `sent` receives the
    /// number of sent bytes. A cut upload is resumed, with a limited number of consecutive attempts
    /// that send nothing.
    ///
    /// # Errors
    /// [`UploadError`]. The same upload can be resumed.
    pub async fn upload_model(
        &self,
        model: ModelId,
        source: &UploadSource,
        sent: impl Fn(u64) + Clone + Send + Sync + 'static,
    ) -> Result<Model, UploadError> {
        let (mut fruitless, mut reached) = (0, 0);
        loop {
            let before = reached;
            let failed = match self.try_upload(model, source, &mut reached, sent.clone()).await {
                Ok(uploaded) if uploaded.ready => return Ok(uploaded),
                Ok(_) => self.cut(model),
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error),
            };
            fruitless = if reached > before { 0 } else { fruitless + 1 };
            let Some(wait) = RETRIES.get(fruitless) else { return Err(failed) };
            tracing::debug!(reached, "an upload was cut: {failed}");
            tokio::time::sleep(*wait).await;
        }
    }

    /// Sends the bytes that the backend lacks, and stores the offset of the first one in `reached`.
    async fn try_upload(
        &self,
        model: ModelId,
        source: &UploadSource,
        reached: &mut u64,
        sent: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<Model, UploadError> {
        // A stream cannot be sent twice, so renew an expired login first.
        self.me().await?;
        let path = format!("{PREFIX}/models/{model}/content");
        let (offset, method) = match self.upload_offset(&path).await {
            Ok(offset) => (offset, Method::PATCH),
            // An older backend accepts a file only in one request.
            Err(Failure::Refused(error)) if error.status == StatusCode::METHOD_NOT_ALLOWED => {
                (0, Method::PUT)
            }
            Err(failure) => return Err(CallError::from(failure).into()),
        };
        *reached = offset.max(*reached);
        let mut file = tokio::fs::File::open(&source.path).await.map_err(UploadError::File)?;
        file.seek(io::SeekFrom::Start(offset)).await.map_err(UploadError::File)?;
        let rest = source.size_bytes.saturating_sub(offset);
        let (moved, broken) = (Arc::new(AtomicU64::new(offset)), Arc::new(Mutex::new(None)));
        let (counter, breakage) = (Arc::clone(&moved), Arc::clone(&broken));
        let stream = ReaderStream::with_capacity(file.take(rest), CHUNK).map(move |chunk| {
            match &chunk {
                Ok(bytes) => {
                    let before = counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    sent(before + bytes.len() as u64);
                }
                Err(error) => {
                    *breakage.lock().expect("no holder of this lock panics") =
                        Some(io::Error::new(error.kind(), error.to_string()));
                }
            }
            chunk
        });
        let call = Call::new(method, &path)
            .header("upload-offset", offset.to_string())
            .stream(reqwest::Body::wrap_stream(stream), rest);
        let http = self.http().with_bearer(self.tokens().access);
        let answer = tokio::select! {
            answer = http.call(call) => answer,
            () = stalled(&moved) => Err(self.silent(&path, Cause::Timeout)),
        };
        if let Some(error) = broken.lock().expect("no holder of this lock panics").take() {
            return Err(UploadError::File(error));
        }
        Ok(answer.map_err(CallError::from)?)
    }

    /// Returns how many bytes of the file the backend has.
    async fn upload_offset(&self, path: &str) -> Result<u64, Failure> {
        let http = self.http().with_bearer(self.tokens().access);
        let answer = http.exchange(Call::new(Method::HEAD, path)).await?;
        let offset = answer.headers().get("upload-offset").and_then(|text| text.to_str().ok());
        offset.and_then(|text| text.parse().ok()).ok_or_else(|| {
            self.silent(path, Cause::Unreadable("it does not say where to resume".to_owned()))
        })
    }

    fn cut(&self, model: ModelId) -> UploadError {
        let path = format!("{PREFIX}/models/{model}/content");
        let cause = Cause::Broken("the file arrived in part".to_owned());
        CallError::from(self.silent(&path, cause)).into()
    }

    fn silent(&self, path: &str, cause: Cause) -> Failure {
        Failure::Unavailable { url: format!("{}{path}", self.http().base()), cause }
    }
}

/// Returns after [`STALL`] without progress.
async fn stalled(moved: &AtomicU64) {
    let mut before = moved.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(STALL).await;
        let now = moved.load(Ordering::Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}
