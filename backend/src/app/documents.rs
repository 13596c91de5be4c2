//! The documents in events: each is the one that a request for the thing returns at this moment.
//!
//! Every document is read for one account, with the same rules as for a request, so an event never shows a thing of
//! another account, whatever the change said.

use link_protocol::{
    backend_api::event::{Event, EventChange},
    id::{AccountId, DeviceId},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    app::{App, deployments},
    domain::{change::Subject, device::DeviceRecord, key::KeyRecord, ownership},
    failure::AppError,
};

impl App {
    /// Returns the `data` of the event about a thing, as JSON. Returns `None` for a subject without events.
    pub(super) async fn event_of(
        &self,
        account: AccountId,
        subject: Subject,
    ) -> Result<Option<String>, AppError> {
        let Some(kind) = subject.kind() else { return Ok(None) };
        let item = self.document(account, subject).await?;
        let change = if item.is_some() { EventChange::Changed } else { EventChange::Removed };
        let event = Event { kind, id: subject.id(), device_id: subject.device(), change, item };
        let data = serde_json::to_string(&event).map_err(AppError::broken("write an event"))?;
        Ok(Some(data))
    }

    async fn document(
        &self,
        account: AccountId,
        subject: Subject,
    ) -> Result<Option<Value>, AppError> {
        match subject {
            Subject::Device(id) => {
                let Some(device) = self.device_of(account, id).await? else { return Ok(None) };
                some(self.describe(&device, self.store.system(id).await?))
            }
            Subject::System(id) => {
                let Some(_own) = self.device_of(account, id).await? else { return Ok(None) };
                let sample = self.store.system(id).await?;
                Ok(sample.map(|sample| json!({ "system": sample })))
            }
            Subject::Deployment(id, _) => {
                let Some(view) = self.store.deployment(account, id).await? else {
                    return Ok(None);
                };
                let allowlist = self.current_allowlist(account).await?;
                some(deployments::describe(&view, &allowlist))
            }
            Subject::Command(id, device) => {
                let Some(_own) = self.device_of(account, device).await? else { return Ok(None) };
                let record = self.store.command(id).await?;
                let record = record.filter(|record| record.device == device);
                match record {
                    Some(record) => some(self.named_command(account, &record).await?),
                    None => Ok(None),
                }
            }
            Subject::Model(id) => {
                let publishers = self.publishers().await?;
                let (model, is_deployed) = self.store.model_and_use(account, id).await?;
                let model = ownership::visible_model(model, is_deployed, account, &publishers);
                maybe(model.ok().map(|model| model.info(account, &publishers)))
            }
            Subject::Key(id) => {
                maybe(self.store.key(account, id).await?.as_ref().map(KeyRecord::info))
            }
            Subject::Member(user) => maybe(self.store.member(account, user).await?),
            Subject::Operation(id) => {
                let record = self.store.operation(id).await?;
                let Some(record) = record.filter(|record| record.account == account) else {
                    return Ok(None);
                };
                some(self.describe_operation(record).await?)
            }
            Subject::Log(device, number) => {
                let Some(_own) = self.device_of(account, device).await? else { return Ok(None) };
                maybe(self.store.device_log(device, number).await?)
            }
            Subject::Summary => some(self.summary_of(account).await?),
            Subject::Serving(..) | Subject::Usage(_) | Subject::Disk(_) | Subject::Allowlist => {
                Ok(None)
            }
        }
    }

    async fn device_of(
        &self,
        account: AccountId,
        id: DeviceId,
    ) -> Result<Option<DeviceRecord>, AppError> {
        Ok(self.store.device(id).await?.filter(|device| device.account == account))
    }
}

fn some(document: impl Serialize) -> Result<Option<Value>, AppError> {
    serde_json::to_value(document).map(Some).map_err(AppError::broken("write a document"))
}

fn maybe(document: Option<impl Serialize>) -> Result<Option<Value>, AppError> {
    document.map_or(Ok(None), some)
}
