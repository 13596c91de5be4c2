//! Models and the upload of their files.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt as _;
use link_protocol::{
    agent_api::PREFIX,
    backend_api::model::{ChangeModel, CreateModel, Model},
    id::ModelId,
};
use tokio::io::AsyncRead;
use tokio_util::io::ReaderStream;

use crate::{
    backend::{BackendClient, CallError},
    http::{Call, Cause, Failure},
};

/// Bytes that are read and sent at once.
const CHUNK: usize = 256 * 1024;
/// An upload in which nothing moves for this long has failed.
const STALL: Duration = Duration::from_secs(60);

/// A file to upload.
pub struct UploadSource {
    pub reader: Pin<Box<dyn AsyncRead + Send + Sync>>,
    pub size_bytes: u64,
}

/// An upload failed.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The backend did not take it.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The file could not be read to its end.
    #[error("the file could not be read while it was uploaded")]
    File(#[source] io::Error),
}

impl BackendClient {
    /// Describes a model; its file is uploaded next, or fetched by devices from its address.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn create_model(&self, request: &CreateModel) -> Result<Model, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/models")).json(request)).await
    }

    /// Uploads the file of a model; `sent` hears how many bytes have left.
    ///
    /// # Errors
    /// [`UploadError`]; the model can be uploaded again.
    pub async fn upload_model(
        &self,
        model: ModelId,
        source: UploadSource,
        sent: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<Model, UploadError> {
        // A stream cannot be sent twice, so an expired login is renewed before it starts.
        self.me().await?;
        let moved = Arc::new(AtomicU64::new(0));
        let broken = Arc::new(std::sync::Mutex::new(None));
        let (counter, breakage) = (Arc::clone(&moved), Arc::clone(&broken));
        let stream = ReaderStream::with_capacity(source.reader, CHUNK).map(move |chunk| {
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
        let path = format!("{PREFIX}/models/{model}/content");
        let body = reqwest::Body::wrap_stream(stream);
        let call = Call::put(&path).stream(body, source.size_bytes);
        let http = self.http().with_bearer(self.tokens().access);
        let answer = tokio::select! {
            answer = http.call(call) => answer,
            () = stalled(&moved) => Err(Failure::Unavailable {
                url: format!("{}{path}", http.base()),
                cause: Cause::Timeout,
            }),
        };
        if let Some(error) = broken.lock().expect("no holder of this lock panics").take() {
            return Err(UploadError::File(error));
        }
        Ok(answer.map_err(CallError::from)?)
    }

    /// Changes the name or the sharing of a model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn change_model(
        &self,
        model: ModelId,
        change: &ChangeModel,
    ) -> Result<Model, CallError> {
        self.call(|| Call::patch(format!("{PREFIX}/models/{model}")).json(change)).await
    }

    /// Returns every model that the account may deploy.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn models(&self) -> Result<Vec<Model>, CallError> {
        self.all(&format!("{PREFIX}/models")).await
    }

    /// Returns one model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn model(&self, model: ModelId) -> Result<Model, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/models/{model}"))).await
    }

    /// Deletes a model that is deployed nowhere.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn delete_model(&self, model: ModelId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/models/{model}"))).await
    }
}

/// Returns once nothing has moved for [`STALL`].
#[expect(clippy::disallowed_methods, reason = "IO shell: watches the progress of an upload")]
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
