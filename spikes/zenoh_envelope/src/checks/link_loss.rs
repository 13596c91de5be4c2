//! What a delivery brings when the device is gone, ill, frozen, or there twice.

use std::time::{Duration, Instant};

use anyhow::ensure;
use zenoh::{query::ConsolidationMode, sample::SampleKind};

use super::{World, figure, inbox, next, presence::Watch};
use crate::{
    backend::{self, Answer, Asking},
    device::{Behaviour, Device},
    relay::Relay,
    router::zenoh_error,
    samples,
};

/// Nobody is there: the query ends at once, without a reply and without an error.
pub(crate) async fn absent(world: &World) -> anyhow::Result<String> {
    let envelope = backend::envelope(samples::device(), super::EPOCH, 1, &samples::repair(3));
    let never = world.backend.deliver(&world.spare, &envelope, Asking::default()).await?;
    ensure!(never.answer == Answer::Silence, "never there: {:?}", never.answer);
    let port = world.router.port;
    let device =
        Device::join(&world.router, &world.spare, port, inbox(&world.backend), false).await?;
    leave(device).await?;
    let left = world.backend.deliver(&world.spare, &envelope, Asking::default()).await?;
    ensure!(left.answer == Answer::Silence, "left: {:?}", left.answer);
    Ok(format!(
        "no reply and no error: never there {}, left {} (timeout 5 s)",
        figure(never.ended),
        figure(left.ended)
    ))
}

/// The device is there and does not answer.
pub(crate) async fn unanswered(world: &World) -> anyhow::Result<String> {
    let device = &world.two;
    let asking = Asking { timeout: Duration::from_secs(2), ..Asking::default() };
    let envelope = next(device, &samples::repair(3));
    device.behave(Behaviour::Dropping);
    let dropped = world.backend.deliver(&device.slot, &envelope, asking).await?;
    ensure!(dropped.answer == Answer::Silence, "dropped: {:?}", dropped.answer);
    device.behave(Behaviour::Hanging);
    let held = world.backend.deliver(&device.slot, &envelope, asking).await?;
    ensure!(held.answer == Answer::TimedOut, "held: {:?}", held.answer);
    device.behave(Behaviour::Healthy);
    Ok(format!(
        "handler drops the query: no reply, {}; handler hangs: error `Timeout` at {} (timeout 2 s)",
        figure(dropped.ended),
        figure(held.ended)
    ))
}

/// The link freezes: a short query times out, a long one ends with the lease, and so does presence.
pub(crate) async fn frozen(world: &World) -> anyhow::Result<String> {
    let relay = Relay::start(world.router.port).await?;
    let watch = Watch::start(&world.router, &world.spare).await?;
    let device =
        Device::join(&world.router, &world.spare, relay.port, inbox(&world.backend), false).await?;
    watch.expect(SampleKind::Put).await?;
    let envelope = next(&device, &samples::repair(3));
    relay.freeze();
    let started = Instant::now();
    let ask = |seconds| {
        let asking = Asking { timeout: Duration::from_secs(seconds), ..Asking::default() };
        world.backend.deliver(&world.spare, &envelope, asking)
    };
    let (short, long, gone) = tokio::join!(ask(2), ask(30), async {
        watch.expect(SampleKind::Delete).await.map(|()| started.elapsed())
    });
    let (short, long, gone) = (short?, long?, gone?);
    ensure!(short.answer == Answer::TimedOut, "short: {:?}", short.answer);
    ensure!(long.answer == Answer::Silence, "long: {:?}", long.answer);
    abandon(device);
    Ok(format!(
        "timeout 2 s: error `Timeout` at {}; timeout 30 s: no reply, ended at {}; offline seen at {}",
        figure(short.ended),
        figure(long.ended),
        figure(gone)
    ))
}

/// The device is back on a new session while the router still holds the frozen one.
pub(crate) async fn half_open(world: &World) -> anyhow::Result<String> {
    let relay = Relay::start(world.router.port).await?;
    let watch = Watch::start(&world.router, &world.spare).await?;
    let old =
        Device::join(&world.router, &world.spare, relay.port, inbox(&world.backend), false).await?;
    watch.expect(SampleKind::Put).await?;
    relay.freeze();
    let port = world.router.port;
    let new = Device::join(&world.router, &world.spare, port, inbox(&world.backend), false).await?;
    let envelope = next(&new, &samples::repair(3));
    let ask = |consolidation| {
        let asking = Asking { timeout: Duration::from_secs(30), consolidation };
        world.backend.deliver(&world.spare, &envelope, asking)
    };
    let (plain, automatic) =
        tokio::join!(ask(ConsolidationMode::None), ask(ConsolidationMode::Auto));
    let (plain, automatic) = (plain?, automatic?);
    for delivery in [&plain, &automatic] {
        ensure!(matches!(delivery.answer, Answer::Receipt(_)), "{:?}", delivery.answer);
    }
    let changes = watch.changes();
    abandon(old);
    leave(new).await?;
    Ok(format!(
        "receipt in {} with consolidation none (query ends at {}), at {} with automatic; presence meanwhile {changes:?}",
        figure(plain.answered),
        figure(plain.ended),
        figure(automatic.answered)
    ))
}

/// The same with queryables that call themselves complete: only one session gets the query.
pub(crate) async fn half_open_complete(world: &World) -> anyhow::Result<String> {
    let relay = Relay::start(world.router.port).await?;
    let old =
        Device::join(&world.router, &world.spare, relay.port, inbox(&world.backend), true).await?;
    relay.freeze();
    let port = world.router.port;
    let new = Device::join(&world.router, &world.spare, port, inbox(&world.backend), true).await?;
    let envelope = next(&new, &samples::repair(3));
    let asking = Asking { timeout: Duration::from_secs(3), ..Asking::default() };
    let delivery = world.backend.deliver(&world.spare, &envelope, asking).await?;
    // Which of the two the router chooses is not documented; that it chooses one is the finding.
    ensure!(delivery.replies == 1, "{} replies", delivery.replies);
    abandon(old);
    leave(new).await?;
    Ok(format!("{} after {}", name(&delivery.answer), figure(delivery.answered)))
}

/// The device's network changes: its session connects anew by itself while the old link lingers.
pub(crate) async fn network_change(world: &World) -> anyhow::Result<String> {
    let relay = Relay::start(world.router.port).await?;
    let watch = Watch::start(&world.router, &world.spare).await?;
    let device =
        Device::join(&world.router, &world.spare, relay.port, inbox(&world.backend), false).await?;
    watch.expect(SampleKind::Put).await?;
    let mut envelope = next(&device, &samples::repair(3));
    relay.cut();
    let started = Instant::now();
    let asking = Asking { timeout: Duration::from_secs(1), ..Asking::default() };
    let mut answers = vec![];
    loop {
        ensure!(started.elapsed() < Duration::from_secs(40), "no way back: {answers:?}");
        let delivery = world.backend.deliver(&world.spare, &envelope, asking).await?;
        let text = name(&delivery.answer);
        if answers.last() != Some(&text) {
            answers.push(text);
        }
        if matches!(delivery.answer, Answer::Receipt(_)) {
            break;
        }
        envelope.attempt += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let back = figure(started.elapsed());
    let changes = watch.changes();
    leave(device).await?;
    Ok(format!("receipt again after {back}; meanwhile {answers:?}, presence {changes:?}"))
}

/// Two live sessions of one slot, as a cloned device has them: both answer, and presence is one.
pub(crate) async fn twice(world: &World) -> anyhow::Result<String> {
    let port = world.router.port;
    let watch = Watch::start(&world.router, &world.spare).await?;
    let first =
        Device::join(&world.router, &world.spare, port, inbox(&world.backend), false).await?;
    let shared = first.inbox().clone();
    let second = Device::join(&world.router, &world.spare, port, shared, false).await?;
    let envelope = next(&first, &samples::repair(3));
    let delivery = world.backend.deliver(&world.spare, &envelope, Asking::default()).await?;
    ensure!(delivery.replies == 2, "{} replies", delivery.replies);
    let joined = watch.settled().await;
    first.session.close().await.map_err(zenoh_error("failed to close"))?;
    let one_left = watch.settled().await;
    let answer = world.backend.deliver(&world.spare, &envelope, Asking::default()).await?.answer;
    ensure!(matches!(answer, Answer::Receipt(_)), "the second session: {answer:?}");
    leave(second).await?;
    let both_left = watch.settled().await;
    Ok(format!(
        "both answer: 2 replies; presence {joined:?} as both join, {one_left:?} as one leaves, \
         {both_left:?} as the other does"
    ))
}

/// Closes a session and gives the router a moment to notice.
async fn leave(device: Device) -> anyhow::Result<()> {
    device.session.close().await.map_err(zenoh_error("failed to close"))?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    Ok(())
}

/// Lets go of a session whose link is frozen; its closing message has nobody to go to.
fn abandon(device: Device) {
    std::mem::forget(device);
}

const fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Receipt(_) => "receipt",
        Answer::Refused(_) => "refusal",
        Answer::Silence => "no reply",
        Answer::TimedOut => "error `Timeout`",
    }
}
