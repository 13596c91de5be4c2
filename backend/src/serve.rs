//! Listens, answers, and stops in an orderly way: parked polls are answered at once, what runs has
//! a deadline.

#![expect(clippy::disallowed_methods, reason = "IO shell: signals and time")]

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use axum::serve::ListenerExt as _;
use link_backend::{Backend, app::App, config::load::Loaded};
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    time::MissedTickBehavior,
};

use crate::{command, outcome::Ended};

/// How often it is looked for what expired.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// After how many sweeps old tokens and idempotency keys are deleted.
const PURGE_EVERY: u32 = 600;
/// How long requests may still run after the signal.
const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

pub(crate) async fn run(loaded: &Loaded) -> Ended {
    let config = loaded.config()?;
    let values = &loaded.values;
    let data = config.data.clone();
    fs::create_private_dir(&data)?;
    let _lock = command::lock(&data)?;
    let Backend { router, app } = link_backend::build(config).await?;

    if let Some(file) = &values.address_file {
        // The address of an earlier run must not be taken for this one's.
        fs::remove_file(file)?;
    }
    let listener = TcpListener::bind(values.listen)
        .await
        .with_context(|| format!("failed to listen on {}", values.listen))?;
    let address = listener.local_addr().context("failed to read the bound address")?;
    if let Some(token) = app.setup_token() {
        say(&format!("setup token: {}", token.expose()))?;
    }
    say(&format!("listening on http://{address}"))?;
    if let Some(file) = &values.address_file {
        fs::write_private(file, format!("{address}\n").as_bytes())?;
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
    Ok(ExitCode::Success)
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
