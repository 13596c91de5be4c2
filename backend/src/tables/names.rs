//! The names of things by their ids, many in one statement. A subquery for each id, and not a join, because SQLite
//! would read all devices of an account for a join.

use std::collections::BTreeMap;

use link_protocol::id::AccountId;

use crate::{
    database::{Connection, StoreError, sql},
    domain::sharing::Publishers,
};

/// The length of an id, with its prefix.
const ID_LENGTH: usize = 36;

/// Splits `$1`, ids of one length without separators, into rows.
macro_rules! of_ids {
    ($rest:literal) => {
        concat!(
            "WITH RECURSIVE ids (place, id) AS (SELECT 1, substr($1, 1, 36) \
             UNION ALL SELECT place + 36, substr($1, place + 36, 36) FROM ids \
             WHERE place + 36 <= length($1)) ",
            $rest
        )
    };
}

/// Finds the names of devices of an account. Unknown ids are left out.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn devices(
    db: &mut Connection,
    account: AccountId,
    ids: impl Iterator<Item = String>,
) -> Result<BTreeMap<String, String>, StoreError> {
    let text = of_ids!(
        "SELECT ids.id, (SELECT d.name FROM devices d WHERE d.device_id = ids.id \
         AND d.account_id = $2) FROM ids"
    );
    named(db, text, ids, [account.to_string()]).await
}

/// Finds the names of models that an account owns, that `publishers` share, or that were deployed to a device of the
/// account. Other ids are left out, because a device may report any id.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn models(
    db: &mut Connection,
    account: AccountId,
    publishers: &Publishers,
    ids: impl Iterator<Item = String>,
) -> Result<BTreeMap<String, String>, StoreError> {
    // All ids have the same length, so LIKE matches only whole ids in the joined text.
    let text = of_ids!(
        "SELECT ids.id, (SELECT m.name FROM models m WHERE m.model_id = ids.id \
         AND (m.account_id = $2 OR (m.shared AND $3 LIKE '%' || m.account_id || '%') \
         OR EXISTS (SELECT 1 FROM deployments p WHERE p.model_id = m.model_id \
         AND p.account_id = $2))) FROM ids"
    );
    named(db, text, ids, [account.to_string(), publishers.ids()]).await
}

async fn named(
    db: &mut Connection,
    text: &'static str,
    ids: impl Iterator<Item = String>,
    further: impl IntoIterator<Item = String>,
) -> Result<BTreeMap<String, String>, StoreError> {
    let mut ids: Vec<String> = ids.filter(|id| id.len() == ID_LENGTH).collect();
    ids.sort();
    ids.dedup();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let query = sql::query_as(text).bind(ids.concat());
    let query = further.into_iter().fold(query, |query, value| query.bind(value));
    let rows: Vec<(String, Option<String>)> = query.fetch_all(db).await?;
    Ok(rows.into_iter().filter_map(|(id, name)| Some((id, name?))).collect())
}
