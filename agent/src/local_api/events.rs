//! `GET /events`: the state of the agent as server-sent events, at once and then after each change.
//!
//! Nothing is computed while nothing happens: the loop says when it has handled an event. What is
//! the same as the last state is not sent again.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock, waits between looks")]

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{FromRef, State},
    response::{
        IntoResponse as _, Response,
        sse::{self, KeepAlive, Sse},
    },
    routing::get,
};
use futures_util::{StreamExt as _, stream};
use link_protocol::{
    local_api::{EVENTS_PATH, KEEP_ALIVE, STATE_EVENT},
    problem::Code,
    report::LifecycleStatus,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{LocalApi, Refusal, access::Reader};

/// Streams that are open at a time.
const STREAMS: usize = 16;

/// The least time between two looks at the state.
const PACE: Duration = Duration::from_millis(250);

/// How often the progress of an update is looked at, which is no event of the loop.
const UPDATE_PACE: Duration = Duration::from_secs(1);

/// What the path needs.
#[derive(Clone)]
struct Streams {
    api: LocalApi,
    slots: Arc<Semaphore>,
    closing: CancellationToken,
}

/// One who reads the stream.
struct Watcher {
    api: LocalApi,
    changes: watch::Receiver<()>,
    last: Option<Seen>,
    _slot: OwnedSemaphorePermit,
}

/// A state that was sent, or was the same.
struct Seen {
    state: String,
    at: Instant,
    updating: bool,
}

impl FromRef<Streams> for LocalApi {
    fn from_ref(streams: &Streams) -> Self {
        streams.api.clone()
    }
}

/// The path of the events; `closing` ends every stream.
pub(super) fn router<S>(api: LocalApi, closing: CancellationToken) -> Router<S> {
    let streams = Streams { api, slots: Arc::new(Semaphore::new(STREAMS)), closing };
    Router::new().route(EVENTS_PATH, get(events)).with_state(streams)
}

async fn events(_: Reader, State(Streams { api, slots, closing }): State<Streams>) -> Response {
    let Ok(slot) = slots.try_acquire_owned() else {
        let refusal = Refusal::new(Code::AgentBusy, "too many streams of events are open");
        return refusal.into_response();
    };
    let changes = api.changes.clone();
    let watcher = Watcher { api, changes, last: None, _slot: slot };
    let states = stream::unfold(watcher, |mut watcher| async {
        let state = watcher.next().await?;
        let event = sse::Event::default().event(STATE_EVENT).data(state);
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let states = states.take_until(closing.cancelled_owned());
    Sse::new(states).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

impl Watcher {
    /// Waits for a state that is not the last one; nothing when the agent stops.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(last) = &self.last {
                sleep_until(last.at + PACE).await;
                let updating = last.updating;
                tokio::select! {
                    changed = self.changes.changed() => changed.ok()?,
                    () = sleep(UPDATE_PACE), if updating => {}
                }
            }
            self.changes.mark_unchanged();
            let (healthz, _) = self.api.state().await.ok()?;
            let state = serde_json::to_string(&healthz).expect("a state has only string keys");
            let new = self.last.as_ref().is_none_or(|last| last.state != state);
            let updating = healthz.status == LifecycleStatus::Updating;
            self.last = Some(Seen { state: state.clone(), at: Instant::now(), updating });
            if new {
                return Some(state);
            }
        }
    }
}
