//! Lists of deployments, newest first. Each is read from an index in the order of the list.

use link_protocol::{
    allowlist::Allowlist,
    id::{AccountId, DeviceId, ModelId},
};

use crate::{
    database::{Store, StoreError, read, sql},
    tables::{
        deployments::{DeploymentView, row::ViewRow},
        paging::{Look, begin, end},
        search::{contains, named},
    },
};

/// A filter for a list of deployments.
#[derive(Clone, Debug, Default)]
pub struct DeploymentFilter {
    pub device: Option<DeviceId>,
    pub model: Option<ModelId>,
    /// Only the current deployment of each model on each device.
    pub current: bool,
    /// Only deployments that may be stale for this allowlist. The domain makes the decision.
    pub stale_for: Option<Allowlist>,
    /// A part of the name of the model, of the device or of the alias, or the beginning of the id.
    pub q: Option<String>,
}

/// Builds a statement from `head`, a condition for the filters, and `tail`. The filters are a device and a model, a
/// device, a model or none, and the current deployments or all. With a device, the account is compared in the devices
/// table, so that only the index of the device fits.
macro_rules! by_filter {
    ($filter:expr, $head:literal, $tail:expr) => {
        match ($filter.device.is_some(), $filter.model.is_some(), $filter.current) {
            (true, true, false) => by_filter!(@own $head, "p.device_id = $4 AND p.model_id = $5", $tail),
            (true, true, true) => {
                by_filter!(@own $head, "p.device_id = $4 AND p.model_id = $5 AND p.newest", $tail)
            }
            (true, false, false) => by_filter!(@own $head, "p.device_id = $4", $tail),
            (true, false, true) => by_filter!(@own $head, "p.device_id = $4 AND p.newest", $tail),
            (false, true, false) => {
                concat!($head, "p.model_id = $5 AND p.account_id = $1", $tail)
            }
            (false, true, true) => {
                concat!($head, "p.model_id = $5 AND p.account_id = $1 AND p.newest", $tail)
            }
            (false, false, false) => concat!($head, "p.account_id = $1", $tail),
            (false, false, true) => concat!($head, "p.account_id = $1 AND p.newest", $tail),
        }
    };
    (@own $head:literal, $condition:literal, $tail:expr) => {
        concat!(
            $head,
            "EXISTS (SELECT 1 FROM devices d WHERE d.device_id = $4 AND d.account_id = $1) AND ",
            $condition,
            $tail
        )
    };
}

impl Store {
    /// Lists deployments on the devices of an account, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployments(
        &self,
        account: AccountId,
        filter: &DeploymentFilter,
        look: Look<'_>,
    ) -> Result<Vec<DeploymentView>, StoreError> {
        // Left joins keep the order of the index. A report or an allowlist with the digest of the current allowlist is
        // not stale.
        let q = filter.q.as_deref().unwrap_or_default();
        let statement = by_filter!(
            filter,
            "SELECT p.*, p.newest AS current, s.report AS serving, a.name AS publisher, \
             o.name AS model_name, o.facts AS model_facts, v.name AS device_name \
             FROM deployments p LEFT JOIN models o ON o.model_id = p.model_id \
             LEFT JOIN devices v ON v.device_id = p.device_id \
             LEFT JOIN accounts a ON a.account_id = o.account_id \
             LEFT JOIN model_states s \
             ON s.device_id = p.device_id AND s.model_id = p.model_id WHERE ",
            concat!(
                " AND p.deployment_id < $2 AND p.deployment_id >= $3 AND ($7 = '' OR (NOT p.removed \
                 AND (p.state NOT IN ('failed', 'cancelled') OR s.report IS NOT NULL) \
                 AND (replace(p.allowlist, $7, '') = p.allowlist \
                 OR (s.report IS NOT NULL AND replace(s.report, $7, '') = s.report)))) \
                 AND ($8 = '' OR ",
                named!("p.alias", "p.deployment_id", "$8", "$9"),
                " OR ",
                contains!("o.name", "$8", "$9"),
                " OR ",
                contains!("v.name", "$8", "$9"),
                ") ORDER BY p.deployment_id DESC LIMIT $6"
            )
        );
        let rows: Vec<ViewRow> = read!(self, |db| {
            sql::query_as(statement)
                .bind(account.to_string())
                .bind(begin(look.after))
                .bind(end(look.until))
                .bind(filter.device.map(|id| id.to_string()))
                .bind(filter.model.map(|id| id.to_string()))
                .bind(i64::from(look.limit))
                .bind(filter.stale_for.as_ref().map_or("", Allowlist::digest))
                .bind(q)
                .bind(q.to_lowercase())
                .maybe_slow()
                .fetch_all(db)
                .await?
        });
        rows.into_iter().map(DeploymentView::try_from).collect()
    }

    /// Finds the last of the next `window` deployments of a list. Returns `None` if the list ends before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployments_end(
        &self,
        account: AccountId,
        filter: &DeploymentFilter,
        after: Option<&String>,
        window: u32,
    ) -> Result<Option<String>, StoreError> {
        let statement = by_filter!(
            filter,
            "SELECT p.deployment_id FROM deployments p WHERE ",
            " AND p.deployment_id < $2 ORDER BY p.deployment_id DESC LIMIT 1 OFFSET $3"
        );
        Ok(read!(self, |db| {
            sql::query_scalar(statement)
                .bind(account.to_string())
                .bind(begin(after))
                .bind(i64::from(window) - 1)
                .bind(filter.device.map(|id| id.to_string()))
                .bind(filter.model.map(|id| id.to_string()))
                .fetch_optional(db)
                .await?
        }))
    }
}
