//! Lists of the commands of a device or of an account.

use jiff::Timestamp;
use link_protocol::id::{AccountId, DeviceId};

use crate::{
    database::{Connection, Page, Store, StoreError, column::ms, read, sql},
    domain::command::CommandRecord,
    tables::{
        commands::{CommandRow, UNFINISHED, WAITING, list},
        paging::begin,
    },
};

/// A filter for a list of commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandFilter {
    pub device: Option<DeviceId>,
    /// Only commands that can still change.
    pub open: bool,
}

impl Store {
    /// Lists the commands that wait for delivery or redelivery to a device, ordered by sequence number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn waiting_commands(
        &self,
        device: DeviceId,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        read!(self, |db| list(db, WAITING, device).await)
    }

    /// Lists the commands of a device that can still change, ordered by sequence number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unfinished_commands(
        &self,
        device: DeviceId,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        read!(self, |db| list(db, UNFINISHED, device).await)
    }

    /// Lists the commands to the devices of an account, newest first.
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
        let rows: Vec<CommandRow> = read!(self, |db| {
            let after = match (filter.device, &page.after) {
                (Some(device), Some(id)) => match seq(db, device, id).await? {
                    Some(seq) => seq,
                    // The command was deleted, and every older command with it.
                    None => return Ok(Vec::new()),
                },
                (Some(_), None) | (None, _) => i64::MAX,
            };
            sql::query_as(statement(filter))
                .bind(account.to_string())
                .bind(begin(page.after.as_ref()))
                .bind(i64::from(page.limit))
                .bind(filter.device.map(|device| device.to_string()))
                .bind(after)
                .bind(ms(now))
                .fetch_all(db)
                .await?
        });
        rows.into_iter().map(CommandRecord::try_from).collect()
    }
}

/// The condition of unfinished commands that were not superseded and have not expired.
macro_rules! open {
    () => {
        "unfinished AND state <> 'superseded' AND (state = 'acknowledged' OR expires_ms > $6)"
    };
}

/// Returns the statement for `filter`. It reads the commands of an account in the order of their ids, and those of a
/// device in the order of their sequence numbers, each from an index.
const fn statement(filter: CommandFilter) -> &'static str {
    match (filter.device.is_some(), filter.open) {
        (false, false) => {
            "SELECT * FROM commands WHERE account_id = $1 AND command_id < $2 \
             ORDER BY command_id DESC LIMIT $3"
        }
        (false, true) => concat!(
            "SELECT * FROM commands WHERE account_id = $1 AND command_id < $2 AND ",
            open!(),
            " ORDER BY command_id DESC LIMIT $3"
        ),
        (true, false) => {
            "SELECT * FROM commands WHERE device_id = $4 AND seq < $5 AND EXISTS (SELECT 1 \
             FROM devices d WHERE d.device_id = $4 AND d.account_id = $1) \
             ORDER BY seq DESC LIMIT $3"
        }
        (true, true) => concat!(
            "SELECT * FROM commands WHERE device_id = $4 AND seq < $5 AND ",
            open!(),
            " AND EXISTS (SELECT 1 FROM devices d WHERE d.device_id = $4 AND d.account_id = $1) \
             ORDER BY seq DESC LIMIT $3"
        ),
    }
}

async fn seq(
    db: &mut Connection,
    device: DeviceId,
    command: &str,
) -> Result<Option<i64>, StoreError> {
    let seq =
        sql::query_scalar("SELECT seq FROM commands WHERE command_id = $1 AND device_id = $2")
            .bind(command)
            .bind(device.to_string())
            .fetch_optional(db)
            .await?;
    Ok(seq)
}
