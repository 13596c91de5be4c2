//! A registered device that is hostile learns, forges and blocks nothing.
//!
//! The same attack runs against a router without rules, where it must succeed: a check that cannot
//! fail would show nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{bail, ensure};
use zenoh::{
    handlers::FifoChannelHandler,
    query::{Query, Reply},
    sample::Sample,
};

use super::{World, next};
use crate::{
    backend::{Answer, Asking},
    router::{Access, zenoh_error},
    samples,
};

const COMMANDS: usize = 20;

/// What the hostile device got out of it.
#[derive(Debug, Default, Eq, PartialEq)]
struct Loot {
    /// Commands of the other device that reached the hostile queryables.
    commands: usize,
    /// Publications of the other device and of the backend that reached the hostile subscribers.
    samples: usize,
    /// Deliveries that the other device did not answer itself.
    blocked: usize,
    /// Tokens forged for a free slot that the backend saw.
    tokens: usize,
    /// Publications under the other device's name that the backend saw.
    forged: usize,
    /// Commands of its own making that reached the other device.
    injected: usize,
    /// Hellos under the other device's name that reached the backend.
    impersonated: usize,
    /// Other devices whose presence it could read.
    watched: usize,
}

/// With the rules the attack brings nothing; without them it brings something of everything.
pub(crate) async fn attacks(world: &World) -> anyhow::Result<String> {
    let (loot, control) = attack(world).await?;
    ensure!(control > 0, "the hostile wildcards do not even see their own slot");
    ensure!(loot == Loot::default(), "with the rules: {loot:?}");
    let open = World::open(Access::Unrestricted).await?;
    let (bare, _) = attack(&open).await?;
    let Loot { commands, samples, blocked, tokens, forged, injected, impersonated, watched } = bare;
    let gains = [commands, samples, blocked, tokens, forged, injected, impersonated, watched];
    ensure!(gains.iter().all(|count| *count > 0), "without rules something failed too: {bare:?}");
    let close = zenoh_error("failed to close the router without rules");
    open.router.session.close().await.map_err(close)?;
    Ok(format!(
        "with rules 0 of everything ({control} hits of its own key); without rules, of {COMMANDS} \
         commands {commands} deliveries stolen and {blocked} blocked, {samples} samples read, \
         {watched} presence watched, {tokens} token and {forged} put forged, {injected} commands \
         injected; {impersonated} forged hello reached the backend and failed its proof"
    ))
}

async fn attack(world: &World) -> anyhow::Result<(Loot, usize)> {
    let (victim, hostile) = (&world.one, &world.two);
    let mut loot = Loot::default();

    let asked = victim.asked();
    for key in [&*victim.slot.key("cmd"), "link/v1/dev/*/cmd"] {
        exhaust(hostile.session.get(key).timeout(Duration::from_secs(1))).await?;
    }
    loot.injected = victim.asked() - asked;
    let alive = hostile.session.liveliness().get("link/v1/dev/*/alive");
    let alive = alive.timeout(Duration::from_secs(1)).await.map_err(zenoh_error("get"))?;
    while let Ok(reply) = alive.recv_async().await {
        let Ok(sample) = reply.into_result() else { continue };
        loot.watched += usize::from(sample.key_expr().as_str() == victim.slot.key("alive"));
    }

    let (commands, samples, own) =
        <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let mut queryables = vec![];
    for key in [
        &*victim.slot.key("cmd"),
        "link/v1/dev/*/cmd",
        "link/**",
        "**",
        &*hostile.slot.key("probe"),
    ] {
        let (commands, own, mine) =
            (Arc::clone(&commands), Arc::clone(&own), hostile.slot.key("probe"));
        let count = move |query: Query| {
            let counter = if query.key_expr().as_str() == mine { &own } else { &commands };
            counter.fetch_add(1, Ordering::SeqCst);
        };
        let queryable = hostile.session.declare_queryable(key).complete(true).callback(count);
        queryables.push(queryable.await.map_err(zenoh_error("queryable"))?);
    }
    let mut subscribers = vec![];
    for key in [&*victim.slot.key("**"), "link/v1/dev/*/status", "link/**", "**"] {
        let (samples, theirs) = (Arc::clone(&samples), victim.slot.key("status"));
        let count = move |sample: Sample| {
            samples.fetch_add(usize::from(sample.key_expr().as_str() == theirs), Ordering::SeqCst);
        };
        let subscriber = hostile.session.declare_subscriber(key).callback(count);
        subscribers.push(subscriber.await.map_err(zenoh_error("subscriber"))?);
    }
    let presence = world.router.session.liveliness();
    let presence = presence.declare_subscriber("link/v1/dev/*/alive").await;
    let presence = presence.map_err(zenoh_error("presence"))?;
    let token = hostile.session.liveliness().declare_token(world.spare.key("alive"));
    let _token = token.await.map_err(zenoh_error("token"))?;
    let statuses = world.router.session.declare_subscriber("link/v1/dev/*/status");
    let statuses = statuses.await.map_err(zenoh_error("subscriber"))?;
    // Denied declarations give no sign, so let the router work through them.
    settle().await;

    for _ in 0..COMMANDS {
        let envelope = next(victim, &samples::repair(3));
        let asking = Asking { timeout: Duration::from_secs(1), ..Asking::default() };
        let delivery = world.backend.deliver(&victim.slot, &envelope, asking).await?;
        loot.blocked += usize::from(!matches!(delivery.answer, Answer::Receipt(_)));
    }
    let probe = world.router.session.get(hostile.slot.key("probe"));
    exhaust(probe.timeout(Duration::from_secs(1))).await?;
    let put = zenoh_error("failed to put");
    victim.session.put(victim.slot.key("status"), "mine").await.map_err(put)?;
    let put = zenoh_error("failed to put");
    world.router.session.put(victim.slot.key("status"), "backend").await.map_err(put)?;
    settle().await;
    loot.commands = commands.load(Ordering::SeqCst);
    loot.samples = samples.load(Ordering::SeqCst);
    for queryable in queryables {
        queryable.undeclare().await.map_err(zenoh_error("failed to undeclare"))?;
    }

    // A session's own declarations answer it locally, past the router; so they are gone by now.
    let hello = hostile.ask(&victim.slot.key("hello"), &"forged").await;
    let Err(refusal) = hello else { bail!("the backend took a forged hello for the device's") };
    loot.impersonated = usize::from(refusal.to_string().contains("unauthorized"));
    let put = zenoh_error("failed to put");
    hostile.session.put(victim.slot.key("status"), "forged").await.map_err(put)?;
    settle().await;
    while let Ok(Some(sample)) = statuses.try_recv() {
        loot.forged += usize::from(sample.payload().to_bytes().as_ref() == b"forged");
    }
    while let Ok(Some(sample)) = presence.try_recv() {
        loot.tokens += usize::from(sample.key_expr().as_str() == world.spare.key("alive"));
    }
    Ok((loot, own.load(Ordering::SeqCst)))
}

async fn exhaust<H>(query: H) -> anyhow::Result<()>
where
    H: IntoFuture<Output = zenoh::Result<FifoChannelHandler<Reply>>>,
{
    let replies = query.await.map_err(zenoh_error("failed to send the query"))?;
    while replies.recv_async().await.is_ok() {}
    Ok(())
}

async fn settle() {
    tokio::time::sleep(Duration::from_millis(300)).await;
}
