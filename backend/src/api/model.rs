//! Models and their files.

use std::sync::Arc;

use axum::{
    Json as Answer,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        model::{ChangeModel, CreateModel, Model},
    },
    id::ModelId,
    problem::Code,
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Json, Params},
        list,
        problem::Rejection,
    },
    app::App,
};

/// Announces a model: a file that is uploaded next, or one at an address with its checksum.
#[utoipa::path(post, path = "/models", tag = "model", security(("access_token" = ["models:write"])),
    request_body = CreateModel,
    responses((status = 201, description = "The model.", body = Model)))]
pub(crate) async fn create_model(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Json(wish): Json<CreateModel>,
) -> Result<(StatusCode, Answer<Model>), Rejection> {
    let model = app.create_model(caller, wish).await?;
    Ok((StatusCode::CREATED, Answer(model)))
}

/// Lists the models of the account and those that are shared, the newest first.
#[utoipa::path(get, path = "/models", tag = "model", security(("access_token" = ["models:read"])),
    params(PageRequest),
    responses((status = 200, description = "The models.", body = Page<Model>)))]
pub(crate) async fn list_models(
    Caller(caller, ..): Caller<may::ReadModels>,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<Model>>, Rejection> {
    let wanted = list::wanted(&request)?;
    let models = app.models(caller, &wanted).await?;
    Ok(Answer(list::page(models, &wanted, |model| model.model_id.to_string())))
}

/// Describes a model.
#[utoipa::path(get, path = "/models/{model_id}", tag = "model",
    security(("access_token" = ["models:read"])), params(("model_id" = ModelId, Path)),
    responses((status = 200, description = "The model.", body = Model)))]
pub(crate) async fn read_model(
    Caller(caller, ..): Caller<may::ReadModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
) -> Result<Answer<Model>, Rejection> {
    let model = app.model(caller, model).await?;
    Ok(Answer(model))
}

/// Changes a model's name, or whether it is shared.
#[utoipa::path(patch, path = "/models/{model_id}", tag = "model",
    security(("access_token" = ["models:write"])), params(("model_id" = ModelId, Path)),
    request_body = ChangeModel,
    responses((status = 200, description = "The model from now on.", body = Model)))]
pub(crate) async fn change_model(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
    Json(wish): Json<ChangeModel>,
) -> Result<Answer<Model>, Rejection> {
    let model = app.change_model(caller, model, wish).await?;
    Ok(Answer(model))
}

/// Removes a model that is on no device, with its file.
#[utoipa::path(delete, path = "/models/{model_id}", tag = "model",
    security(("access_token" = ["models:write"])), params(("model_id" = ModelId, Path)),
    responses((status = 204, description = "The model is removed.")))]
pub(crate) async fn remove_model(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
) -> Result<StatusCode, Rejection> {
    app.remove_model(caller, model).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Uploads a model's file. It is kept only when it is the one that was announced.
#[utoipa::path(put, path = "/models/{model_id}/content", tag = "model",
    security(("access_token" = ["models:write"])), params(("model_id" = ModelId, Path)),
    request_body(content_type = "application/octet-stream", content = String),
    responses((status = 200, description = "The model, ready to be deployed.", body = Model)))]
pub(crate) async fn upload_content(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Answer<Model>, Rejection> {
    check_octets(&headers)?;
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let size_bytes = length.and_then(|text| text.parse().ok());
    let content = body.into_data_stream();
    let model = app.receive_content(caller, model, size_bytes, content).await?;
    Ok(Answer(model))
}

fn check_octets(headers: &HeaderMap) -> Result<(), Rejection> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if media_type.is_some_and(|text| text.eq_ignore_ascii_case("application/octet-stream")) {
        return Ok(());
    }
    let mut rejection = Rejection::new(Code::UnsupportedMediaType, "the body is the file itself");
    rejection.problem.hint =
        Some("send the file with `Content-Type: application/octet-stream`".to_owned());
    Err(rejection)
}
