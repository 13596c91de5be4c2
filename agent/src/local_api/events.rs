//! `GET /events`: the agent's state as server-sent events, first at once and then after each
//! change.
//!
//! The stream reads the state only when the main loop has handled an event, so an idle agent uses
//! no processor time. An unchanged state is not sent again.

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

/// The limit of concurrent streams.
const STREAMS: usize = 16;

/// The least time between two reads of the state.
const PACE: Duration = Duration::from_millis(250);

/// The interval of reading the progress of an update, of which the main loop does not notify.
const UPDATE_PACE: Duration = Duration::from_secs(1);

/// The state of the handler.
#[derive(Clone)]
struct Streams {
    api: LocalApi,
    slots: Arc<Semaphore>,
    closing: CancellationToken,
}

/// One reader of the stream.
struct Watcher {
    api: LocalApi,
    changes: watch::Receiver<()>,
    last: Option<Seen>,
    _slot: OwnedSemaphorePermit,
}

/// The last state that was read. It was sent unless it was unchanged.
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

/// Returns the router with the `/events` route; `closing` ends every stream.
pub(super) fn router<S>(api: LocalApi, closing: CancellationToken) -> Router<S> {
    let streams = Streams { api, slots: Arc::new(Semaphore::new(STREAMS)), closing };
    Router::new().route(EVENTS_PATH, get(events)).with_state(streams)
}

async fn events(_: Reader, State(Streams { api, slots, closing }): State<Streams>) -> Response {
    let Ok(slot) = slots.try_acquire_owned() else {
        let refusal = Refusal::new(Code::AgentBusy, "too many event streams are open");
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
    /// Waits for a changed state. Returns `None` when the agent stops.
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
