//! Presence by liveliness tokens: a hint that comes at once, except when a link freezes.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use zenoh::{handlers::FifoChannelHandler, pubsub::Subscriber, sample::Sample, sample::SampleKind};

use super::{World, figure, inbox};
use crate::{
    device::Device,
    router::{Router, Slot, zenoh_error},
};

/// What the backend sees of one slot's presence.
pub(crate) struct Watch(Subscriber<FifoChannelHandler<Sample>>);

impl Watch {
    /// Watches `slot` from now on.
    pub(crate) async fn start(router: &Router, slot: &Slot) -> anyhow::Result<Self> {
        let presence = router.session.liveliness().declare_subscriber(slot.key("alive"));
        Ok(Self(presence.await.map_err(zenoh_error("failed to watch presence"))?))
    }

    /// Waits for the next change and makes sure that it is `kind`.
    pub(crate) async fn expect(&self, kind: SampleKind) -> anyhow::Result<()> {
        let change = tokio::time::timeout(Duration::from_secs(20), self.0.recv_async()).await;
        let change = change.context("no change of presence in 20 s")?;
        let change = change.map_err(zenoh_error("the watch ended"))?;
        ensure!(change.kind() == kind, "expected {kind:?}, got {:?}", change.kind());
        Ok(())
    }

    /// Returns the changes that have come a moment after whatever was done last.
    pub(crate) async fn settled(&self) -> Vec<SampleKind> {
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.changes()
    }

    /// Returns the changes that have come since.
    pub(crate) fn changes(&self) -> Vec<SampleKind> {
        std::iter::from_fn(|| self.0.try_recv().ok().flatten()).map(|s| s.kind()).collect()
    }
}

/// A device that joins and leaves is seen to.
pub(crate) async fn join_and_leave(world: &World) -> anyhow::Result<String> {
    let watch = Watch::start(&world.router, &world.spare).await?;
    let started = Instant::now();
    let device =
        Device::join(&world.router, &world.spare, world.router.port, inbox(&world.backend), false)
            .await?;
    let opened = started.elapsed();
    watch.expect(SampleKind::Put).await?;
    let seen = started.elapsed();
    let started = Instant::now();
    device.session.close().await.map_err(zenoh_error("failed to close"))?;
    watch.expect(SampleKind::Delete).await?;
    let gone = figure(started.elapsed());
    let (opened, seen) = (figure(opened), figure(seen));
    Ok(format!(
        "TLS, queryable, token and hello in {opened}, presence seen by {seen}; leaving seen in {gone}"
    ))
}
