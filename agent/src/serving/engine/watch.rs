//! Health checks of serving engines. The core decides how to react to the results.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use link_agent_core::{event::Event, serving::Sign};
use link_platform::cpu_time;
use link_protocol::{limits::ENGINE_LOOK_INTERVAL, plugin::Health};
use tokio::{sync::Notify, time::MissedTickBehavior};

use super::{Address, Table, health};
use crate::inbox::Inbox;

/// The timeout of a health check.
const ANSWER: Duration = Duration::from_secs(5);

/// An engine that has used this much processor time since the last check is busy.
const WORK: Duration = Duration::from_millis(100);

/// Checks loading and serving engines until the pipeline is stopped. `started` says that an engine was started.
pub(super) async fn check(table: Table, started: Arc<Notify>, inbox: Inbox) {
    let ready = Arc::new(Notify::new());
    let loading = health::watch(table.clone(), started, ready.clone(), inbox.clone());
    tokio::join!(loading, watch(table, ready, inbox));
}

/// Checks serving engines until the pipeline is stopped, and reports the results. While none serves, sleeps until `ready`
/// says that one does, so that an idle device is not woken.
async fn watch(table: Table, ready: Arc<Notify>, inbox: Inbox) {
    let mut used = HashMap::new();
    // A check of a silent engine takes a while, which must not delay the next tick.
    let mut beat = tokio::time::interval(ENGINE_LOOK_INTERVAL);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        let serving: Vec<_> = table
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, running)| running.healthy)
            .map(|(run, running)| (*run, running.clone()))
            .collect();
        if serving.is_empty() {
            used.clear();
            ready.notified().await;
            beat.reset();
            continue;
        }
        let looks = serving.iter().map(|(run, running)| {
            let before = used.get(run).copied();
            look(&running.address, &running.manifest.adapter.health, before, ANSWER)
        });
        let looks = join_all(looks).await;
        used.clear();
        for ((run, running), (sign, now)) in serving.into_iter().zip(looks) {
            if let Some(now) = now {
                used.insert(run, now);
            }
            let pipeline_id = running.pipeline_id;
            if sign != Sign::Answers {
                tracing::warn!(%pipeline_id, "the engine does not answer its health check");
            }
            inbox.event(Event::EngineLooked { pipeline_id, run, sign }).await;
        }
    }
}

/// Checks an engine. Returns the result and the engine's processor time so far.
async fn look(
    address: &Address,
    health: &Health,
    before: Option<Duration>,
    patience: Duration,
) -> (Sign, Option<Duration>) {
    let answers = tokio::time::timeout(patience, health::answers_at_all(address, health)).await;
    let now = cpu_time::of(address.pid);
    if answers == Ok(true) {
        return (Sign::Answers, now);
    }
    // The first check has nothing to compare with.
    let did = now.zip(before).map(|(now, before)| now.saturating_sub(before));
    (if did.is_some_and(|did| did < WORK) { Sign::Silent } else { Sign::Works }, now)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test starts a program that does nothing")]

    use std::process::Command;

    use link_protocol::{port::Port, secret::Secret};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::serving::engine::Channel;

    /// How long to wait for an answer that never comes.
    const PATIENCE: Duration = Duration::from_millis(500);
    /// The timeout of an answer on a busy machine.
    const ANSWER: Duration = Duration::from_secs(20);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_engine_answers_or_works_or_does_nothing() {
        let health = Health { path: "/health".to_owned(), proof_path: None };
        let own = std::process::id();
        let answering = engine(true).await;
        let (sign, _) = look(&address(answering, own), &health, None, ANSWER).await;
        assert_eq!(sign, Sign::Answers);

        let hanging = address(engine(false).await, own);
        assert_eq!(look(&hanging, &health, None, PATIENCE).await.0, Sign::Works, "nobody can tell");
        // Each of these calls uses processor time.
        assert!((0..1_000_000).any(|_| cpu_time::of(own) >= Some(WORK)));
        let at_its_start = Some(Duration::ZERO);
        assert_eq!(look(&hanging, &health, at_its_start, PATIENCE).await.0, Sign::Works);

        // A port that the child does not own counts as silent, too.
        let mut sleeping = Command::new("sleep").arg("60").spawn().unwrap();
        let stopped = address(answering, sleeping.id());
        let (_, used) = look(&stopped, &health, None, PATIENCE).await;
        let (sign, _) = look(&stopped, &health, used, PATIENCE).await;
        sleeping.kill().unwrap();
        sleeping.wait().unwrap();
        assert_eq!(sign, Sign::Silent);
    }

    fn address(port: Port, pid: u32) -> Address {
        Address {
            channel: Channel::Port(port),
            base_path: String::new(),
            secret: Secret::new("secret"),
            pid,
        }
    }

    async fn engine(answers: bool) -> Port {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
        tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                if answers {
                    let mut request = [0; 1024];
                    let _read = stream.read(&mut request).await;
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    let _sent = stream.write_all(answer).await;
                }
                kept.push(stream);
            }
        });
        port
    }
}
