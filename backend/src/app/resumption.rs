//! Resumes interrupted uploads, and removes models whose file was never uploaded.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use jiff::SignedDuration;
use link_protocol::{backend_api::model::Model, id::ModelId, limits};

use crate::{
    app::{App, models::not_received},
    auth::access::Identity,
    content::{Announced, Upload},
    database::write,
    domain::{audit::Action, model::ModelRecord, refusal::Refusal, retention::since},
    failure::AppError,
    tables::{locks, models, uploads},
};

/// The number of models without a file that one turn checks.
const BATCH: u32 = 200;

/// The progress of an upload.
#[derive(Clone, Debug)]
pub struct Uploaded {
    pub model: Model,
    /// The number of stored bytes, at which the upload continues.
    pub offset: u64,
}

impl App {
    /// Returns the progress of the upload of a model's file.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::Invalid`].
    pub async fn uploaded(&self, caller: Identity, id: ModelId) -> Result<Uploaded, AppError> {
        let publishers = self.publishers().await?;
        let model = self.own_model(caller, id, &publishers).await?;
        model.accepts_upload()?;
        let offset = self.offset_of(&model).await?;
        Ok(Uploaded { model: model.info(caller.account, &publishers), offset })
    }

    /// Receives the file of a model from `offset` on, as far as it arrives. A complete file is kept only if it is the
    /// announced one.
    ///
    /// # Errors
    /// As for [`App::receive_content`], and [`Refusal::UploadOffset`].
    pub async fn go_on<E: Send>(
        &self,
        caller: Identity,
        id: ModelId,
        offset: u64,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Uploaded, AppError> {
        let publishers = self.publishers().await?;
        // Checked before the turn, so that only the owner can end another upload, and again after it, because the
        // previous upload may have changed the model.
        self.own_model(caller, id, &publishers).await?;
        let turn = self.uploads.turn(id).await?;
        let model = self.own_model(caller, id, &publishers).await?;
        model.accepts_upload()?;
        let there = self.offset_of(&model).await?;
        if there != offset {
            return Err(Refusal::UploadOffset(there).into());
        }
        if model.uploaded {
            return Ok(Uploaded { model: model.info(caller.account, &publishers), offset });
        }
        let size = model.size_bytes.ok_or_else(|| {
            Refusal::invalid("size_bytes: is announced with the model when its file comes in parts")
        })?;
        let running = self.uploads.running_bytes(caller.account);
        let quota = &self.config.quota;
        let now = self.now();
        write!(self.store, [locks::account(caller.account), locks::model(id)], |db| {
            let used = uploads::bytes(db, caller.account, id).await?;
            quota.room_for(used.saturating_add(running), Some(size))?;
            uploads::touch(db, id, Some(now)).await?;
        });
        let _place = self.uploads.count(caller.account)?;
        let announced =
            Announced { model: id, sha256: model.sha256.clone(), size_bytes: Some(size) };
        let content = bounded(size - offset, content).take_until(turn.is_over());
        let progress = if self.contents.needs_standing(size) {
            self.go_on_in_parts((&announced, size), content).await?
        } else {
            let progress = self.contents.go_on(&announced, (offset, size), content).await;
            progress.map_err(not_received)?
        };
        self.store.touch_upload(id, Some(self.now())).await?;
        let Some(upload) = progress.upload else {
            let offset = progress.offset;
            return Ok(Uploaded { model: model.info(caller.account, &publishers), offset });
        };
        let model = self.take(caller, model, upload).await?;
        Ok(Uploaded { model: model.info(caller.account, &publishers), offset: size })
    }

    /// Removes models that got no data for a day, and partial files that belong to no waiting model.
    pub(super) async fn purge_incomplete(&self) -> Result<(), AppError> {
        let kept =
            SignedDuration::try_from(limits::INCOMPLETE_MODEL_AGE).unwrap_or(SignedDuration::MAX);
        let before = since(self.now(), kept);
        for id in self.store.incomplete_models(before, BATCH).await? {
            if !self.uploads.has(id) && self.store.remove_incomplete(id, before).await? {
                tracing::info!(model = %id, "a model whose file never came is removed");
            }
        }
        self.abandon_uploads(before, BATCH).await?;
        for id in self.contents.partials()? {
            let is_awaited = self.store.model(id).await?.is_some_and(|model| !model.uploaded);
            if !is_awaited && !self.uploads.has(id) {
                self.contents.forget_partial(id)?;
            }
        }
        Ok(())
    }

    async fn offset_of(&self, model: &ModelRecord) -> Result<u64, AppError> {
        match model.size_bytes {
            Some(whole) if model.uploaded => Ok(whole),
            Some(size) if self.contents.needs_standing(size) => {
                self.offset_in_parts(model.id).await
            }
            Some(_) | None => Ok(self.contents.offset(model.id)),
        }
    }

    /// Keeps the file of a model if it is the announced one, otherwise deletes it.
    pub(super) async fn take(
        &self,
        caller: Identity,
        mut model: ModelRecord,
        upload: Upload,
    ) -> Result<ModelRecord, AppError> {
        let (id, received) = (model.id, upload.received.clone());
        if let Err(refusal) = model.receive(received.clone()) {
            self.contents.discard(upload).await;
            self.store.touch_upload(id, None).await?;
            return Err(refusal.into());
        }
        // Store the file before the row: a crash in between leaves only a superfluous file.
        self.contents.keep(id, upload).await?;
        self.contents.forget_partial(id)?;
        let model = write!(self.store, [locks::model(id)], |db| {
            let mut model = models::find(db, id).await?.ok_or(Refusal::NotFound("model"))?;
            model.receive(received.clone())?;
            models::update(db, &model, model.shared).await?;
            model
        });
        self.note(&caller, Action::ChangeModel, id, "its file").await;
        Ok(model)
    }
}

/// Ends the stream after `most` bytes.
fn bounded<E: Send>(
    most: u64,
    content: impl Stream<Item = Result<Bytes, E>> + Send,
) -> impl Stream<Item = Result<Bytes, E>> + Send {
    let mut left = most;
    content.map(move |piece| {
        let mut piece = piece?;
        let fits = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        piece.truncate(fits);
        left -= fits as u64;
        Ok(piece)
    })
}
