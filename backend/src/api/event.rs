//! The event stream and the summary of an account.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{Event as Frame, KeepAlive, Sse},
    },
};
use futures_util::stream;
use link_protocol::{
    backend_api::{
        event::{Event, EventQuery, StreamEnd, StreamReady},
        summary::Summary,
    },
    limits,
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Params, device_id},
        problem::Rejection,
    },
    app::{App, EventStream, StreamEvent},
};

/// The longest id of an event that a client may send. Longer ones are unknown.
const LONGEST_ID: usize = 100;

/// Streams the changes of the account as server-sent events. The first event is `ready`; if its `resumed` is false, the
/// client loads what it shows, and does so again at each `reset`. Every other event has the name of a kind and the
/// newest document of one thing. Changes of one thing within 250 ms are one event. `Last-Event-ID` resumes a stream
/// that was cut; a stream that is not read fast enough is cut. The last event is `end`: the session has ended, the role
/// has changed, or the backend shuts down. A device that is removed takes its deployments, commands and log records
/// with it, and a model its deployments; they have no events of their own then. Records that are deleted because of
/// their age, and a newer time of the last message of a device that stays online, have none either.
#[utoipa::path(get, path = "/events", tag = "account", security(("access_token" = ["devices:read"])),
    params(EventQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client has applied.")),
    responses((status = 200, description = "The events. Each has this schema.", content_type = "text/event-stream", body = Event,
        headers(("X-Accel-Buffering" = String, description = "`no`: a proxy must not buffer the stream.")))))]
pub(crate) async fn stream_events(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Params(query): Params<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let device = query.device_id.as_deref().map(device_id).transpose()?;
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let last = last.map(|id| if id.len() > LONGEST_ID { "" } else { id });
    let events = app.events(caller, query.kinds.as_deref(), device, last).await?;
    let frames = stream::unfold(events, async |mut events: EventStream| {
        let (id, event) = events.next().await?;
        Some((frame(&event).map(|frame| frame.id(id)), events))
    });
    let heartbeat = KeepAlive::new().interval(limits::EVENT_HEARTBEAT).text("heartbeat");
    let mut response = Sse::new(frames).keep_alive(heartbeat).into_response();
    let headers = response.headers_mut();
    // `Sse` sets `no-cache`; without a value the answer gets `no-store` like any other.
    headers.remove(header::CACHE_CONTROL);
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// Returns the counts of the account.
#[utoipa::path(get, path = "/summary", tag = "account", security(("access_token" = ["devices:read"])),
    responses((status = 200, description = "The counts.", body = Summary)))]
pub(crate) async fn read_summary(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
) -> Result<Answer<Summary>, Rejection> {
    Ok(Answer(app.summary(caller).await?))
}

fn frame(event: &StreamEvent) -> Result<Frame, axum::Error> {
    match event {
        StreamEvent::Ready { resumed } => {
            Frame::default().event("ready").json_data(StreamReady { resumed: *resumed })
        }
        StreamEvent::Reset => Ok(Frame::default().event("reset").data("{}")),
        StreamEvent::About(kind, data) => Ok(Frame::default().event(kind.as_str()).data(data)),
        StreamEvent::End(reason) => {
            Frame::default().event("end").json_data(StreamEnd { reason: *reason })
        }
    }
}
