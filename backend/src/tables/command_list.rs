//! The commands of a device or of an account, as lists.

use jiff::Timestamp;
use link_protocol::id::{AccountId, DeviceId};

use crate::{
    database::{Page, Store, StoreError, column::ms, read, sql},
    domain::command::CommandRecord,
    tables::commands::{CommandRow, UNFINISHED, WAITING, list},
};

/// Which commands are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandFilter {
    pub device: Option<DeviceId>,
    /// Only those that something can still happen to.
    pub open: bool,
}

impl Store {
    /// Lists what waits to be delivered (again) to a device, by sequence number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn waiting_commands(
        &self,
        device: DeviceId,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        read!(self, |db| list(db, WAITING, device).await)
    }

    /// Lists the commands of a device that can still change, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unfinished_commands(
        &self,
        device: DeviceId,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        read!(self, |db| list(db, UNFINISHED, device).await)
    }

    /// Lists the commands to the devices of an account, the newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn commands(
        &self,
        account: AccountId,
        filter: CommandFilter,
        now: Timestamp,
        page: &Page,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        let rows: Vec<CommandRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT commands.* FROM commands \
                 JOIN devices ON devices.device_id = commands.device_id \
                 WHERE devices.account_id = $1 AND ($2 IS NULL OR commands.command_id < $2) \
                 AND ($4 IS NULL OR commands.device_id = $4) AND ($5 = FALSE \
                 OR (commands.state IN ('queued', 'delivered') AND commands.expires_ms > $6) \
                 OR (commands.state = 'acknowledged' AND commands.result IS NULL)) \
                 ORDER BY commands.command_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .bind(filter.device.map(|device| device.to_string()))
            .bind(filter.open)
            .bind(ms(now))
            .at_length()
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(CommandRecord::try_from).collect()
    }
}
