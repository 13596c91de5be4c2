//! Listens, answers, and stops in an orderly way: parked polls are answered at once, what runs has
//! a deadline.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: files, signals and time"
)]

use std::{
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use axum::serve::ListenerExt as _;
use link_backend::{Backend, app::App, config::Config, zenoh::Zenoh};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    time::MissedTickBehavior,
};

use crate::{args::Serve, database_url};

/// How often it is looked for what expired.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// After how many sweeps old tokens and idempotency keys are deleted.
const PURGE_EVERY: u32 = 600;
/// How long requests may still run after the signal.
const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

pub(crate) async fn run(options: Serve) -> anyhow::Result<()> {
    let mut config = Config::new(options.data);
    config.public_url = options.public_url;
    config.allowed_origins = options.allowed_origins;
    config.device_limit = options.device_limit;
    config.database_url = database_url::read(&options.database)?;
    let data = config.data.clone();
    std::fs::create_dir_all(&data)
        .with_context(|| format!("failed to make the data folder `{}`", data.display()))?;
    let _lock = lock(&data)?;
    let Backend { router, app } = link_backend::build(config).await?;

    if let Some(file) = &options.address_file {
        forget(file).with_context(|| format!("failed to delete `{}`", file.display()))?;
    }
    let listener = TcpListener::bind(options.listen)
        .await
        .with_context(|| format!("failed to listen on {}", options.listen))?;
    let address = listener.local_addr().context("failed to read the bound address")?;
    if let Some(zenoh) = options.zenoh.config() {
        Zenoh::start(Arc::clone(&app), zenoh).await?;
    }
    if let Some(token) = app.setup_token() {
        say(&format!("setup token: {}", token.expose()))?;
    }
    say(&format!("listening on http://{address}"))?;
    if let Some(file) = &options.address_file {
        write_atomic(file, &address.to_string())
            .with_context(|| format!("failed to write `{}`", file.display()))?;
    }

    tokio::spawn(sweep(Arc::clone(&app)));
    let (drain, drained) = oneshot::channel();
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
    });
    let serving = axum::serve(listener, router).with_graceful_shutdown({
        let app = Arc::clone(&app);
        async move {
            signalled().await;
            tracing::info!("stopping");
            app.drain();
            // The receiver is gone when serving ended by itself.
            drain.send(()).unwrap_or(());
        }
    });
    let deadline = async {
        if drained.await.is_ok() {
            tokio::time::sleep(DRAIN_DEADLINE).await;
            tracing::warn!("requests were cut off");
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = serving => ended.context("failed to serve")?,
        () = deadline => {}
    }
    app.store().close().await;
    Ok(())
}

/// Two backends on one folder would hand out each other's commands.
fn lock(data: &Path) -> anyhow::Result<std::fs::File> {
    let path = data.join("lock");
    let file = std::fs::File::create(&path)
        .with_context(|| format!("failed to open `{}`", path.display()))?;
    file.try_lock()
        .with_context(|| format!("another backend uses the data folder `{}`", data.display()))?;
    Ok(file)
}

async fn sweep(app: Arc<App>) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweeps = 0_u32;
    loop {
        ticks.tick().await;
        let mut outcome = app.sweep().await;
        if sweeps.is_multiple_of(PURGE_EVERY) {
            outcome = outcome.and(app.purge().await);
        }
        sweeps = sweeps.wrapping_add(1);
        if let Err(error) = outcome {
            tracing::error!(%error, "the sweep failed");
        }
    }
}

async fn signalled() {
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    match (terminate, interrupt) {
        (Ok(mut terminate), Ok(mut interrupt)) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        (Err(error), _) | (_, Err(error)) => {
            tracing::error!(%error, "signals cannot be received");
            std::future::pending::<()>().await;
        }
    }
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(io::stderr(), "{line}").context("failed to write to the standard error")
}

/// The address of an earlier run must not be taken for this one's.
fn forget(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whoever waits for the file sees a whole address or none.
fn write_atomic(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))?;
    writeln!(file, "{text}")?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
