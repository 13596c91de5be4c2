//! Runs the service and drains it at the end: first `/readyz` fails, then parked polls are answered at once and running
//! requests get a deadline. A second signal ends the process at once.

#![expect(clippy::disallowed_methods, reason = "IO shell: signals and time")]

mod metrics;
mod operations;
mod stop;

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use link_backend::{
    Backend, api,
    app::App,
    auth::{owner_file, setup_token::SetupToken},
    config::{file::LogFormat, load::Loaded},
    connections::{self, Door},
    domain::connections::Bounds,
    host,
    zenoh::Zenoh,
};
use link_platform::{
    descriptors, fs, memory,
    notify::{self, Note},
};
use link_protocol::{exit_code::ExitCode, secret::Secret};
use tokio::{net::TcpListener, sync::oneshot, time::MissedTickBehavior};

use crate::{
    command::{self, outcome::Ended},
    serve::stop::{Signals, Stop},
};

/// The interval of the sweep for expired rows.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The number of sweeps between two deletions of records whose retention is over.
const PURGE_EVERY: u32 = 600;
/// The interval of the clean-up of model files.
const TIDY_EVERY: Duration = Duration::from_secs(600);
/// The interval between comparisons with the clock of the database server.
const COMPARE_CLOCKS_EVERY: Duration = Duration::from_secs(5);
/// The interval between checks of one database table.
const CHECK_EVERY: Duration = Duration::from_secs(600);
/// The interval at which free memory is returned to the system. After many devices have reconnected at once, it is a
/// lot.
const GIVE_BACK_EVERY: Duration = Duration::from_secs(30);

pub(crate) async fn run(loaded: &Loaded) -> Ended {
    let config = loaded.config()?;
    let values = &loaded.values;
    let format = values.log.format;
    let data = config.data.clone();
    let mut signals = Signals::listen().context("signals cannot be received")?;
    fs::create_private_dir(&data)?;
    let _lock = command::lock(&data)?;
    // The owner's proof of an earlier run is not valid any more.
    owner_file::remove(&data)?;
    let bounds = Bounds::of(descriptors_limit());
    let Backend { router, app } = link_backend::build(config).await?;
    app.compare_clocks().await?;

    if let Some(file) = &values.address_file {
        // Readers must not mistake the address of an earlier run for the current one.
        fs::remove_file(file)?;
    }
    let listener = TcpListener::bind(values.listen)
        .await
        .with_context(|| format!("failed to listen on {}", values.listen))?;
    let address = listener.local_addr().context("failed to read the bound address")?;
    app.listens_on(address);
    app.offer_to_owner(address)?;
    if let Some(listen) = values.metrics.listen {
        let address = metrics::serve(listen, Arc::clone(&app)).await?;
        say(format, &format!("metrics on http://{address}/metrics"))?;
    }
    if let Some(zenoh) = values.zenoh.config() {
        Zenoh::start(Arc::clone(&app), zenoh).await?;
    }
    if let Some(token) = app.setup_token().filter(|_| !app.is_owned_by_file()) {
        say(format, &setup_token_line(format, &data, &token))?;
    }
    say(format, &format!("listening on http://{address}"))?;
    if let Some(file) = &values.address_file {
        fs::write_private(file, format!("{address}\n").as_bytes())?;
    }

    tokio::spawn(sweep(Arc::clone(&app)));
    tokio::spawn(operations::run(Arc::clone(&app)));
    tokio::spawn(tidy(Arc::clone(&app)));
    tokio::spawn(check(Arc::clone(&app)));
    tokio::spawn(heed_neighbours(Arc::clone(&app)));
    tokio::spawn(compare_clocks(Arc::clone(&app)));
    tokio::spawn(feed_watchdog());
    tokio::spawn(keep_small());
    let forwarded = app.is_behind_proxy().then_some(api::forwarded as fn(&_) -> _);
    let door = Door { bounds, forwarded };
    let (drain, drained) = oneshot::channel::<()>();
    let serving = connections::serve(listener, router, door, async {
        // An error means that the signal handler is gone. Then nothing else could end the process.
        drained.await.unwrap_or(());
    });
    notify::tell(Note::Ready);
    let stop = Stop {
        notice: Duration::from_secs(values.shutdown.notice_s.into()),
        deadline: Duration::from_secs(values.shutdown.deadline_s.into()),
    };
    let code = tokio::select! {
        () = serving => ExitCode::Success,
        code = stop.run(&mut signals, &app, drain) => code,
    };
    owner_file::remove(&data)?;
    if code == ExitCode::Success {
        if let Err(error) = app.save_presence().await {
            tracing::warn!(%error, "who was heard last is not stored");
        }
        if let Err(error) = app.stop_leading().await {
            tracing::warn!(%error, "another backend takes over only when the lease ends");
        }
        app.store().close().await;
    }
    Ok(code)
}

/// Raises the limit of open files to the maximum that the system allows, and returns the limit.
fn descriptors_limit() -> Option<u64> {
    descriptors::raise_limit().unwrap_or_else(|error| {
        tracing::warn!(%error, "the limit of open files cannot be raised");
        None
    })
}

async fn sweep(app: Arc<App>) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweeps = 0_u32;
    loop {
        ticks.tick().await;
        let begun = Instant::now();
        let mut outcome = app.sweep().await;
        host::metrics::database("sweep", begun.elapsed());
        if sweeps.is_multiple_of(PURGE_EVERY) {
            outcome = outcome.and(app.purge().await);
        }
        sweeps = sweeps.wrapping_add(1);
        if let Err(error) = outcome {
            tracing::error!(%error, "the sweep failed");
        }
    }
}

/// Updates the offset from the clock of the database server at intervals.
async fn compare_clocks(app: Arc<App>) {
    let mut ticks = tokio::time::interval(COMPARE_CLOCKS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = app.compare_clocks().await {
            tracing::warn!(%error, "the clock of the database server cannot be read");
        }
    }
}

/// Cleans up model files, now and at intervals, in a separate task, because an unreachable object store can block for
/// long.
async fn tidy(app: Arc<App>) {
    let mut ticks = tokio::time::interval(TIDY_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.tidy_contents().await;
    }
}

/// Checks the tables of the database, one at a time, each once a day.
async fn check(app: Arc<App>) {
    let mut ticks = tokio::time::interval(CHECK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.check_next_table().await;
    }
}

async fn heed_neighbours(app: Arc<App>) {
    app.heed_neighbours().await;
}

/// Notifies the watchdog of the service manager at the interval that it asks for.
async fn feed_watchdog() {
    let Some(within) = notify::watchdog() else { return };
    let mut ticks = tokio::time::interval(within / 3);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        notify::tell(Note::Alive);
    }
}

async fn keep_small() {
    let mut ticks = tokio::time::interval(GIVE_BACK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if tokio::task::spawn_blocking(memory::give_back_heap).await.is_err() {
            return;
        }
    }
}

/// Returns the line about the setup token. On a terminal it contains the token. In a log, which more people can read,
/// it contains only the path of the token's file.
fn setup_token_line(format: LogFormat, data: &Path, token: &Secret) -> String {
    // No record has a secret.
    if format == LogFormat::Text && io::stderr().is_terminal() {
        format!("setup token: {}", token.expose())
    } else {
        format!("setup token: in {}", SetupToken::file(data).display())
    }
}

/// Says something that does not depend on the filter of the log. Among records in JSON it is one of them.
fn say(format: LogFormat, line: &str) -> anyhow::Result<()> {
    match format {
        LogFormat::Text => {
            writeln!(io::stderr(), "{line}").context("failed to write to the standard error")
        }
        LogFormat::Json => {
            tracing::info!("{line}");
            Ok(())
        }
    }
}
