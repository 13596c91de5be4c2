//! A shard: one router, its slots, and the tasks that serve the devices in them. External routers form one shard with all
//! slots.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use futures_util::future::join_all;
use zenoh::Session;

use super::{
    downlink::{self, Downlink},
    uplink,
};
use crate::{app::App, domain::slot::SlotTurn};

/// The deadline for closing a session.
const CLOSE: Duration = Duration::from_secs(5);

/// An open router with its declarations.
pub(super) struct Shard {
    users: Vec<SlotTurn>,
    session: Session,
    downlink: Arc<Downlink>,
    _declared: (uplink::Declared, downlink::Declared),
}

impl Shard {
    /// Serves the devices of `session`, whose router has `users`.
    pub(super) async fn serve(
        app: &Arc<App>,
        service: &axum::Router,
        session: Session,
        users: Vec<SlotTurn>,
    ) -> anyhow::Result<Self> {
        let downlink = Arc::new(Downlink::new(Arc::clone(app), session.clone()));
        let sent = uplink::declare(app, service, &session, &downlink).await?;
        let seen = downlink::declare(&session, &downlink).await?;
        Ok(Self { users, session, downlink, _declared: (sent, seen) })
    }

    /// Returns the users of the router.
    pub(super) fn users(&self) -> &[SlotTurn] {
        &self.users
    }

    /// Tells whether no command is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        self.downlink.is_quiet()
    }

    async fn close(self) {
        self.downlink.stop();
        match tokio::time::timeout(CLOSE, self.session.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!("a session of zenoh did not close: {error}"),
            Err(_late) => tracing::warn!("a session of zenoh did not close in time"),
        }
    }
}

/// Closes shards concurrently.
pub(super) async fn close(shards: impl IntoIterator<Item = Shard>) {
    join_all(shards.into_iter().map(Shard::close)).await;
}

/// Returns the numbers of the slots of `users`, which are consecutive.
pub(super) fn numbers(users: &[SlotTurn]) -> Option<RangeInclusive<u32>> {
    Some(users.first()?.slot..=users.last()?.slot)
}
