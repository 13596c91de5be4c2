//! Models and their files.

use bytes::Bytes;
use futures_util::Stream;
use link_protocol::{
    backend_api::model::{ChangeModel, CreateModel, Model},
    command::Sha256Hex,
    id::ModelId,
};

use crate::{
    access::Identity,
    app::App,
    chance,
    content::ReceiveError,
    domain::{
        audit::Action, device::DeviceRecord, model::ModelRecord, name, ownership, refusal::Refusal,
    },
    failure::Failure,
    store::Page,
};

/// A model file that a device may fetch.
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
    /// [`Refusal::Invalid`].
    pub async fn create_model(
        &self,
        caller: Identity,
        wish: CreateModel,
    ) -> Result<Model, Failure> {
        let id = ModelId::from_uuid(chance::uuid());
        let model = ModelRecord::create(id, caller.account, wish, self.now())?;
        self.store.add_model(&model).await?;
        self.note(&caller, Action::CreateModel, id, &model.name).await;
        Ok(model.info(caller.account))
    }

    /// Lists the models that the caller may use.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn models(&self, caller: Identity, page: &Page) -> Result<Vec<Model>, Failure> {
        let models = self.store.models(caller.account, page).await?;
        Ok(models.iter().map(|model| model.info(caller.account)).collect())
    }

    /// Describes a model.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn model(&self, caller: Identity, id: ModelId) -> Result<Model, Failure> {
        let model = ownership::usable_model(self.store.model(id).await?, caller.account)?;
        Ok(model.info(caller.account))
    }

    /// Changes a model's name, or whether it is shared.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::Invalid`].
    pub async fn change_model(
        &self,
        caller: Identity,
        id: ModelId,
        wish: ChangeModel,
    ) -> Result<Model, Failure> {
        ownership::own_model(self.store.model(id).await?, caller.account)?;
        let changed_name = wish.name.map(|text| name::checked("name", &text)).transpose()?;
        let change = |model: &mut ModelRecord| {
            model.name = changed_name.clone().unwrap_or_else(|| model.name.clone());
            model.shared = wish.shared.unwrap_or(model.shared);
            Ok(())
        };
        let model = self.store.change_model(id, change).await?;
        self.note(&caller, Action::ChangeModel, id, &model.name).await;
        Ok(model.info(caller.account))
    }

    /// Removes a model that is on no device, with its file.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::ModelInUse`].
    pub async fn remove_model(&self, caller: Identity, id: ModelId) -> Result<(), Failure> {
        let model = ownership::own_model(self.store.model(id).await?, caller.account)?;
        self.store.remove_model(id).await?;
        self.note(&caller, Action::RemoveModel, id, &model.name).await;
        if let (true, Some(sha256)) = (model.uploaded, &model.sha256) {
            let removed = self.contents.remove(id, sha256).await;
            removed.map_err(Failure::broken("delete a model's file"))?;
        }
        Ok(())
    }

    /// Receives the file of a model. It is kept only when it is the one that was announced.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotOwner`], [`Refusal::ChecksumMismatch`],
    /// [`Refusal::TooLarge`].
    pub async fn receive_content<E>(
        &self,
        caller: Identity,
        id: ModelId,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Model, Failure> {
        let mut model = ownership::own_model(self.store.model(id).await?, caller.account)?;
        model.accepts_upload()?;
        let upload = self.contents.receive(content).await.map_err(|error| match error {
            ReceiveError::Cut => Refusal::ChecksumMismatch("it ended early".to_owned()).into(),
            ReceiveError::TooLarge => Refusal::TooLarge.into(),
            ReceiveError::Write(cause) => Failure::broken("write a model's file")(cause),
        })?;
        let received = upload.received.clone();
        model.receive(received.clone())?;
        // The file is there before the model says so; a crash between leaves a file too many.
        let kept = self.contents.keep(id, upload).await;
        kept.map_err(Failure::broken("keep a model's file"))?;
        let model = self.store.change_model(id, |model| model.receive(received.clone())).await?;
        self.note(&caller, Action::ChangeModel, id, "its file").await;
        Ok(model.info(caller.account))
    }

    /// Finds the file of a model that is deployed to a device.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when the device is not meant to have it, [`Refusal::ModelNotReady`].
    pub async fn content(&self, device: &DeviceRecord, id: ModelId) -> Result<Content, Failure> {
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

    /// Opens a model's file at `offset`.
    ///
    /// # Errors
    /// [`Failure::Broken`] when it cannot be read.
    pub async fn open_content(
        &self,
        content: &Content,
        offset: u64,
    ) -> Result<impl tokio::io::AsyncRead + Send + use<>, Failure> {
        let file = self.contents.read(content.model, &content.sha256, offset).await;
        file.map_err(Failure::broken("open a model's file"))
    }
}
