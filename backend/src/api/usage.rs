//! Token usage by the hour or day.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use jiff::Timestamp;
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        usage::{Usage, UsageGroupBy, UsageGroups, UsageQuery},
    },
    id::{DeviceId, ModelId},
    problem::Code,
};
use serde::Serialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Params, device_id},
        list,
        problem::Rejection,
    },
    app::{App, UsageQuestion},
    domain::refusal::Refusal,
    tables::{UsageFilter, UsageScope},
};

/// An answer about usage.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum UsageAnswer {
    Page(Page<Usage>),
    Groups(Box<UsageGroups>),
}

/// Lists token usage by device, model and hour or day, newest first, or sums it in groups. An inference counts when its
/// report arrives. If its model was never deployed on the device, or was deleted, the inference counts under the id
/// `mdl_00000000000000000000000000000000`.
#[utoipa::path(get, path = "/usage", tag = "usage", security(("access_token" = ["usage:read"])),
    params(UsageQuery),
    responses((status = 200, description = "The usage: a page of a list, or groups.", body = UsageAnswer)))]
pub(crate) async fn list_usage(
    Caller(caller, _): Caller<may::ReadUsage>,
    State(app): State<Arc<App>>,
    Params(params): Params<UsageQuery>,
) -> Result<Answer<UsageAnswer>, Rejection> {
    if let Some(by) = params.group_by {
        let groups = app.usage_groups(caller, question(by, &params)?).await?;
        return Ok(Answer(UsageAnswer::Groups(Box::new(groups))));
    }
    let (wanted, filter) = read(params)?;
    let usage = app.usage(caller, &filter).await?;
    Ok(Answer(UsageAnswer::Page(list::page(usage, &wanted, cursor))))
}

/// Returns the place of an item in the list.
pub(super) fn cursor(item: &Usage) -> String {
    format!("{} {} {}", item.begin, item.device_id, item.model_id)
}

fn question(by: UsageGroupBy, params: &UsageQuery) -> Result<UsageQuestion, Rejection> {
    let of_list = [("limit", params.limit.is_some()), ("cursor", params.cursor.is_some())];
    if let Some((name, _)) = of_list.into_iter().find(|(_, given)| *given) {
        return Err(Refusal::invalid(format!("{name}: is not possible with `group_by`")).into());
    }
    Ok(UsageQuestion {
        by,
        bucket: params.bucket,
        from: time("from", params.from.as_deref())?,
        to: time("to", params.to.as_deref())?,
        scope: UsageScope {
            device: params.device_id.as_deref().map(device_id).transpose()?,
            model: params.model_id.as_deref().map(model_id).transpose()?,
        },
    })
}

fn model_id(text: &str) -> Result<ModelId, Rejection> {
    let id = text.parse::<ModelId>();
    id.map_err(|error| Rejection::new(Code::InvalidRequest, format!("model_id: {error}")))
}

pub(super) fn read(params: UsageQuery) -> Result<(crate::database::Page, UsageFilter), Rejection> {
    let wanted =
        list::wanted::<String>(&PageRequest { limit: params.limit, cursor: params.cursor })?;
    let after = match &wanted.after {
        Some(text) => Some(place(text).ok_or_else(|| {
            Refusal::invalid("cursor: must be the `next_cursor` of the page before")
        })?),
        None => None,
    };
    let filter = UsageFilter {
        bucket: params.bucket,
        device: params.device_id.as_deref().map(device_id).transpose()?,
        model: params.model_id.as_deref().map(model_id).transpose()?,
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
