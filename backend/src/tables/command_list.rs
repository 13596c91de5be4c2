//! Lists of the commands of a device or of an account.

use jiff::Timestamp;
use link_protocol::{
    command::CommandKind,
    id::{AccountId, DeviceId},
};

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
    /// Only commands of this type.
    pub kind: Option<CommandKind>,
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
                .bind(filter.kind.map(CommandKind::as_str))
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

/// The condition of commands of one type.
macro_rules! of_kind {
    () => {
        "kind = $7"
    };
}

/// The same condition, written so that no database reads the index of the type: open commands are few, and that index has
/// every command of the type that has ended.
macro_rules! of_kind_and_open {
    () => {
        "kind || '' = $7"
    };
}

/// The statement for commands of an account that meet all conditions.
macro_rules! of_account {
    ($($condition:ident),*) => {
        concat!(
            "SELECT * FROM commands WHERE account_id = $1 AND command_id < $2",
            $(" AND ", $condition!(),)*
            " ORDER BY command_id DESC LIMIT $3"
        )
    };
}

/// The statement for commands of a device that meet all conditions.
macro_rules! of_device {
    ($($condition:ident),*) => {
        concat!(
            "SELECT * FROM commands WHERE device_id = $4 AND seq < $5",
            $(" AND ", $condition!(),)*
            " AND EXISTS (SELECT 1 FROM devices d WHERE d.device_id = $4 AND d.account_id = $1) \
             ORDER BY seq DESC LIMIT $3"
        )
    };
}

/// Returns the statement for `filter`. It reads the commands of an account in the order of their ids, and those of a
/// device in the order of their sequence numbers, each from an index.
const fn statement(filter: CommandFilter) -> &'static str {
    match (filter.device.is_some(), filter.open, filter.kind.is_some()) {
        (false, false, false) => of_account!(),
        (false, false, true) => of_account!(of_kind),
        (false, true, false) => of_account!(open),
        (false, true, true) => of_account!(open, of_kind_and_open),
        (true, false, false) => of_device!(),
        (true, false, true) => of_device!(of_kind),
        (true, true, false) => of_device!(open),
        (true, true, true) => of_device!(open, of_kind),
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
