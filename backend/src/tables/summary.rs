//! The counts of an account, for its summary.
//!
//! The number of devices is a maintained counter. The other counts read one index each, and no history: the devices of
//! the account, its newest deployments, its open commands, the commands of the last days, its models, its keys, its
//! running operations, and the usage since midnight.

use jiff::Timestamp;
use link_protocol::{
    backend_api::summary::{
        CommandCounts, DeploymentCounts, DeviceCounts, KeyCounts, ModelCounts, RepairCounts,
        RunningOperations, Summary, UsageToday, VersionCount,
    },
    id::AccountId,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse, unsigned},
        read,
        sql::{self, row},
    },
    domain::summary::{NEARLY_FULL_PERCENT, Spans},
};

row! {
    struct VersionRow {
        agent_version: String,
        devices: i64,
        online: i64,
        updating: i64,
        rolled_back: i64,
    }
}

row! {
    struct DeploymentsRow {
        deployments: i64,
        failed: i64,
        in_progress: i64,
        serving: i64,
        serving_offline: i64,
        unserved: i64,
    }
}

row! {
    struct UsageRow {
        prompt_tokens: i64,
        completion_tokens: i64,
        requests: i64,
    }
}

impl Store {
    /// Counts everything in the summary of an account at `now`, except the stale deployments.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn summary(
        &self,
        account: AccountId,
        spans: &Spans,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        let id = account.to_string();
        Ok(read!(self, |db| {
            let (devices, versions) = devices(db, &id, spans).await?;
            let (commands, repairs) = commands(db, &id, spans, now).await?;
            let running = sql::query_scalar(
                "SELECT COUNT(*) FROM operations WHERE account_id = $1 AND ended_ms IS NULL",
            );
            Summary {
                devices,
                versions,
                commands,
                repairs,
                deployments: deployments(db, &id, spans).await?,
                models: models(db, &id).await?,
                keys: keys(db, &id, spans, now).await?,
                operations: RunningOperations {
                    running: unsigned(running.bind(&id).fetch_one(db).await?),
                },
                usage_today: usage(db, &id, spans).await?,
            }
        }))
    }
}

async fn devices(
    db: &mut Connection,
    account: &str,
    spans: &Spans,
) -> Result<(DeviceCounts, Vec<VersionCount>), StoreError> {
    let total = sql::query_scalar("SELECT devices FROM accounts WHERE account_id = $1");
    let total: Option<i64> = total.bind(account).fetch_optional(&mut *db).await?;
    let rows: Vec<VersionRow> = sql::query_as(
        "SELECT agent_version, COUNT(*) AS devices, \
         COUNT(CASE WHEN status = 'online' AND greeted_epoch = epoch \
         AND last_seen_ms > $2 THEN 1 END) AS online, \
         COUNT(CASE WHEN status = 'updating' AND greeted_epoch = epoch \
         AND last_seen_ms > $2 THEN 1 END) AS updating, \
         COUNT(CASE WHEN last_update LIKE '%\"outcome\":\"rolled_back\"%' THEN 1 END) AS rolled_back \
         FROM devices WHERE account_id = $1 GROUP BY agent_version \
         ORDER BY devices DESC, agent_version",
    )
    .bind(account)
    .bind(ms(spans.online_since))
    .maybe_slow()
    .fetch_all(db)
    .await?;
    let nearly_full: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM devices d JOIN system_samples s ON s.device_id = d.device_id \
         WHERE d.account_id = $1 AND s.disk_percent >= $2",
    )
    .bind(account)
    .bind(NEARLY_FULL_PERCENT)
    .maybe_slow()
    .fetch_one(&mut *db)
    .await?;
    let sum = |of: fn(&VersionRow) -> i64| unsigned(rows.iter().map(of).sum());
    let (online, updating) = (sum(|row| row.online), sum(|row| row.updating));
    let total = unsigned(total.unwrap_or_default());
    let offline = total.saturating_sub(online).saturating_sub(updating);
    let version = |row: &VersionRow| {
        Ok(VersionCount { version: parse(&row.agent_version)?, devices: unsigned(row.devices) })
    };
    let versions: Result<_, StoreError> = rows.iter().map(version).collect();
    let (rolled_back, nearly_full) = (sum(|row| row.rolled_back), unsigned(nearly_full));
    Ok((DeviceCounts { total, online, offline, updating, rolled_back, nearly_full }, versions?))
}

async fn deployments(
    db: &mut Connection,
    account: &str,
    spans: &Spans,
) -> Result<DeploymentCounts, StoreError> {
    let row: DeploymentsRow = sql::query_as(
        "SELECT COUNT(*) AS deployments, COUNT(CASE WHEN p.state = 'failed' THEN 1 END) AS failed, \
         COUNT(CASE WHEN p.state IN ('queued', 'downloading', 'configuring') THEN 1 END) \
         AS in_progress, \
         COUNT(CASE WHEN s.service = 'served' THEN 1 END) AS serving, \
         COUNT(CASE WHEN s.service = 'served' THEN CASE \
         WHEN d.status IN ('online', 'updating') AND d.greeted_epoch = d.epoch \
         AND d.last_seen_ms > $2 THEN NULL ELSE 1 END END) AS serving_offline, \
         COUNT(CASE WHEN p.state = 'completed' AND s.service = 'given_up' THEN 1 END) AS unserved \
         FROM deployments p JOIN devices d ON d.device_id = p.device_id \
         LEFT JOIN model_states s ON s.device_id = p.device_id AND s.model_id = p.model_id \
         WHERE p.account_id = $1 AND p.newest AND NOT p.removed",
    )
    .bind(account)
    .bind(ms(spans.online_since))
    .maybe_slow()
    .fetch_one(db)
    .await?;
    Ok(DeploymentCounts {
        total: unsigned(row.deployments),
        stale: 0,
        failed: unsigned(row.failed),
        in_progress: unsigned(row.in_progress),
        serving: unsigned(row.serving),
        serving_offline: unsigned(row.serving_offline),
        unserved: unsigned(row.unserved),
    })
}

async fn models(db: &mut Connection, account: &str) -> Result<ModelCounts, StoreError> {
    let (total, incomplete): (i64, i64) = sql::query_as(
        "SELECT COUNT(*), COUNT(CASE WHEN url IS NULL AND NOT uploaded THEN 1 END) \
         FROM models WHERE account_id = $1",
    )
    .bind(account)
    .maybe_slow()
    .fetch_one(db)
    .await?;
    Ok(ModelCounts { total: unsigned(total), incomplete: unsigned(incomplete) })
}

async fn commands(
    db: &mut Connection,
    account: &str,
    spans: &Spans,
    now: Timestamp,
) -> Result<(CommandCounts, RepairCounts), StoreError> {
    let (open, sent): (i64, i64) = sql::query_as(
        "SELECT COUNT(*), COUNT(CASE WHEN state <> 'acknowledged' \
         AND kind = 'REPAIR_SERVING' THEN 1 END) FROM commands \
         WHERE account_id = $1 AND unfinished AND state <> 'superseded' \
         AND (state = 'acknowledged' OR expires_ms > $2)",
    )
    .bind(account)
    .bind(ms(now))
    .maybe_slow()
    .fetch_one(&mut *db)
    .await?;
    // The ids of commands are ordered by their time, and an old command has no new result.
    let failed: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM commands WHERE account_id = $1 AND command_id >= $2 \
         AND reported_ms > $3 AND (result LIKE '%\"status\":\"failed\"%' \
         OR result LIKE '%\"status\":\"rejected\"%')",
    )
    .bind(account)
    .bind(&spans.first_command)
    .bind(ms(spans.failed_since))
    .maybe_slow()
    .fetch_one(db)
    .await?;
    let commands = CommandCounts { open: unsigned(open), failed_last_day: unsigned(failed) };
    Ok((commands, RepairCounts { sent: unsigned(sent) }))
}

async fn keys(
    db: &mut Connection,
    account: &str,
    spans: &Spans,
    now: Timestamp,
) -> Result<KeyCounts, StoreError> {
    let (total, ending): (i64, i64) = sql::query_as(
        "SELECT COUNT(*), COUNT(CASE WHEN expires_ms <= $3 THEN 1 END) FROM enrolment_keys \
         WHERE account_id = $1 AND NOT revoked AND (expires_ms IS NULL OR expires_ms > $2) \
         AND NOT (kind = 'registration' AND devices > 0) \
         AND (max_devices IS NULL OR devices < max_devices)",
    )
    .bind(account)
    .bind(ms(now))
    .bind(ms(spans.week_end))
    .maybe_slow()
    .fetch_one(db)
    .await?;
    Ok(KeyCounts { total: unsigned(total), ending_within_week: unsigned(ending) })
}

async fn usage(
    db: &mut Connection,
    account: &str,
    spans: &Spans,
) -> Result<UsageToday, StoreError> {
    let row: UsageRow = sql::query_as(
        "SELECT CAST(COALESCE(SUM(prompt_tokens), 0) AS BIGINT) AS prompt_tokens, \
         CAST(COALESCE(SUM(completion_tokens), 0) AS BIGINT) AS completion_tokens, \
         CAST(COALESCE(SUM(inferences), 0) AS BIGINT) AS requests \
         FROM usage_totals WHERE account_id = $1 AND begin_ms >= $2",
    )
    .bind(account)
    .bind(ms(spans.today))
    .maybe_slow()
    .fetch_one(db)
    .await?;
    Ok(UsageToday {
        prompt_tokens: unsigned(row.prompt_tokens),
        completion_tokens: unsigned(row.completion_tokens),
        requests: unsigned(row.requests),
    })
}
