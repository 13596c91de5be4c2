//! Asks each served model what a browser would ask for a page.

use link_client::page::{self, Method, PageRequest};
use link_protocol::{
    allowlist::Origin, backend_api::deployment::Deployment, local_api::PipelineEntry,
};

use super::Seen;
use crate::{
    backend_login,
    context::Context,
    doctor::{
        agent::Registration,
        cell::Request,
        origin::{Answer, Model, NO_ORIGIN, OriginFacts, space_of},
    },
};

pub(super) async fn look(context: &Context, wanted: &Origin, seen: &Seen) -> OriginFacts {
    let account = account(context, seen).await;
    let mut models = Vec::new();
    for entry in seen.pipelines.iter().filter(|entry| entry.is_serving) {
        let deployments = account.as_ref().map(|(_, deployments)| deployments.as_slice());
        models.push(model(entry, wanted, seen, deployments).await);
    }
    OriginFacts {
        origin: wanted.to_string(),
        space: space_of(&addresses(wanted).await),
        allowed: account.map(|(allowed, _)| allowed),
        models,
    }
}

/// Returns the origins that the account allows, and the deployments of this device. None if nobody is logged in, or the
/// backend does not answer.
async fn account(context: &Context, seen: &Seen) -> Option<(Vec<String>, Vec<Deployment>)> {
    let Registration::Device(identity) = &seen.registration else { return None };
    let backend = backend_login::logged_in(context).ok()?;
    let setting = backend.allowlist().await.ok()?;
    let origins = setting.origins.iter().chain(&setting.defaults).map(ToString::to_string);
    let deployments = backend.current_deployments(Some(identity.device_id), None).await.ok()?;
    Some((origins.collect(), deployments))
}

async fn model(
    entry: &PipelineEntry,
    wanted: &Origin,
    seen: &Seen,
    deployments: Option<&[Deployment]>,
) -> Model {
    let health = seen.health.iter().flat_map(|health| &health.models);
    let model = health.into_iter().find(|model| model.pipeline_id == entry.pipeline_id);
    let model_id = model.map(|model| model.model_id);
    let deployed =
        deployments.and_then(|all| all.iter().find(|one| Some(one.model_id) == model_id));
    let mut answers = Vec::new();
    for origin in [wanted.as_str(), NO_ORIGIN] {
        for request in Request::ALL {
            answers.push((request, origin.to_owned(), ask(entry, origin, request).await));
        }
    }
    Model {
        alias: entry.alias.to_string(),
        model_id: model_id.map_or_else(|| entry.alias.to_string(), |id| id.to_string()),
        port: entry.port.get(),
        stale: deployed.map(|deployment| deployment.stale),
        answers,
    }
}

async fn ask(entry: &PipelineEntry, origin: &str, request: Request) -> Answer {
    let (method, path, headers) = request.first(entry.alias.as_str());
    let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
    let asked = PageRequest { method, path, origin: origin.to_owned(), headers };
    match page::ask(entry.port, asked).await {
        Ok(answer) => Answer::Status {
            status: answer.status,
            headers: answer.headers,
            detail: answer.problem.map(|problem| problem.detail),
        },
        Err(failure) => Answer::Silence(failure.to_string()),
    }
}

/// Returns the addresses of the host of an origin.
async fn addresses(origin: &Origin) -> Vec<std::net::IpAddr> {
    let host = origin.as_str().split_once("://").map_or("", |(_, host)| host);
    let port = if origin.as_str().starts_with("https") { 443 } else { 80 };
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let host = if has_port { host.to_owned() } else { format!("{host}:{port}") };
    match tokio::net::lookup_host(host).await {
        Ok(found) => found.map(|address| address.ip()).collect(),
        Err(_) => Vec::new(),
    }
}
