//! Deployments.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::State,
    http::{HeaderName, StatusCode, header},
};
use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page, PageRequest,
        deployment::{CreateDeployment, Deployment},
    },
    id::{DeploymentId, DeviceId, ModelId},
    problem::Code,
};
use serde::Deserialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::{IdempotencyKey, Ids, Json, Params, device_id},
        list,
        problem::Rejection,
    },
    app::{App, DeploymentQuery},
};

type Located<T> = (StatusCode, [(HeaderName, String); 1], Answer<T>);

/// The filter of a list of deployments.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeploymentParams {
    /// Only deployments on this device.
    #[param(value_type = Option<DeviceId>)]
    pub(super) device_id: Option<String>,
    /// Only deployments of this model.
    #[param(value_type = Option<ModelId>)]
    pub(super) model_id: Option<String>,
    /// `true`: only deployments whose allowlist lacks a current origin. `false`: only the others.
    pub(super) stale: Option<bool>,
    /// `true`: only the newest deployment of each model and device. `false`: only the others.
    pub(super) current: Option<bool>,
    /// Only deployments whose model name, device name or alias contains this text, or whose id begins with it (with or
    /// without `dep_`). Upper and lower case are treated alike; for letters outside ASCII this depends on the database.
    /// 1 to 200 characters.
    pub(super) q: Option<String>,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub(super) limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub(super) cursor: Option<String>,
}

/// Deploys or redeploys a model with the current allowlist. The device may be offline for up to five minutes.
#[utoipa::path(post, path = "/deployments", tag = "deployment", security(("access_token" = ["deployments:write"])),
    params(("Idempotency-Key" = Option<String>, Header, description = "Identifies the request. A repeated request with the same key creates no second deployment.")),
    request_body = CreateDeployment,
    responses((status = 202, description = "The deployment is queued.", body = Deployment,
        headers(("Location" = String, description = "The path of the deployment.")))))]
pub(crate) async fn create_deployment(
    Caller(caller, ..): Caller<may::WriteDeployments>,
    State(app): State<Arc<App>>,
    IdempotencyKey(key): IdempotencyKey,
    Json(wish): Json<CreateDeployment>,
) -> Result<Located<Deployment>, Rejection> {
    let deployment = app.deploy(caller, wish, key).await?;
    let location = format!("{PREFIX}/deployments/{}", deployment.deployment_id);
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, location)], Answer(deployment)))
}

/// Lists the deployments on the account's devices, newest first. A page may have fewer items than requested; only the
/// last page has no `next_cursor`.
#[utoipa::path(get, path = "/deployments", tag = "deployment", security(("access_token" = ["deployments:read"])),
    params(DeploymentParams),
    responses((status = 200, description = "The deployments.", body = Page<Deployment>)))]
pub(crate) async fn list_deployments(
    Caller(caller, ..): Caller<may::ReadDeployments>,
    State(app): State<Arc<App>>,
    Params(params): Params<DeploymentParams>,
) -> Result<Answer<Page<Deployment>>, Rejection> {
    let (wanted, query) = read(params)?;
    let deployments = app.deployments(caller, &query, &wanted).await?;
    Ok(Answer(list::part(deployments)))
}

/// Describes a deployment.
#[utoipa::path(get, path = "/deployments/{deployment_id}", tag = "deployment",
    security(("access_token" = ["deployments:read"])), params(("deployment_id" = DeploymentId, Path)),
    responses((status = 200, description = "The deployment.", body = Deployment)))]
pub(crate) async fn read_deployment(
    Caller(caller, ..): Caller<may::ReadDeployments>,
    State(app): State<Arc<App>>,
    Ids(deployment): Ids<DeploymentId>,
) -> Result<Answer<Deployment>, Rejection> {
    let deployment = app.deployment(caller, deployment).await?;
    Ok(Answer(deployment))
}

/// Cancels a deployment: at once if its device never received it, otherwise when the device confirms. Cancelling a failed
/// or cancelled deployment acknowledges its end: it is `removed`, and the deployment before it by which the model is on the
/// device, if there is one, is `current` again.
#[utoipa::path(post, path = "/deployments/{deployment_id}/cancel", tag = "deployment",
    security(("access_token" = ["deployments:write"])), params(("deployment_id" = DeploymentId, Path)),
    responses((status = 202, description = "The deployment has ended, or its device is asked to cancel it.", body = Deployment)))]
pub(crate) async fn cancel_deployment(
    Caller(caller, ..): Caller<may::WriteDeployments>,
    State(app): State<Arc<App>>,
    Ids(deployment): Ids<DeploymentId>,
) -> Result<(StatusCode, Answer<Deployment>), Rejection> {
    let deployment = app.cancel_deployment(caller, deployment).await?;
    Ok((StatusCode::ACCEPTED, Answer(deployment)))
}

pub(super) fn read(
    params: DeploymentParams,
) -> Result<(crate::database::Page, DeploymentQuery), Rejection> {
    let wanted =
        list::wanted::<DeploymentId>(&PageRequest { limit: params.limit, cursor: params.cursor })?;
    let model = params.model_id.as_deref().map(|text| {
        let id = text.parse::<ModelId>();
        id.map_err(|error| Rejection::new(Code::InvalidRequest, format!("model_id: {error}")))
    });
    let query = DeploymentQuery {
        device: params.device_id.as_deref().map(device_id).transpose()?,
        model: model.transpose()?,
        stale: params.stale,
        current: params.current,
        q: list::searched(params.q)?,
    };
    Ok((wanted, query))
}
