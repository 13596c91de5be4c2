//! Outdated deployments: ended, replaced as the current deployment of their model on their device, and older than the
//! retention. The deployment that put a model on its device is never outdated.

use jiff::Timestamp;
use link_protocol::id::{AccountId, DeploymentId};

use crate::database::{
    Connection, StoreError,
    column::{ms, parse},
    sql,
};

/// Lists up to `most` outdated deployments that ended before `before`, each with its account, oldest first.
pub(crate) async fn outdated(
    db: &mut Connection,
    before: Timestamp,
    most: u32,
) -> Result<Vec<(DeploymentId, AccountId)>, StoreError> {
    let rows: Vec<(String, String)> = sql::query_as(
        "SELECT p.deployment_id, p.account_id FROM deployments p \
         WHERE NOT p.newest AND p.updated_ms < $1 \
         AND p.state IN ('completed', 'failed', 'cancelled') \
         AND (p.state <> 'completed' OR p.removed OR EXISTS (SELECT 1 FROM deployments n \
         WHERE n.device_id = p.device_id AND n.model_id = p.model_id \
         AND n.deployment_id > p.deployment_id AND n.state = 'completed' AND NOT n.removed)) \
         ORDER BY p.updated_ms LIMIT $2",
    )
    .bind(ms(before))
    .bind(i64::from(most))
    .maybe_slow()
    .fetch_all(db)
    .await?;
    rows.iter().map(|(id, account)| Ok((parse(id)?, parse(account)?))).collect()
}

pub(crate) async fn delete(db: &mut Connection, id: DeploymentId) -> Result<(), StoreError> {
    sql::query("DELETE FROM deployments WHERE deployment_id = $1")
        .bind(id.to_string())
        .execute(db)
        .await?;
    Ok(())
}
