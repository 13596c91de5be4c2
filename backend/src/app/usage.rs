//! Token usage of the models on an account's devices.

use jiff::Timestamp;
use link_protocol::backend_api::usage::{
    Usage, UsageBucket, UsageGroup, UsageGroupBy, UsageGroups,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{StoreError, column::broken, read},
    domain::{figures, refusal::Refusal, retention::since, sharing::Publishers},
    failure::AppError,
    tables::{UsageFilter, UsagePeriod, UsageScope, names},
};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The maximum number of hours or days in one answer.
const BUCKETS: i64 = 400;
/// The hours and days of a question without a beginning.
const HOURS: i64 = 24;
const DAYS: i64 = 30;

/// A question about usage in groups.
#[derive(Clone, Copy, Debug)]
pub struct UsageQuestion {
    pub by: UsageGroupBy,
    pub bucket: UsageBucket,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub scope: UsageScope,
}

impl App {
    /// Lists the token usage of the account's devices, newest first.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn usage(
        &self,
        caller: Identity,
        filter: &UsageFilter,
    ) -> Result<Vec<Usage>, AppError> {
        let mut usage = self.store.usage(caller.account, filter).await?;
        let publishers = self.publishers().await?;
        let devices = usage.iter().map(|item| item.device_id.to_string());
        let models = usage.iter().map(|item| item.model_id.to_string());
        let (devices, models) = read!(self.store, |db| (
            names::devices(db, caller.account, devices).await?,
            names::models(db, caller.account, &publishers, models).await?,
        ));
        for item in &mut usage {
            item.device_name = devices.get(&item.device_id.to_string()).cloned();
            item.model_name = models.get(&item.model_id.to_string()).cloned();
        }
        Ok(usage)
    }

    /// Sums the usage of the account's devices by group and by hour or day.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the answer would be too long, or its hours are not kept any more.
    pub async fn usage_groups(
        &self,
        caller: Identity,
        question: UsageQuestion,
    ) -> Result<UsageGroups, AppError> {
        let UsageQuestion { by, bucket, scope, .. } = question;
        let (period, begin, end) = self.period(question)?;
        let sums = self.store.usage_sums(caller.account, by, period, scope).await?;
        let mut sums = sums.ok_or_else(too_many)?;
        let mut others = sums.remove(&Some(String::new()));
        let found = match by {
            UsageGroupBy::Tag => {
                let (found, rest) = figures::largest(figures::by_tag(sums).ok_or_else(too_many)?);
                others = Some(rest);
                found
            }
            UsageGroupBy::Model | UsageGroupBy::Device => figures::largest(sums).0,
            UsageGroupBy::None => vec![(None, others.take().unwrap_or_default())],
        };
        let others = (by != UsageGroupBy::None).then(|| others.unwrap_or_default());
        let keys = || found.iter().filter_map(|(key, _)| key.clone());
        let publishers = match by {
            UsageGroupBy::Model => self.publishers().await?,
            UsageGroupBy::Device | UsageGroupBy::Tag | UsageGroupBy::None => Publishers::default(),
        };
        let names = read!(self.store, |db| match by {
            UsageGroupBy::Model => names::models(db, caller.account, &publishers, keys()).await?,
            UsageGroupBy::Device => names::devices(db, caller.account, keys()).await?,
            UsageGroupBy::Tag | UsageGroupBy::None => Default::default(),
        });
        let range = (period.from, period.to, period.width);
        let groups: Result<Vec<UsageGroup>, StoreError> = found
            .into_iter()
            .map(|(key, spans)| {
                let name = key.as_ref().and_then(|key| names.get(key)).cloned();
                figures::filled(key, name, &spans, range).map_err(broken)
            })
            .collect();
        let others = others.map(|spans| figures::filled(None, None, &spans, range).map_err(broken));
        Ok(UsageGroups {
            group_by: by,
            bucket,
            from: begin,
            to: end,
            first_token_bounds_ms: figures::FIRST_TOKEN_MS.to_vec(),
            token_rate_bounds: figures::TOKEN_RATES.to_vec(),
            groups: groups?,
            others: others.transpose()?,
        })
    }

    /// Returns the whole hours or days that contain the times of a question, with their beginning and end.
    fn period(
        &self,
        question: UsageQuestion,
    ) -> Result<(UsagePeriod, Timestamp, Timestamp), Refusal> {
        let (width, count) = match question.bucket {
            UsageBucket::Hour => (HOUR_MS, HOURS),
            UsageBucket::Day => (DAY_MS, DAYS),
        };
        let now = self.now();
        let end = question.to.unwrap_or(now).as_millisecond();
        let to = end.saturating_add(width - 1);
        let to = to - to.rem_euclid(width);
        let from = question.from.map_or(to - count * width, Timestamp::as_millisecond);
        let from = from - from.rem_euclid(width);
        if from >= to || (to - from) / width > BUCKETS {
            return Err(Refusal::invalid(format!(
                "from: the period has 1 to {BUCKETS} hours or days: choose a shorter period, or days"
            )));
        }
        let kept = since(now, self.config.retention.usage_hours).as_millisecond();
        if question.bucket == UsageBucket::Hour && from < kept - kept.rem_euclid(DAY_MS) {
            let kept = self.config.retention.usage_hours.as_hours() / 24;
            return Err(Refusal::invalid(format!(
                "from: hours are kept for {kept} days: choose `bucket=day`"
            )));
        }
        // The last hours that a time can be in do not make a whole day, and neither do the first ones.
        let time = |name: &str, ms| {
            let time = Timestamp::from_millisecond(ms);
            time.map_err(|_| Refusal::invalid(format!("{name}: is too near to the ends of time")))
        };
        Ok((UsagePeriod { from, to, width }, time("from", from)?, time("to", to)?))
    }
}

fn too_many() -> Refusal {
    Refusal::invalid(
        "from: the period has too many combinations of tags: choose a shorter period, or days",
    )
}
