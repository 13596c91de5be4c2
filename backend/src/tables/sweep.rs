//! What time alone changes: commands that nobody acknowledged, deployments that nobody began, and
//! what is too old to be kept, a bounded number of rows in each transaction.

use jiff::Timestamp;
use link_protocol::{
    deployment::DeploymentState,
    id::{CommandId, DeviceId},
};

use crate::{
    database::{
        Store, StoreError,
        column::{ms, signed},
        sql, write,
    },
    domain::{command::State, deployment},
    failure::Failure,
    tables::{commands, deployments},
};

/// Rows that are deleted in one transaction.
const BATCH: i64 = 500;

/// What is deleted by its age.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outdated {
    /// By the time at which they expire.
    RefreshTokens,
    Idempotency,
    Logs,
    /// Commands that came to their end, unless a deployment still follows them.
    Commands,
    Samples,
    Usage,
}

impl Outdated {
    const fn statement(self) -> &'static str {
        match self {
            Self::RefreshTokens => {
                "DELETE FROM refresh_tokens WHERE digest IN \
                 (SELECT digest FROM refresh_tokens WHERE expires_ms < $1 LIMIT $2)"
            }
            Self::Idempotency => {
                "DELETE FROM idempotency WHERE (account_id, idempotency_key) IN (SELECT \
                 account_id, idempotency_key FROM idempotency WHERE created_ms < $1 LIMIT $2)"
            }
            Self::Logs => {
                "DELETE FROM logs WHERE (device_id, number) IN \
                 (SELECT device_id, number FROM logs WHERE received_ms < $1 LIMIT $2)"
            }
            Self::Commands => {
                "DELETE FROM commands WHERE command_id IN (SELECT c.command_id FROM commands c \
                 WHERE c.issued_ms < $1 AND (c.state IN ('expired', 'superseded') \
                 OR c.result IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM deployments p WHERE \
                 p.device_id = c.device_id AND p.command_id = c.command_id \
                 AND p.state IN ('queued', 'downloading', 'configuring')) LIMIT $2)"
            }
            Self::Samples => {
                "DELETE FROM system_samples WHERE device_id IN \
                 (SELECT device_id FROM system_samples WHERE reported_ms < $1 LIMIT $2)"
            }
            Self::Usage => {
                "DELETE FROM usage_totals WHERE \
                 (account_id, begin_ms, device_id, model_id, span_ms) IN (SELECT account_id, \
                 begin_ms, device_id, model_id, span_ms FROM usage_totals \
                 WHERE begin_ms + span_ms < $1 LIMIT $2)"
            }
        }
    }
}

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
        let before = deployment::overdue_before(now);
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
                let command = command.map(|command| command.state);
                // The statement finds candidates; the domain decides.
                if !record.is_stuck(command, now) {
                    continue;
                }
                let has_it = command == Some(State::Acknowledged);
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

    /// Deletes some of what is older than `before`; returns whether there may be more of it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget(&self, what: Outdated, before: Timestamp) -> Result<bool, StoreError> {
        let deleted = write!(self, |db| {
            sql::query(what.statement())
                .bind(ms(before))
                .bind(BATCH)
                .at_length()
                .execute(db)
                .await?
        });
        Ok(signed(deleted.rows_affected()) == BATCH)
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check(&self) -> Result<(), StoreError> {
        self.has_account().await.map(|_| ())
    }
}
