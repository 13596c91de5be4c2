//! Models and their files.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use link_protocol::{
    backend_api::model::{ChangeModel, CreateModel, Model},
    command::Sha256Hex,
    id::ModelId,
};

use crate::{
    app::App,
    auth::access::Identity,
    content::{Announced, Reading, ReceiveError},
    database::{Page, write},
    domain::{
        audit::Action, device::DeviceRecord, list_order::Place, model::ModelRecord, ownership,
        refusal::Refusal, sharing::Publishers,
    },
    failure::AppError,
    host::random,
    tables::{ModelList, locks, models},
};

/// A model file that a device may download.
#[derive(Clone, Debug)]
pub struct Content {
    pub model: ModelId,
    pub sha256: Sha256Hex,
    pub size_bytes: u64,
}

impl App {
    /// Announces a model.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::SharingNotAllowed`], [`Refusal::QuotaReached`].
    pub async fn create_model(
        &self,
        caller: Identity,
        wish: CreateModel,
    ) -> Result<Model, AppError> {
        let id = ModelId::from_uuid(random::uuid());
        let publishers = self.publishers().await?;
        let account = (caller.account, self.store.account_name(caller.account).await?);
        let model = ModelRecord::create(id, account, &publishers, wish, self.now())?;
        let quota = &self.config.quota;
        write!(self.store, [locks::account(model.account)], |db| {
            quota.check_models(models::count(db, model.account).await?)?;
            models::insert(db, &model).await?;
        });
        self.note(&caller, Action::CreateModel, id, &model.name).await;
        Ok(model.info(caller.account, &publishers))
    }

    /// Lists the models that the caller may use, and the models that are on the caller's devices.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the cursor is from a list in another order.
    pub async fn models(
        &self,
        caller: Identity,
        asked: &ModelList,
        page: &Page,
    ) -> Result<Vec<Model>, AppError> {
        let after = page.after.as_deref().map(|cursor| Place::read(cursor, asked.sort));
        let after = after.transpose()?;
        let (account, publishers) = (caller.account, self.publishers().await?);
        let models =
            self.store.models(account, &publishers, asked, after.as_ref(), page.limit).await?;
        Ok(models.iter().map(|model| model.info(account, &publishers)).collect())
    }

    /// Returns a model.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn model(&self, caller: Identity, id: ModelId) -> Result<Model, AppError> {
        let publishers = self.publishers().await?;
        let model = self.visible_model(caller, id, &publishers).await?;
        Ok(model.info(caller.account, &publishers))
    }

    /// Changes the name of a model, or whether it is shared.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::Invalid`],
    /// [`Refusal::SharingNotAllowed`].
    pub async fn change_model(
        &self,
        caller: Identity,
        id: ModelId,
        wish: ChangeModel,
    ) -> Result<Model, AppError> {
        let publishers = self.publishers().await?;
        self.own_model(caller, id, &publishers).await?;
        let model = write!(self.store, [locks::model(id)], |db| {
            let mut model = models::find(db, id).await?.ok_or(Refusal::NotFound("model"))?;
            let was_shared = model.shared;
            model.change(&wish, &publishers)?;
            models::update(db, &model, was_shared).await?;
            model
        });
        let shared = match wish.shared {
            Some(true) => ", shared",
            Some(false) => ", not shared",
            None => "",
        };
        let what = format!("{}{shared}", model.name);
        self.note(&caller, Action::ChangeModel, id, &what).await;
        Ok(model.info(caller.account, &publishers))
    }

    /// Removes a model and its file, if the model is on no device.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::ModelInUse`].
    pub async fn remove_model(&self, caller: Identity, id: ModelId) -> Result<(), AppError> {
        let model = self.own_model(caller, id, &self.publishers().await?).await?;
        write!(self.store, [locks::model(id)], |db| {
            let (uses, others) = models::uses(db, &model).await?;
            if uses > 0 {
                return Err(Refusal::ModelInUse { own: uses - others, others }.into());
            }
            models::delete(db, &model).await?;
        });
        self.note(&caller, Action::RemoveModel, id, &model.name).await;
        self.contents.forget_partial(id)?;
        self.end_bucket_upload(id).await?;
        if let (true, Some(sha256)) = (model.uploaded, &model.sha256) {
            self.contents.remove(id, sha256).await?;
        }
        Ok(())
    }

    /// Receives the file of a model. `size_bytes` is the expected size. The file is kept only if it
    /// is the announced one.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::ChecksumMismatch`],
    /// [`Refusal::NotAModel`], [`Refusal::TooLarge`], [`Refusal::TooSlow`],
    /// [`Refusal::QuotaReached`], [`Refusal::NoRoom`]; [`AppError::Content`] if the file cannot be
    /// stored.
    pub async fn receive_content<E: Send>(
        &self,
        caller: Identity,
        id: ModelId,
        size_bytes: Option<u64>,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Model, AppError> {
        let publishers = self.publishers().await?;
        let model = self.own_model(caller, id, &publishers).await?;
        model.accepts_upload()?;
        let announced = Announced {
            model: id,
            sha256: model.sha256.clone(),
            size_bytes: model.size_bytes.or(size_bytes),
        };
        let stored = self.store.model_bytes(caller.account, id).await?;
        let (quota, size) = (&self.config.quota, announced.size_bytes);
        let place = self.uploads.begin(caller.account, quota, stored, size)?;
        let is_beyond = AtomicBool::new(false);
        let content = within(place.most, content, &is_beyond);
        let received = self.contents.receive(&announced, content).await;
        let upload = received.map_err(|error| {
            if !is_beyond.load(Ordering::Relaxed) {
                return not_received(error);
            }
            let longer = Refusal::ChecksumMismatch("it is longer than announced".to_owned());
            let full = quota.room_for(u64::MAX, None).err().filter(|_| size.is_none());
            full.unwrap_or(longer).into()
        })?;
        let model = self.take(caller, model, upload).await?;
        Ok(model.info(caller.account, &publishers))
    }

    /// Finds the file of a model that is deployed to a device.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the model is not deployed to the device,
    /// [`Refusal::ModelNotReady`].
    pub async fn content(&self, device: &DeviceRecord, id: ModelId) -> Result<Content, AppError> {
        if !self.store.may_fetch(device.id, id).await? {
            return Err(Refusal::NotFound("model").into());
        }
        let model = self.store.model(id).await?.ok_or(Refusal::NotFound("model"))?;
        if !model.uploaded {
            return Err(Refusal::ModelNotReady.into());
        }
        let file = model.file()?;
        Ok(Content { model: id, sha256: file.sha256, size_bytes: file.size_bytes })
    }

    /// Finds a model that the caller can see.
    async fn visible_model(
        &self,
        caller: Identity,
        id: ModelId,
        publishers: &Publishers,
    ) -> Result<ModelRecord, AppError> {
        let (model, is_deployed) = self.store.model_and_use(caller.account, id).await?;
        Ok(ownership::visible_model(model, is_deployed, caller.account, publishers)?)
    }

    pub(super) async fn own_model(
        &self,
        caller: Identity,
        id: ModelId,
        publishers: &Publishers,
    ) -> Result<ModelRecord, AppError> {
        let model = self.visible_model(caller, id, publishers).await?;
        Ok(ownership::own_model(model, caller.account)?)
    }

    /// Opens a range of a model's file.
    ///
    /// # Errors
    /// [`AppError::Content`] if the file cannot be read.
    pub async fn open_content(
        &self,
        content: &Content,
        range: Range<u64>,
    ) -> Result<Reading, AppError> {
        Ok(self.contents.read(content.model, &content.sha256, range).await?)
    }
}

/// Ends the stream after `most` bytes, and records whether it had more.
fn within<'a, E: Send + 'a>(
    most: u64,
    content: impl Stream<Item = Result<Bytes, E>> + Send + 'a,
    is_beyond: &'a AtomicBool,
) -> impl Stream<Item = Result<Bytes, ()>> + Send + 'a {
    let mut size = 0_u64;
    content.map(move |piece| {
        let piece = piece.map_err(|_cause| ())?;
        size = size.saturating_add(piece.len() as u64);
        if size > most {
            is_beyond.store(true, Ordering::Relaxed);
            return Err(());
        }
        Ok(piece)
    })
}

pub(super) fn not_received(error: ReceiveError) -> AppError {
    match error {
        ReceiveError::Cut => Refusal::ChecksumMismatch("it ended early".to_owned()).into(),
        ReceiveError::Slow => Refusal::TooSlow.into(),
        ReceiveError::TooLarge => Refusal::TooLarge.into(),
        ReceiveError::Busy => Refusal::TooManyUploads.into(),
        ReceiveError::NoRoom => Refusal::NoRoom.into(),
        ReceiveError::Elsewhere(there) => Refusal::UploadOffset(there).into(),
        ReceiveError::Home(error) => error.into(),
    }
}
