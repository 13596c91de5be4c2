//! The HTTP API: each handler reads a request, calls one use case, and writes the answer.
//!
//! Routes and the OpenAPI document come from the same declarations, so they always agree. Every error is a problem
//! document.

mod account;
mod agent;
mod agent_content;
mod agent_report;
mod audit;
mod caller;
mod command;
mod cookie;
mod csv;
mod deployment;
mod device;
mod device_flow;
mod device_log;
mod docs;
mod etag;
mod event;
mod export;
mod extract;
mod health;
mod install;
mod key;
mod layer;
mod list;
mod local_owner;
mod member;
mod metric;
mod model;
pub mod openapi;
mod operations;
mod peer;
mod problem;
mod query;
mod registration;
mod release;
mod serving;
mod session;
mod setting;
mod token;
mod usage;
mod web;

use std::sync::{Arc, LazyLock};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, middleware, routing::get};
use link_protocol::{agent_api::PREFIX, problem::Problem};
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::extract::Proven;
pub use self::peer::forwarded;
use crate::{app::App, failure::AppError};

/// Returns the service with all routes.
pub fn router(app: Arc<App>) -> Router {
    let (router, _) = declared().split_for_parts();
    let surroundings = layer::Surroundings::of(&app);
    let document = once(&app, openapi::json);
    let reference = once(&app, |url| docs::page(&openapi::document(url)));
    router
        .route(&format!("{PREFIX}/openapi.json"), get(async move || docs::json(document())))
        .route("/docs", get(async move || docs::html(reference())))
        .route("/docs/style.css", get(|| async { docs::style() }))
        .route("/install.sh", get(release::install_script))
        .route("/install.ps1", get(release::install_power_shell))
        .route("/releases/{name}", get(release::fetch_released))
        .merge(pages())
        .fallback(web::file_or_nothing)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .with_state(app)
        .layer(middleware::from_fn_with_state(surroundings, layer::finish))
}

/// Returns a function whose text is made at its first call: a start need not wait for what few backends are asked for.
fn once(app: &Arc<App>, made: fn(Option<&str>) -> String) -> impl Fn() -> Bytes + Clone + use<> {
    let app = Arc::clone(app);
    let text = Arc::new(LazyLock::new(move || Bytes::from(made(app.public_url()))));
    move || Bytes::clone(&text)
}

/// Returns the addresses of the application that is built from `web/`: each answers with the same page. Before there is an
/// account they lead to its setup, because nobody can log in.
fn pages() -> Router<Arc<App>> {
    web::PAGES.iter().fold(Router::new(), |router, &address| {
        let page = move |State(app): State<Arc<App>>, headers: HeaderMap| async move {
            if address != web::SETUP && app.awaits_setup().await {
                return web::to_setup();
            }
            web::built_page(address, &headers)
        };
        router.route(address, get(page))
    })
}

/// Returns the service for messages of devices that arrived over another transport than HTTP. Each request carries
/// [`Proven`] in its extensions.
pub(crate) fn agents_only(app: Arc<App>) -> Router {
    let (router, _) = OpenApiRouter::new().nest(PREFIX, agents()).split_for_parts();
    let surroundings = layer::Surroundings::of(&app);
    let finish = middleware::from_fn_with_state(surroundings, layer::finish);
    router.with_state(app).layer(finish)
}

/// Returns the problem document for a failure.
pub(crate) fn rejection(failure: AppError) -> Box<Problem> {
    problem::Rejection::from(failure).problem
}

/// Returns every documented operation with its handler.
fn declared() -> OpenApiRouter<Arc<App>> {
    let api = OpenApiRouter::new().merge(people()).merge(things()).merge(agents());
    OpenApiRouter::with_openapi(openapi::Document::openapi())
        .routes(routes!(health::check_health))
        .routes(routes!(health::check_readiness))
        .nest(PREFIX, api)
}

fn people() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(account::set_up))
        .routes(routes!(account::log_in))
        .routes(routes!(account::refresh))
        .routes(routes!(account::log_out))
        .routes(routes!(account::me))
        .routes(routes!(session::open_session, session::close_session))
        .routes(routes!(session::list_sessions, session::end_other_sessions))
        .routes(routes!(session::end_session))
        .routes(routes!(session::change_password))
        .routes(routes!(device_flow::begin_device_login))
        .routes(routes!(device_flow::poll_device_login))
        .routes(routes!(device_flow::inquire_device_login))
        .routes(routes!(device_flow::decide_device_login))
        .routes(routes!(local_owner::log_in_owner))
        .routes(routes!(local_owner::make_owner_code))
        .routes(routes!(local_owner::redeem_owner_code))
        .routes(routes!(local_owner::set_owner_password))
        .routes(routes!(event::stream_events))
        .routes(routes!(event::read_summary))
        .routes(routes!(account::list_accounts))
        .routes(routes!(account::enter_account))
        .routes(routes!(member::list_members))
        .routes(routes!(member::change_member, member::remove_member))
        .routes(routes!(member::invite_member, member::list_invitations))
        .routes(routes!(member::withdraw_invitation))
        .routes(routes!(member::accept_invitation))
        .routes(routes!(member::leave_account))
        .routes(routes!(token::create_token, token::list_tokens))
        .routes(routes!(token::revoke_token))
        .routes(routes!(audit::list_audit))
        .routes(routes!(key::create_key, key::list_keys))
        .routes(routes!(key::revoke_key))
        .routes(routes!(install::read_install))
        .routes(routes!(setting::read_allowlist, setting::replace_allowlist))
}

fn things() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(registration::register_with_key))
        .routes(routes!(registration::retire_device))
        .routes(routes!(device::list_devices))
        .routes(routes!(device::read_device, device::change_device, device::remove_device))
        .routes(routes!(device::update_device))
        .routes(routes!(device::transfer_device))
        .routes(routes!(device_log::list_device_logs))
        .routes(routes!(metric::read_device_metrics))
        .routes(routes!(model::create_model, model::list_models))
        .routes(routes!(model::read_model, model::change_model, model::remove_model))
        .routes(routes!(model::upload_content, model::read_upload, model::resume_content))
        .routes(routes!(deployment::create_deployment, deployment::list_deployments))
        .routes(routes!(deployment::read_deployment))
        .routes(routes!(deployment::cancel_deployment))
        .routes(routes!(serving::repair_serving))
        .routes(routes!(serving::serve_model))
        .routes(routes!(serving::stop_model))
        .routes(routes!(serving::uninstall_model))
        .routes(routes!(command::list_commands))
        .routes(routes!(command::read_command))
        .routes(routes!(command::explain_command))
        .routes(routes!(operations::create_operation, operations::list_operations))
        .routes(routes!(operations::read_operation))
        .routes(routes!(operations::list_operation_devices))
        .routes(routes!(operations::cancel_operation))
        .routes(routes!(operations::retry_operation))
        .routes(routes!(usage::list_usage))
        .routes(routes!(export::export_devices))
        .routes(routes!(export::export_deployments))
        .routes(routes!(export::export_commands))
        .routes(routes!(export::export_usage))
        .routes(routes!(export::export_audit))
}

fn agents() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(agent::hello))
        .routes(routes!(agent::poll_commands))
        .routes(routes!(agent::acknowledge_command))
        .routes(routes!(agent::deregister_device))
        .routes(routes!(agent::open_zenoh))
        .routes(routes!(agent_report::report_command))
        .routes(routes!(agent_report::report_lifecycle))
        .routes(routes!(agent_report::report_model))
        .routes(routes!(agent_report::report_progress))
        .routes(routes!(agent_report::report_telemetry))
        .routes(routes!(agent_report::report_system))
        .routes(routes!(agent_report::report_log))
        .routes(routes!(agent_content::fetch_content))
}
