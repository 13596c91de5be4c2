//! Resumable uploads into a bucket. A table lists the parts that the object store has.

use bytes::Bytes;
use futures_util::Stream;
use jiff::Timestamp;
use link_protocol::{error_chain::chain, id::ModelId};

use crate::{
    app::{App, models::not_received},
    content::{Announced, Progress, ReceiveError},
    failure::AppError,
};

impl App {
    /// Receives the rest of a file of `size_bytes`, after the parts that the object store already has, and records each
    /// further part in the table.
    pub(super) async fn go_on_in_parts<E: Send>(
        &self,
        (announced, size_bytes): (&Announced, u64),
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Progress, AppError> {
        let model = announced.model;
        let standing = self.store.bucket_upload(model).await?;
        let resumed = self.contents.resume((announced, size_bytes), standing, content).await;
        let mut resumed = match resumed {
            Ok(resumed) => resumed,
            Err(error) => return Err(self.not_resumed(model, error).await),
        };
        self.store.keep_bucket_upload(model, resumed.standing(), self.now()).await?;
        resumed.is_stored();
        loop {
            match resumed.advance().await {
                Ok(true) => {
                    self.store.keep_bucket_upload(model, resumed.standing(), self.now()).await?;
                }
                Ok(false) => break,
                // Everything that arrived before the cut is stored.
                Err(ReceiveError::Cut | ReceiveError::Slow) => break,
                Err(error) => return Err(self.not_resumed(model, error).await),
            }
        }
        let offset = resumed.standing().offset;
        let upload = self.contents.finish(resumed).map_err(not_received)?;
        if upload.is_some() {
            // From here on, the journal of the bucket deletes the object if it is not kept.
            self.store.forget_bucket_upload(model).await?;
        }
        Ok(Progress { offset, upload })
    }

    /// Returns the number of bytes of a model's file that the object store has.
    pub(super) async fn offset_in_parts(&self, model: ModelId) -> Result<u64, AppError> {
        let standing = self.store.bucket_upload(model).await?;
        Ok(standing.map_or(0, |standing| standing.offset))
    }

    /// Aborts uploads without progress since `before`, and uploads whose model is complete or deleted.
    pub(super) async fn abandon_uploads(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<(), AppError> {
        for model in self.store.abandoned_bucket_uploads(before, most).await? {
            if !self.uploads.has(model) {
                self.end_bucket_upload(model).await?;
                tracing::info!(%model, "an upload that nobody resumed is aborted");
            }
        }
        Ok(())
    }

    /// Aborts the upload of a model's file, if one is open. If the object store does not answer, the row is kept and
    /// the next purge retries.
    pub(super) async fn end_bucket_upload(&self, model: ModelId) -> Result<(), AppError> {
        let Some(standing) = self.store.bucket_upload(model).await? else { return Ok(()) };
        match self.contents.abandon(&standing).await {
            Ok(()) => self.store.forget_bucket_upload(model).await?,
            Err(error) => {
                tracing::warn!(error = chain(&error), %model, "an upload is aborted later");
            }
        }
        Ok(())
    }

    /// Deletes the row of an upload that the object store does not have any more. The next request starts a new upload.
    async fn not_resumed(&self, model: ModelId, error: ReceiveError) -> AppError {
        if !matches!(error, ReceiveError::Elsewhere(_)) {
            return not_received(error);
        }
        let ended = self.end_bucket_upload(model).await;
        let forgotten = self.store.forget_bucket_upload(model).await.map_err(AppError::from);
        ended.and(forgotten).err().unwrap_or_else(|| not_received(error))
    }
}
