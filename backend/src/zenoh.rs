//! The zenoh transport: built-in routers with a slot for each device, or a session at external routers. Messages of
//! devices go to the same handlers as over HTTP.
//!
//! Users and rules are fixed while a router runs. [`crate::domain::slot`] decides when to change the slots, and
//! [`crate::domain::routers`] which routers to open and to close for that. Devices of a closed router reconnect by
//! themselves, and no command is lost, because the database holds all undelivered ones.

#![expect(clippy::disallowed_methods, reason = "IO shell: sessions, the clock and waits")]

mod certificates;
mod downlink;
mod gate;
mod router;
mod shard;
mod uplink;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;

use self::{gate::Gate, router::Router, shard::Shard};
use crate::{
    api,
    app::App,
    config::zenoh::ZenohConfig,
    domain::{
        routers::{self, Division},
        slot::{self, Bounds, Moment, SlotTurn},
    },
};

/// How often to check whether the slots must change.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The maximum delay before opening a router is retried.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The running transport.
pub struct Zenoh {
    app: Arc<App>,
    /// The handlers of the messages of devices.
    service: axum::Router,
    router: Router,
    /// The gate in front of the built-in routers, or `None` with external routers.
    gate: Option<Gate>,
    bounds: Bounds,
    slots_per_router: u32,
    shards: Vec<Shard>,
    /// The time of the latest change of the slots.
    since: Instant,
}

impl Zenoh {
    /// Opens the routers and answers devices from then on. External routers need not run yet: the session joins them when
    /// they do.
    ///
    /// # Errors
    /// If the process cannot listen on an endpoint, or cannot read or write a file.
    pub async fn start(app: Arc<App>, config: ZenohConfig) -> anyhow::Result<()> {
        let ZenohConfig { bounds, slots_per_router, .. } = config;
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
        let service = api::agents_only(Arc::clone(&app));
        let (shards, since) = (Vec::new(), Instant::now());
        let mut zenoh =
            Self { app, service, router, gate, bounds, slots_per_router, shards, since };
        if zenoh.router.is_beside() {
            tokio::spawn(async move {
                zenoh.persist().await;
                zenoh.run().await;
            });
        } else {
            zenoh.open().await?;
            tokio::spawn(zenoh.run());
        }
        Ok(())
    }

    async fn run(mut self) {
        let mut draining = self.app.draining();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = draining.changed() => {}
            }
            if *draining.borrow() {
                shard::close(self.shards).await;
                return;
            }
            match self.is_due().await {
                Ok(true) => self.persist().await,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "slots could not be counted"),
            }
        }
    }

    async fn is_due(&self) -> anyhow::Result<bool> {
        let moment = Moment {
            open_for: self.since.elapsed(),
            awaited: self.app.is_slot_awaited(),
            quiet: self.shards.iter().all(Shard::is_quiet),
        };
        Ok(slot::is_due(self.app.store().slots().await?, self.bounds, moment))
    }

    /// Opens what is missing, with unlimited retries. Devices on HTTP are served meanwhile.
    async fn persist(&mut self) {
        let mut wait = LOOK_EVERY;
        while let Err(error) = self.open().await {
            tracing::error!("zenoh is not ready: {error:#}");
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Makes and frees slots, closes the routers whose users have changed, and opens the missing ones.
    async fn open(&mut self) -> anyhow::Result<()> {
        let slots =
            self.app.store().open_slots(self.bounds).await.context("failed to make slots")?;
        let Division { stale, missing } = self.divide(slots);
        let mut closed = Vec::new();
        for place in stale.into_iter().rev() {
            let shard = self.shards.remove(place);
            if let (Some(gate), Some(numbers)) = (&self.gate, shard::numbers(shard.users())) {
                gate.close(&numbers);
            }
            closed.push(shard);
        }
        shard::close(closed).await;
        for users in missing {
            let slots = users.len();
            self.open_shard(users).await?;
            let (endpoints, routers) = (self.router.endpoints(), self.shards.len());
            tracing::info!(?endpoints, slots, routers, "a router of zenoh is ready");
        }
        self.app.slots_made();
        self.since = Instant::now();
        Ok(())
    }

    /// External routers are one shard, which is opened anew for each change.
    fn divide(&self, slots: Vec<SlotTurn>) -> Division {
        if self.gate.is_none() {
            return Division { stale: (0..self.shards.len()).collect(), missing: vec![slots] };
        }
        let running: Vec<_> = self.shards.iter().map(Shard::users).collect();
        routers::divide(&running, &slots, self.slots_per_router)
    }

    async fn open_shard(&mut self, turns: Vec<SlotTurn>) -> anyhow::Result<()> {
        let users: Vec<_> = turns.iter().filter_map(|turn| self.app.zenoh_user(*turn)).collect();
        let (session, route) = match &self.gate {
            Some(gate) => {
                let socket = self.router.socket()?;
                let session = self.router.open(&users, &socket).await?;
                (session, shard::numbers(&turns).map(|numbers| (gate, numbers, socket)))
            }
            None => (self.router.open_beside(&users).await?, None),
        };
        self.shards.push(Shard::serve(&self.app, &self.service, session, turns).await?);
        if let Some((gate, numbers, socket)) = route {
            gate.lead(numbers, Arc::new(socket));
        }
        Ok(())
    }
}
