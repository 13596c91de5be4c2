//! The zenoh transport: a built-in router with a slot for each device, or a session at external routers. Messages of devices
//! go to the same handlers as over HTTP.
//!
//! Users and rules are fixed while a router runs. [`crate::domain::slot`] decides when to reopen it. Devices reconnect by
//! themselves, and no command is lost, because the database holds all undelivered ones.

#![expect(clippy::disallowed_methods, reason = "IO shell: sessions, the clock and waits")]

mod certificates;
mod downlink;
mod gate;
mod router;
mod uplink;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use zenoh::Session;

use self::{downlink::Downlink, gate::Gate, router::Router};
use crate::{
    app::App,
    config::zenoh::ZenohConfig,
    domain::slot::{self, Bounds, Moment},
};

/// How often to check whether the router must be reopened.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The maximum delay before opening the router is retried.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The deadline for closing a session.
const CLOSE: Duration = Duration::from_secs(5);

/// The running transport.
pub struct Zenoh {
    app: Arc<App>,
    router: Router,
    /// The gate in front of the built-in router; nothing with external routers.
    gate: Option<Gate>,
    bounds: Bounds,
}

/// A session and its declarations.
struct Connected {
    session: Session,
    downlink: Arc<Downlink>,
    _declared: (uplink::Declared, downlink::Declared),
    since: Instant,
}

impl Zenoh {
    /// Opens the router and answers devices from then on. External routers need not run yet: the session joins them when
    /// they do.
    ///
    /// # Errors
    /// When the process cannot listen on an endpoint, or cannot read or write a file.
    pub async fn start(app: Arc<App>, config: ZenohConfig) -> anyhow::Result<()> {
        let bounds = config.bounds;
        let router = Router::prepare(config, app.data())?;
        app.offer_zenoh(
            router.offer(app.store().seed("zenoh", crate::host::random::bits()).await?),
        );
        let gate = if router.is_beside() {
            None
        } else {
            let (endpoints, certificates) = router.listening();
            Some(Gate::open(&app, endpoints, certificates).await?)
        };
        let zenoh = Self { app, router, gate, bounds };
        if zenoh.router.is_beside() {
            tokio::spawn(async move {
                let connected = zenoh.reconnect().await;
                zenoh.run(connected).await;
            });
        } else {
            let connected = zenoh.connect().await?;
            tokio::spawn(zenoh.run(connected));
        }
        Ok(())
    }

    async fn run(self, mut connected: Connected) {
        let mut draining = self.app.draining();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = draining.changed() => {}
            }
            if *draining.borrow() {
                close(connected).await;
                return;
            }
            match self.is_due(&connected).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    tracing::warn!(%error, "slots could not be counted");
                    continue;
                }
            }
            tracing::info!("the router of zenoh is opened anew, with more slots");
            if let Some(gate) = &self.gate {
                gate.lead(None);
            }
            close(connected).await;
            connected = self.reconnect().await;
        }
    }

    async fn is_due(&self, connected: &Connected) -> anyhow::Result<bool> {
        let moment = Moment {
            open_for: connected.since.elapsed(),
            awaited: self.app.is_slot_awaited(),
            quiet: connected.downlink.is_quiet(),
        };
        Ok(slot::is_due(self.app.store().slots().await?, self.bounds, moment))
    }

    /// Opens the router, with unlimited retries. Devices on HTTP are served meanwhile.
    async fn reconnect(&self) -> Connected {
        let mut wait = LOOK_EVERY;
        loop {
            match self.connect().await {
                Ok(connected) => return connected,
                Err(error) => tracing::error!("zenoh is not ready: {error:#}"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn connect(&self) -> anyhow::Result<Connected> {
        let turns =
            self.app.store().open_slots(self.bounds).await.context("failed to make slots")?;
        let users: Vec<_> =
            turns.into_iter().filter_map(|turn| self.app.zenoh_user(turn)).collect();
        let session = match &self.gate {
            Some(gate) => {
                let socket = self.router.socket()?;
                let session = self.router.open(&users, &socket).await?;
                gate.lead(Some(Arc::new(socket)));
                session
            }
            None => self.router.open_beside(&users).await?,
        };
        self.app.slots_made();
        tracing::info!(endpoints = ?self.router.endpoints(), "zenoh is ready");
        let downlink = Arc::new(Downlink::new(Arc::clone(&self.app), session.clone()));
        let sent = uplink::declare(&self.app, &session, &downlink).await?;
        let seen = downlink::declare(&session, &downlink).await?;
        let _declared = (sent, seen);
        Ok(Connected { session, downlink, _declared, since: Instant::now() })
    }
}

async fn close(connected: Connected) {
    connected.downlink.stop();
    let closing = connected.session.close();
    match tokio::time::timeout(CLOSE, closing).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!("a session of zenoh did not close: {error}"),
        Err(_late) => tracing::warn!("a session of zenoh did not close in time"),
    }
}
