//! `/metrics` for Prometheus, on a separate listener.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context as _;
use axum::{Router, extract::State, http::header, response::IntoResponse, routing::get};
use link_backend::{
    app::App,
    connections::{self, Door},
    domain::connections::Bounds,
    host::metrics,
};
use link_platform::fs;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

/// The format that Prometheus reads.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The maximum number of connections.
const CONNECTIONS: usize = 32;
/// The size limit of `/proc/self/status`, in bytes.
const STATUS_LIMIT: u64 = 64 * 1024;

/// Starts to record metrics and to answer on `listen`. Returns the bound address.
pub(crate) async fn serve(listen: SocketAddr, app: Arc<App>) -> anyhow::Result<SocketAddr> {
    let recorder = PrometheusBuilder::new()
        .set_buckets(&metrics::BUCKETS_S)
        .context("the buckets of durations are not usable")?
        .install_recorder()
        .context("failed to begin to count")?;
    metrics::describe();
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("failed to listen on {listen} for metrics"))?;
    let address = listener.local_addr().context("failed to read the bound address")?;
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "metrics can be read from other machines");
    }
    let router = Router::new().route("/metrics", get(show)).with_state((app, recorder));
    let door = Door { bounds: Bounds::at_most(CONNECTIONS), forwarded: None };
    tokio::spawn(connections::serve(listener, router, door, std::future::pending()));
    Ok(address)
}

async fn show(State((app, recorder)): State<(Arc<App>, PrometheusHandle)>) -> impl IntoResponse {
    app.survey(memory_bytes()).await;
    recorder.run_upkeep();
    ([(header::CONTENT_TYPE, FORMAT)], recorder.render())
}

/// Returns the resident memory of this process, on Linux.
fn memory_bytes() -> Option<u64> {
    let status = fs::read_limited("/proc/self/status".as_ref(), STATUS_LIMIT).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}
