//! `link usage`: how much the account's models were used.

use jiff::{SignedDuration, Timestamp};
use link_client::backend::BackendClient;
use link_protocol::backend_api::usage::{
    Distribution, UsageBucket, UsageFigures, UsageGroup, UsageGroupBy, UsageGroups, UsageQuery,
};

use crate::{
    args::{Usage, UsageGroupArg},
    backend_login,
    context::{self, Context},
    error::CliError,
    output::{Cell, View},
    resolve,
};

/// The period without `--since`.
const USUAL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The longest period that is summed by the hour; a longer one is summed by the day.
const MOST_BY_HOUR: SignedDuration = SignedDuration::from_hours(48);

pub(super) async fn run(context: &Context, arguments: Usage) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let mut query = query(&arguments, context::now())?;
    if let Some(named) = &arguments.model {
        query.model_id = Some(resolve::model(&backend, named).await?.model_id.to_string());
    }
    if let Some(named) = &arguments.device {
        let device = resolve::device(context, &backend, Some(named)).await?;
        query.device_id = Some(device.to_string());
    }
    let usage = backend.usage_groups(&query).await?;
    if context.output.is_json() {
        return context.output.data(&usage, |_| String::new());
    }
    let all = all(&backend, query).await?;
    let view = context.view();
    context.output.say(&period(&usage));
    context.output.data(&usage, |usage| table(usage, &all, &view))?;
    if all.uncounted > 0 {
        let (count, these) = match all.uncounted {
            1 => ("1 inference is".to_owned(), "its tokens are"),
            count => (format!("{count} inferences are"), "their tokens are"),
        };
        context.output.say(&format!(
            "{count} uncounted: the engine did not say how much was used, so {these} not in the sums"
        ));
    }
    Ok(())
}

/// Returns the query for the groups of `arguments`, still without the ids of a model or a device.
fn query(arguments: &Usage, now: Timestamp) -> Result<UsageQuery, CliError> {
    let until = arguments.until.map_or(now, |until| until.in_the_past(now));
    let since = match arguments.since {
        Some(since) => since.in_the_past(now),
        None => until.checked_sub(USUAL).unwrap_or(Timestamp::MIN),
    };
    if since >= until {
        return Err(CliError::usage("the period is empty: `--until` is not after `--since`"));
    }
    let bucket = if until.duration_since(since) <= MOST_BY_HOUR {
        UsageBucket::Hour
    } else {
        UsageBucket::Day
    };
    let by = match arguments.by {
        UsageGroupArg::Model => UsageGroupBy::Model,
        UsageGroupArg::Device => UsageGroupBy::Device,
        UsageGroupArg::Tag => UsageGroupBy::Tag,
    };
    Ok(UsageQuery {
        from: Some(since.to_string()),
        to: Some(until.to_string()),
        bucket,
        group_by: Some(by),
        ..UsageQuery::default()
    })
}

/// Returns the sums over all groups of `query`. They are no sum of the groups, because a device counts in each of its tags.
async fn all(backend: &BackendClient, query: UsageQuery) -> Result<UsageFigures, CliError> {
    let query = UsageQuery { group_by: Some(UsageGroupBy::None), ..query };
    let groups = backend.usage_groups(&query).await?.groups;
    Ok(groups.into_iter().next().map(|group| group.total).unwrap_or_default())
}

/// Returns the period as a person writes it: whole days with the last one included, or whole hours.
fn period(usage: &UsageGroups) -> String {
    match usage.bucket {
        UsageBucket::Day => {
            let last = usage.to.checked_sub(SignedDuration::from_hours(24)).unwrap_or(usage.to);
            format!("{} to {} (UTC)", usage.from.strftime("%F"), last.strftime("%F"))
        }
        UsageBucket::Hour => {
            let form = "%F %H:%M";
            format!("{} to {} (UTC)", usage.from.strftime(form), usage.to.strftime(form))
        }
    }
}

fn table(usage: &UsageGroups, all: &UsageFigures, view: &View) -> String {
    if all.inferences == 0 {
        return "no usage in this period".to_owned();
    }
    let others = usage.others.iter().filter(|others| others.total.inferences > 0);
    let named = usage.groups.iter().map(|group| (called(group, usage.group_by), &group.total));
    let mut rows: Vec<(Cell, &UsageFigures)> =
        named.chain(others.map(|others| ("others".into(), &others.total))).collect();
    if rows.len() > 1 {
        rows.push(("all".into(), all));
    }
    let heading = match usage.group_by {
        UsageGroupBy::Model => "MODEL",
        UsageGroupBy::Device => "DEVICE",
        UsageGroupBy::Tag => "TAG",
        UsageGroupBy::None => "ALL",
    };
    let counts = rows.into_iter().map(|(called, sums)| {
        let count = |number: u64| Cell::from(number.to_string());
        let tokens = [count(sums.prompt_tokens), count(sums.completion_tokens)];
        let rates = [median(&sums.first_token_ms, " ms"), median(&sums.token_rate, "")];
        let seconds = format!("{:.1} s", seconds(sums.audio_ms));
        (called, count(sums.inferences), tokens, rates, seconds, count(sums.images))
    });
    // Most accounts have models of language alone.
    if all.audio_ms == 0 && all.images == 0 {
        let rows = counts.map(|(called, inferences, [prompt, completion], [first, rate], ..)| {
            [called, inferences, prompt, completion, first, rate]
        });
        let headings =
            [heading, "INFERENCES", "PROMPT TOKENS", "COMPLETION", "FIRST TOKEN", "TOKENS/S"];
        return view.table(headings, rows);
    }
    let rows =
        counts.map(|(called, inferences, [prompt, completion], [first, rate], audio, images)| {
            [called, inferences, prompt, completion, audio.into(), images, first, rate]
        });
    let headings = [
        heading,
        "INFERENCES",
        "PROMPT TOKENS",
        "COMPLETION",
        "AUDIO",
        "IMAGES",
        "FIRST TOKEN",
        "TOKENS/S",
    ];
    view.table(headings, rows)
}

/// Returns what the table calls a group.
fn called(group: &UsageGroup, by: UsageGroupBy) -> Cell {
    match (&group.key, by) {
        (Some(tag), UsageGroupBy::Tag) => tag.clone().into(),
        (Some(id), _) => Cell::Named { id: id.clone(), name: group.name.clone() },
        (None, UsageGroupBy::Tag) => "no tag".into(),
        (None, _) => "all".into(),
    }
}

fn median(of: &Distribution, unit: &str) -> Cell {
    of.p50.map_or_else(|| "-".into(), |value| format!("{value:.0}{unit}").into())
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of audio are far below 2^53")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Moment;

    fn asked(since: Option<&str>, until: Option<&str>) -> Usage {
        let moment = |text: &str| text.parse::<Moment>().unwrap();
        let (since, until) = (since.map(moment), until.map(moment));
        Usage { by: UsageGroupArg::Tag, model: None, device: None, since, until }
    }

    #[test]
    fn a_period_of_up_to_two_days_is_summed_by_the_hour() {
        let now: Timestamp = "2026-11-30T12:30:00Z".parse().unwrap();
        let found = |since, until| {
            let query = query(&asked(since, until), now).map_err(|error| error.message);
            query.map(|query| (query.bucket, query.from.unwrap(), query.to.unwrap()))
        };
        let at = |text: &str| text.to_owned();
        let today = (UsageBucket::Hour, at("2026-11-30T00:00:00Z"), at("2026-11-30T12:30:00Z"));
        assert_eq!(found(Some("today"), None), Ok(today));
        let month = (UsageBucket::Day, at("2026-10-31T12:30:00Z"), at("2026-11-30T12:30:00Z"));
        assert_eq!(found(None, None), Ok(month));
        let long_ago = (UsageBucket::Day, at("2026-01-02T00:00:00Z"), at("2026-02-01T00:00:00Z"));
        assert_eq!(found(None, Some("2026-02-01")), Ok(long_ago));
        let refused = found(Some("yesterday"), Some("3d"));
        assert_eq!(refused, Err(at("the period is empty: `--until` is not after `--since`")));
    }

    #[test]
    fn a_period_of_days_is_told_with_its_last_day() {
        let told = |bucket, from: &str, to: &str| {
            period(&UsageGroups {
                group_by: UsageGroupBy::None,
                bucket,
                from: from.parse().unwrap(),
                to: to.parse().unwrap(),
                first_token_bounds_ms: Vec::new(),
                token_rate_bounds: Vec::new(),
                groups: Vec::new(),
                others: None,
            })
        };
        let days = told(UsageBucket::Day, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z");
        assert_eq!(days, "2026-11-01 to 2026-11-30 (UTC)");
        let hours = told(UsageBucket::Hour, "2026-11-30T23:00:00Z", "2026-12-01T02:00:00Z");
        assert_eq!(hours, "2026-11-30 23:00 to 2026-12-01 02:00 (UTC)");
    }

    #[test]
    fn a_table_has_audio_and_images_only_if_there_are_some() {
        let figures = |audio_ms, p50| UsageFigures {
            inferences: 3,
            counted: 3,
            prompt_tokens: 1200,
            completion_tokens: 800,
            audio_ms,
            first_token_ms: Distribution { counts: Vec::new(), p50, p95: p50 },
            ..UsageFigures::default()
        };
        let group = |key: &str, name: Option<&str>, audio_ms| UsageGroup {
            key: Some(key.to_owned()),
            name: name.map(str::to_owned),
            total: figures(audio_ms, (audio_ms == 0).then_some(41.6)),
            buckets: Vec::new(),
        };
        let usage = |groups| UsageGroups {
            group_by: UsageGroupBy::Model,
            bucket: UsageBucket::Day,
            from: Timestamp::UNIX_EPOCH,
            to: Timestamp::UNIX_EPOCH,
            first_token_bounds_ms: Vec::new(),
            token_rate_bounds: Vec::new(),
            groups,
            others: None,
        };
        let view = View { width: Some(100), full: false, utc: false, now: Timestamp::UNIX_EPOCH };
        let text = table(&usage(vec![group("mdl_1", Some("smollm"), 0)]), &figures(0, None), &view);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["smollm", "3", "1200", "800", "42", "ms", "-"], "{text}");
        assert_eq!(lines.len(), 2, "one row needs no sum: {text}");
        let groups = vec![group("mdl_1", Some("smollm"), 0), group("mdl_2", None, 61_500)];
        let text = table(&usage(groups), &figures(61_500, None), &view);
        assert!(
            text.contains("61.5 s") && text.contains("mdl_2") && text.contains("\nall "),
            "{text}"
        );
        assert_eq!(
            table(&usage(Vec::new()), &UsageFigures::default(), &view),
            "no usage in this period"
        );
    }
}
