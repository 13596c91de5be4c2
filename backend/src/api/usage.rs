//! Token usage by the hour or day.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use jiff::Timestamp;
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        usage::{Usage, UsageBucket},
    },
    id::{DeviceId, ModelId},
    problem::Code,
};
use serde::Deserialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Params, device_id},
        list,
        problem::Rejection,
    },
    app::App,
    domain::refusal::Refusal,
    tables::UsageFilter,
};

/// The filter of a list of usage.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageParams {
    /// Only usage on this device.
    #[param(value_type = Option<DeviceId>)]
    device_id: Option<String>,
    /// Only usage of this model.
    #[param(value_type = Option<ModelId>)]
    model_id: Option<String>,
    /// From the hour or day that contains this time.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// Up to the hour or day that contains this time or ends at this time.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<String>,
    /// The length of a span. Hours are kept for 35 days and days for 800, unless configured otherwise.
    #[serde(default)]
    #[param(default = "hour")]
    bucket: UsageBucket,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Lists token usage by device, model and hour or day, newest first. An inference counts when its report arrives.
#[utoipa::path(get, path = "/usage", tag = "usage", security(("access_token" = ["usage:read"])),
    params(UsageParams),
    responses((status = 200, description = "The usage.", body = Page<Usage>)))]
pub(crate) async fn list_usage(
    Caller(caller, _): Caller<may::ReadUsage>,
    State(app): State<Arc<App>>,
    Params(params): Params<UsageParams>,
) -> Result<Answer<Page<Usage>>, Rejection> {
    let (wanted, filter) = read(params)?;
    let usage = app.usage(caller, &filter).await?;
    let place = |item: &Usage| format!("{} {} {}", item.begin, item.device_id, item.model_id);
    Ok(Answer(list::page(usage, &wanted, place)))
}

fn read(params: UsageParams) -> Result<(crate::database::Page, UsageFilter), Rejection> {
    let wanted = list::wanted(&PageRequest { limit: params.limit, cursor: params.cursor })?;
    let after =
        match &wanted.after {
            Some(text) => Some(place(text).ok_or_else(|| {
                Refusal::invalid("cursor: is the `next_cursor` of the page before")
            })?),
            None => None,
        };
    let model = params.model_id.as_deref().map(|text| {
        let id = text.parse::<ModelId>();
        id.map_err(|error| Rejection::new(Code::InvalidRequest, format!("model_id: {error}")))
    });
    let filter = UsageFilter {
        bucket: params.bucket,
        device: params.device_id.as_deref().map(device_id).transpose()?,
        model: model.transpose()?,
        from: time("from", params.from.as_deref())?.unwrap_or(Timestamp::UNIX_EPOCH),
        to: time("to", params.to.as_deref())?.unwrap_or(Timestamp::MAX),
        after,
        limit: wanted.limit,
    };
    Ok((wanted, filter))
}

fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Rejection> {
    let time = text.map(str::parse::<Timestamp>).transpose();
    time.map_err(|_| {
        Refusal::invalid(format!("{name}: is a time such as 2026-08-07T12:00:00Z")).into()
    })
}

fn place(text: &str) -> Option<(Timestamp, DeviceId, ModelId)> {
    let mut parts = text.split(' ');
    let place =
        (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(place)
}
