//! Models and their files.

use std::sync::Arc;

use axum::{
    Json as Answer,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        model::{ChangeModel, CreateModel, Model, ModelQuery},
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
    app::{App, Uploaded},
    domain::{list_order, refusal::Refusal},
    tables::ModelList,
};

/// Adds a model, either with a file to be uploaded next or with an address and its checksum.
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

/// Lists the models of the account and the shared ones, the newest first unless `sort` says otherwise.
#[utoipa::path(get, path = "/models", tag = "model", security(("access_token" = ["models:read"])),
    params(ModelQuery),
    responses((status = 200, description = "The models.", body = Page<Model>)))]
pub(crate) async fn list_models(
    Caller(caller, ..): Caller<may::ReadModels>,
    State(app): State<Arc<App>>,
    Params(ModelQuery { q, sort, limit, cursor }): Params<ModelQuery>,
) -> Result<Answer<Page<Model>>, Rejection> {
    let wanted = list::wanted::<String>(&PageRequest { limit, cursor })?;
    let asked = ModelList { q: list::searched(q)?, sort };
    let models = app.models(caller, &asked, &wanted).await?;
    Ok(Answer(list::page(models, &wanted, |model| list_order::cursor(model, sort))))
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

/// Renames a model, shares it, or ends its sharing.
#[utoipa::path(patch, path = "/models/{model_id}", tag = "model",
    security(("access_token" = ["models:write"])), params(("model_id" = ModelId, Path)),
    request_body = ChangeModel,
    responses((status = 200, description = "The changed model.", body = Model)))]
pub(crate) async fn change_model(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
    Json(wish): Json<ChangeModel>,
) -> Result<Answer<Model>, Rejection> {
    let model = app.change_model(caller, model, wish).await?;
    Ok(Answer(model))
}

/// Removes a model and its file. The model must not be on a device.
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

/// Uploads a model's file in one request. The file is kept only if it matches the announced size and checksum.
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

/// Returns the progress of the upload of a model's file: the header `Upload-Offset` says where the upload resumes.
#[utoipa::path(head, path = "/models/{model_id}/content", tag = "model",
    security(("access_token" = ["models:write"])), params(("model_id" = ModelId, Path)),
    responses((status = 200, description = "The progress of the upload.",
        headers(("Upload-Offset" = u64, description = "Bytes stored so far."),
            ("Upload-Length" = Option<u64>, description = "Size of the whole file in bytes, if it is known.")))))]
pub(crate) async fn read_upload(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
) -> Result<Response, Rejection> {
    let uploaded = app.uploaded(caller, model).await?;
    Ok((offset_of(&uploaded), StatusCode::OK).into_response())
}

/// Resumes the upload of a model's file after an interruption. Received bytes are kept for a day. After the last byte
/// the file is compared with the announced size and checksum, and then the model is ready.
#[utoipa::path(patch, path = "/models/{model_id}/content", tag = "model",
    security(("access_token" = ["models:write"])),
    params(("model_id" = ModelId, Path),
        ("Upload-Offset" = u64, Header, description = "Offset in the file at which the body begins.")),
    request_body(content_type = "application/octet-stream", content = String),
    responses((status = 200, description = "The model; `ready` once the file is complete.", body = Model,
        headers(("Upload-Offset" = u64, description = "Bytes stored so far.")))))]
pub(crate) async fn resume_content(
    Caller(caller, ..): Caller<may::WriteModels>,
    State(app): State<Arc<App>>,
    Ids(model): Ids<ModelId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Rejection> {
    check_octets(&headers)?;
    let offset = headers.get(OFFSET).and_then(|value| value.to_str().ok());
    let offset = offset.and_then(|text| text.parse().ok()).ok_or_else(|| {
        Refusal::invalid("the header Upload-Offset says where in the file the body begins")
    })?;
    // In a separate task, the received bytes are kept even if the sender disconnects.
    let content = body.into_data_stream();
    let task = tokio::spawn(async move { app.go_on(caller, model, offset, content).await });
    let uploaded = task
        .await
        .map_err(|_panic| Rejection::new(Code::Internal, "the request could not be completed"))??;
    Ok((offset_of(&uploaded), Answer(uploaded.model)).into_response())
}

const OFFSET: &str = "upload-offset";

/// Returns the headers that report the progress of an upload.
fn offset_of(uploaded: &Uploaded) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(OFFSET, uploaded.offset.into());
    if let Some(size_bytes) = uploaded.model.size_bytes {
        headers.insert("upload-length", size_bytes.into());
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
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
