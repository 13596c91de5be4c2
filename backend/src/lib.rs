//! The backend of Link: an HTTP API over one database, which also holds the only durable queue of commands.
//!
//! `api` reads requests, calls a use case and writes the answer. `app` contains the use cases, `domain` the decisions,
//! `tables` the rows, and `database` the access to the database. The other modules handle input and output.

#![forbid(unsafe_code)]

pub mod api;
pub mod app;
pub mod args;
pub mod auth;
pub mod config;
pub mod connections;
pub mod content;
pub mod database;
pub mod domain;
pub mod failure;
pub mod host;
pub mod releases;
pub mod tables;
pub mod zenoh;

use std::sync::Arc;

use anyhow::Context as _;

use crate::{app::App, config::Config};

/// An open backend.
pub struct Backend {
    /// The HTTP service, whose state is `app`.
    pub router: axum::Router,
    pub app: Arc<App>,
}

/// Opens the data folder, the database and the files of `config`, and builds the service. Only one backend may use a folder.
///
/// # Errors
/// If the data folder, the database or a file cannot be opened.
pub async fn build(config: Config) -> anyhow::Result<Backend> {
    let data = config.data.display().to_string();
    let opens = match config.database_url {
        Some(_) => format!("the database and the data folder `{data}`"),
        None => format!("the data folder `{data}`"),
    };
    tokio::fs::create_dir_all(&config.data)
        .await
        .with_context(|| format!("failed to make the data folder `{data}`"))?;
    let app = App::open(config).await;
    let app = Arc::new(app.with_context(|| format!("failed to open {opens}"))?);
    app.clear_uploads().context("failed to clear the folder of models")?;
    Ok(Backend { router: api::router(Arc::clone(&app)), app })
}

/// Returns the OpenAPI document, formatted and in a stable order.
#[must_use]
pub fn openapi_json() -> String {
    api::openapi::json(None)
}
