//! Envelopes, receipts, hellos and results: the same bodies as over HTTP.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use link_protocol::{
    envelope::{Envelope, ReceiptKind},
    limits,
    report::{CommandReport, CommandResult},
    signing::SigningKey,
};

use super::{EPOCH, SEED, World, expect_kind, figure, next, receipt};
use crate::{
    backend::{Answer, Asking, Backend, send},
    router::{MAX_MESSAGE, zenoh_error},
    samples,
};

const ROUND_TRIPS: usize = 200;

/// The text that was signed arrives byte for byte, for a repair and for a deployment.
pub(crate) async fn byte_exact(world: &World) -> anyhow::Result<String> {
    let mut figures = vec![];
    for command in [samples::repair(3), samples::deployment(3)] {
        let envelope = next(&world.one, &command);
        let sent = world.backend.key.seal(&envelope).envelope;
        let (answer, delivery) = receipt(&world.backend, &world.one, &envelope).await?;
        expect_kind(&answer, ReceiptKind::Stored)?;
        ensure!(world.one.inbox().last_text == sent, "the text that arrived is another one");
        figures.push(format!(
            "{}: {} B signed, {} B sent",
            envelope.r#type,
            sent.len(),
            delivery.bytes
        ));
    }
    Ok(figures.join("; "))
}

/// A receipt comes back as the reply; how long sealing, sending, opening and answering take.
pub(crate) async fn round_trip(world: &World) -> anyhow::Result<String> {
    Ok(format!("{ROUND_TRIPS} repairs, {}", measure(&world.backend, world).await?))
}

/// The same with a backend that is a client of the router.
pub(crate) async fn outside_backend(world: &World) -> anyhow::Result<String> {
    let session = world.router.join(&world.backend_slot, world.router.port).await?;
    let outside = Backend::new(session, &SEED);
    let figures = measure(&outside, world).await?;
    outside.session.close().await.map_err(zenoh_error("failed to close"))?;
    Ok(format!("{ROUND_TRIPS} repairs, {figures}"))
}

/// A second delivery is a duplicate; one after the end repeats the result.
pub(crate) async fn redelivery(world: &World) -> anyhow::Result<String> {
    let (backend, device) = (&world.backend, &world.two);
    let mut envelope = next(device, &samples::repair(3));
    let (first, _) = receipt(backend, device, &envelope).await?;
    expect_kind(&first, ReceiptKind::Stored)?;
    envelope.attempt = 2;
    let (second, _) = receipt(backend, device, &envelope).await?;
    expect_kind(&second, ReceiptKind::Duplicate)?;
    let report = CommandReport {
        command_id: envelope.command_id,
        status: CommandResult::Succeeded,
        output: "restarted on port 8080".to_owned(),
        attempt: 1,
    };
    device.inbox().finish(report.clone());
    envelope.attempt = 3;
    let (third, _) = receipt(backend, device, &envelope).await?;
    expect_kind(&third, ReceiptKind::Done)?;
    ensure!(third.result == Some(report), "the result is not repeated");
    let mut late = next(device, &samples::repair(3));
    late.expires_at = Timestamp::now() - Duration::from_secs(1);
    let (fourth, _) = receipt(backend, device, &late).await?;
    expect_kind(&fourth, ReceiptKind::Expired)?;
    Ok("attempt 1 stored, 2 duplicate, 3 done with its result; a late one expired".to_owned())
}

/// What is not for the device, not of its epoch or not signed by its backend earns no receipt.
pub(crate) async fn refusals(world: &World) -> anyhow::Result<String> {
    let device = &world.one;
    let before = device.inbox().unfinished().len();
    let good = next(device, &samples::repair(3));
    let (mut other_device, mut other_epoch) = (good.clone(), good.clone());
    other_device.device_id = world.two.inbox().device;
    other_epoch.epoch = EPOCH - 1;
    let mut other_contract = good.clone();
    other_contract.r#type = "REMOVE_MODEL".to_owned();
    let seal = |envelope: &Envelope| world.backend.key.seal(envelope);
    let mut altered = seal(&good);
    altered.envelope = altered.envelope.replace("8080", "8081");
    let deliveries = [
        seal(&other_device),
        seal(&other_epoch),
        seal(&other_contract),
        altered,
        SigningKey::from_seed(&[9; 32]).seal(&good),
    ];
    let mut texts = vec![];
    for signed in &deliveries {
        let delivery =
            send(&world.backend.session, &device.slot, signed, Asking::default()).await?;
        let Answer::Refused(text) = delivery.answer else {
            anyhow::bail!("expected a refusal, got {:?}", delivery.answer)
        };
        texts.push(text);
    }
    texts.dedup();
    ensure!(texts.len() == deliveries.len(), "two refusals have one cause: {texts:?}");
    ensure!(device.inbox().unfinished().len() == before, "a refused command was kept");
    Ok(texts.join("; "))
}

/// A hello of the device is answered with a welcome that carries a command which opens.
pub(crate) async fn hello(world: &World) -> anyhow::Result<String> {
    let device = &world.one;
    let mut envelope = next(device, &samples::repair(3));
    envelope.attempt = 4;
    let sealed = world.backend.key.seal(&envelope);
    world.backend.heard.lock().expect("no holder panics").pending.push(sealed.clone());
    let started = Instant::now();
    let welcome = device.hello().await?;
    let took = started.elapsed();
    ensure!(welcome.commands == [sealed], "the welcome carries other commands");
    let body = serde_json::to_vec(&welcome.commands[0]).context("failed to write")?;
    let answer = device.inbox().receive(&body, Timestamp::now())?;
    expect_kind(&answer, ReceiptKind::Stored)?;
    let report = CommandReport {
        command_id: answer.command_id,
        status: CommandResult::Succeeded,
        output: "restarted".to_owned(),
        attempt: answer.attempt,
    };
    device.report(&report).await?;
    let heard = world.backend.heard.lock().expect("no holder panics");
    let (slot, hello) = heard.hellos.last().context("no hello was heard")?;
    ensure!(*slot == device.slot.name && hello.epoch == EPOCH, "another hello was heard");
    ensure!(heard.reports.last() == Some(&(slot.clone(), report)), "the result was not heard");
    let inflight = hello.inflight.len();
    Ok(format!(
        "hello with {inflight} commands in flight answered in {}, 1 command in the welcome; its result acknowledged",
        figure(took)
    ))
}

/// An allowlist of 200 origins, and what happens above the router's limit.
pub(crate) async fn size(world: &World) -> anyhow::Result<String> {
    let mut figures = vec![];
    for (name, command) in [
        ("repair, 200 origins", samples::repair(200)),
        ("deployment, 200 origins", samples::deployment(200)),
    ] {
        let envelope = next(&world.one, &command);
        let text = world.backend.key.seal(&envelope).envelope.len();
        let (answer, delivery) = receipt(&world.backend, &world.one, &envelope).await?;
        expect_kind(&answer, ReceiptKind::Stored)?;
        figures.push(format!(
            "{name}: {text} B signed, {} B sent, {}",
            delivery.bytes,
            figure(delivery.answered)
        ));
    }
    let device = &world.two;
    let full: Vec<_> = (0..limits::QUEUE_LIMIT)
        .map(|_| world.backend.key.seal(&next(device, &samples::deployment(200))))
        .collect();
    world.backend.heard.lock().expect("no holder panics").pending.clone_from(&full);
    let started = Instant::now();
    let welcome = device.hello().await?;
    let took = figure(started.elapsed());
    ensure!(welcome.commands == full, "the full welcome carries other commands");
    let bytes = serde_json::to_vec(&welcome).context("failed to write")?.len();
    figures.push(format!("a welcome with {} of those: {bytes} B, {took}", full.len()));
    Ok(figures.join("; "))
}

/// A query above the limit for one message is lost without a word; the session goes on.
pub(crate) async fn oversize(world: &World) -> anyhow::Result<String> {
    let device = &world.two;
    let key = device.slot.key("hello");
    // Not a hello, so an answer from the backend is a refusal that names its reason.
    let fits = device.ask(&key, &"x".repeat(limits::JSON_BODY_LIMIT - 2)).await;
    let Err(fits) = fits else { anyhow::bail!("a text was taken for a hello") };
    let fits = fits.to_string();
    ensure!(fits.contains("invalid-request"), "the largest body did not arrive: {fits}");
    let started = Instant::now();
    let lost = device.ask(&key, &"x".repeat(MAX_MESSAGE)).await;
    let Err(lost) = lost else { anyhow::bail!("a body above the limit was answered") };
    let (lost, waited) = (lost.to_string(), figure(started.elapsed()));
    ensure!(lost == "refused: Timeout", "above the limit: {lost}");
    let started = Instant::now();
    device.hello().await.context("the session is broken")?;
    let again = figure(started.elapsed());
    let (limit, over) = (limits::JSON_BODY_LIMIT, MAX_MESSAGE + 2);
    Ok(format!(
        "{limit} B arrive; {over} B: only `Timeout` at {waited}; the next hello answered in {again}"
    ))
}

async fn measure(backend: &Backend, world: &World) -> anyhow::Result<String> {
    let mut times = vec![];
    let command = samples::repair(3);
    for _ in 0..ROUND_TRIPS {
        let envelope = next(&world.one, &command);
        let started = Instant::now();
        let (answer, delivery) = receipt(backend, &world.one, &envelope).await?;
        times.push(started.elapsed());
        expect_kind(&answer, ReceiptKind::Stored)?;
        ensure!(delivery.replies == 1, "{} replies to one delivery", delivery.replies);
    }
    times.sort();
    let [p50, p99] = [ROUND_TRIPS / 2, ROUND_TRIPS * 99 / 100].map(|at| figure(times[at]));
    Ok(format!("p50 {p50}, p99 {p99}"))
}
