//! Actions that a person at this machine requests. Permission is checked before the path and the
//! body, so an unauthorized client learns nothing else. The outcome is part of the agent's state.

use axum::{
    Json,
    extract::{
        Path, State,
        rejection::{JsonRejection, PathRejection},
    },
    http::StatusCode,
};
use link_agent_core::event::{Event, Wish};
use link_protocol::{
    deployment::DeploymentState,
    id::PipelineId,
    local_api::{CancelledDeploy, PipelineEntry},
    problem::Code,
    report::LifecycleStatus,
    update::UpdateRequest,
};

use super::{LocalApi, Refusal, access::Control, views};

type Named = Result<Path<PipelineId>, PathRejection>;
type Accepted = (StatusCode, Json<PipelineEntry>);
type Asked = Result<Json<UpdateRequest>, JsonRejection>;

/// Starts an update.
pub(super) async fn update(
    _: Control,
    State(api): State<LocalApi>,
    asked: Asked,
) -> Result<StatusCode, Refusal> {
    let Json(request) = asked.map_err(|rejection| unreadable(&rejection))?;
    let view = api.view().await?;
    if view.status == LifecycleStatus::Updating {
        return Err(Refusal::new(Code::UpdateRunning, "an update is already in progress"));
    }
    api.updates.forget_last();
    api.inbox.event(Event::UpdateAsked(request)).await;
    Ok(StatusCode::ACCEPTED)
}

pub(super) async fn serve(
    _: Control,
    State(api): State<LocalApi>,
    named: Named,
) -> Result<Accepted, Refusal> {
    wish(&api, named, Wish::Serve).await
}

pub(super) async fn stop(
    _: Control,
    State(api): State<LocalApi>,
    named: Named,
) -> Result<Accepted, Refusal> {
    wish(&api, named, Wish::Stop).await
}

pub(super) async fn remove(
    _: Control,
    State(api): State<LocalApi>,
    named: Named,
) -> Result<Accepted, Refusal> {
    wish(&api, named, Wish::Remove).await
}

/// Cancels a deployment, unless its model is there already and is being configured. A model that is deployed for the first
/// time has no pipeline yet.
pub(super) async fn cancel_deploy(
    _: Control,
    State(api): State<LocalApi>,
    named: Named,
) -> Result<(StatusCode, Json<CancelledDeploy>), Refusal> {
    let id = parse(named)?;
    let view = api.view().await?;
    let pipeline = entry(views::models(&view), id);
    let mut under_way = view.deployments.into_iter();
    let deployment = under_way.find(|one| PipelineId::of(one.model_id) == id);
    if pipeline.is_none() && deployment.is_none() {
        return Err(unknown(id));
    }
    if deployment.as_ref().is_some_and(|one| one.state == DeploymentState::Configuring) {
        let late =
            "too late: the model is downloaded and is being configured; stop or remove the model";
        return Err(Refusal::new(Code::AlreadyFinal, late));
    }
    api.inbox.event(Event::Wished(Wish::CancelDeploy(id))).await;
    Ok((StatusCode::ACCEPTED, Json(CancelledDeploy { pipeline, deployment })))
}

/// Sends a request for one pipeline to the core and returns the pipeline's new state, or its last
/// state if the pipeline is already gone.
async fn wish(
    api: &LocalApi,
    named: Named,
    wish: fn(PipelineId) -> Wish,
) -> Result<Accepted, Refusal> {
    let id = parse(named)?;
    let found = || async {
        let view = api.view().await?;
        Ok::<_, Refusal>(entry(views::models(&view), id))
    };
    let before = found().await?.ok_or_else(|| unknown(id))?;
    api.inbox.event(Event::Wished(wish(id))).await;
    let now = found().await.ok().flatten().unwrap_or(before);
    Ok((StatusCode::ACCEPTED, Json(now)))
}

fn parse(named: Named) -> Result<PipelineId, Refusal> {
    let invalid = |_| Refusal::new(Code::InvalidRequest, "the path names no pipeline");
    named.map(|Path(id)| id).map_err(invalid)
}

fn entry(entries: Vec<PipelineEntry>, id: PipelineId) -> Option<PipelineEntry> {
    entries.into_iter().find(|entry| entry.pipeline_id == id)
}

fn unknown(id: PipelineId) -> Refusal {
    Refusal::new(Code::NotFound, format!("this device has no pipeline `{id}`"))
}

fn unreadable(rejection: &JsonRejection) -> Refusal {
    let code = match rejection.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        StatusCode::PAYLOAD_TOO_LARGE => Code::PayloadTooLarge,
        StatusCode::UNPROCESSABLE_ENTITY => Code::InvalidRequest,
        _ => Code::MalformedRequest,
    };
    Refusal::new(code, rejection.body_text())
}
