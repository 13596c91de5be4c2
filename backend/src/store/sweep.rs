//! What time alone changes: commands that nobody acknowledged, deployments that nobody began.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    deployment::DeploymentState,
    id::{CommandId, DeviceId},
    limits,
};

use crate::{
    domain::{command::State, deployment},
    failure::Failure,
    store::{Store, StoreError, commands, deployments, write},
};

impl Store {
    /// Expires commands and fails overdue deployments; returns the ids of the commands that expired
    /// and the devices that have something new to do. `new_id` names the commands that end on a
    /// device what failed here.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sweep(
        &self,
        now: Timestamp,
        mut new_id: impl FnMut() -> CommandId + Send,
    ) -> Result<(Vec<CommandId>, Vec<DeviceId>), Failure> {
        let longest =
            SignedDuration::try_from(limits::QUEUED_DEPLOYMENT_EXPIRY).unwrap_or_default();
        let before = now.checked_sub(longest).unwrap_or(Timestamp::MIN);
        let swept = write!(self, |db| {
            let mut expired = Vec::new();
            for mut record in commands::overdue(db, now).await? {
                if record.sweep(now) {
                    commands::update(db, &record).await?;
                    expired.push(record.id);
                }
            }
            let mut busy = Vec::new();
            for mut record in deployments::stuck(db, before).await? {
                let command = commands::find(db, record.device, record.command).await?;
                let has_it = command.is_some_and(|command| command.state == State::Acknowledged);
                if has_it {
                    busy.push(record.device);
                    let wish = deployments::make_way(db, &mut record, "", new_id(), now).await;
                    // A full queue is no reason to keep the deployment alive.
                    if let Err(failure) = wish
                        && !matches!(failure, Failure::Refused(_))
                    {
                        return Err(failure);
                    }
                }
                let reason = if has_it { deployment::NOT_BEGUN } else { deployment::NOT_RECEIVED };
                if record.end(DeploymentState::Failed, Some(reason), now) {
                    deployments::update(db, &record).await?;
                }
            }
            (expired, busy)
        });
        Ok(swept)
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check(&self) -> Result<(), StoreError> {
        self.has_account().await.map(|_| ())
    }
}
