//! The event stream of an account, and its summary.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request},
};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::harness::{Device, PASSWORD, World};

/// How long a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open event stream.
struct Reader {
    headers: HeaderMap,
    body: Body,
    text: String,
}

/// An event, or a comment without an event.
#[derive(Clone, Debug, Default)]
struct Frame {
    id: String,
    event: String,
    data: Value,
    comment: String,
}

impl Frame {
    fn read(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            match line.split_once(':') {
                Some(("id", id)) => frame.id = id.trim().to_owned(),
                Some(("event", event)) => frame.event = event.trim().to_owned(),
                Some(("data", data)) => frame.data = serde_json::from_str(data).unwrap(),
                Some(("", comment)) => frame.comment = comment.trim().to_owned(),
                Some(_) | None => panic!("a line of an event is `{line}`"),
            }
        }
        frame
    }

    fn is_about(&self, kind: &str, id: &str) -> bool {
        self.event == kind && self.data["id"] == id
    }
}

impl Reader {
    async fn open(router: &Router, user: &str, query: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(format!("/api/v1/events{query}"))
            .header("authorization", format!("Bearer {user}"))
            .header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        assert_eq!(parts.status, 200);
        Self { headers: parts.headers, body, text: String::new() }
    }

    /// Opens a stream and reads its first event.
    async fn ready(router: &Router, user: &str, query: &str) -> Self {
        let mut reader = Self::open(router, user, query, None).await;
        let ready = reader.next().await.unwrap();
        assert_eq!((ready.event.as_str(), &ready.data), ("ready", &json!({ "resumed": false })));
        reader
    }

    /// Returns the next event or comment, or `None` at the end.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let frame = Frame::read(frame);
                self.text = rest.to_owned();
                return Some(frame);
            }
            let piece = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let piece = piece.expect("an event comes in time")?.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// Reads until an event about a thing fits.
    async fn until(&mut self, fits: impl Fn(&Frame) -> bool) -> Frame {
        let mut seen = Vec::new();
        while let Some(frame) = self.next().await {
            if fits(&frame) {
                return frame;
            }
            seen.push(frame);
        }
        panic!("the stream ended after {seen:?}");
    }
}

#[tokio::test]
async fn two_readers_see_each_change_with_the_document_of_the_api() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let device = world.online_device(&user).await;
    let mut readers =
        [Reader::ready(router, &user, "").await, Reader::ready(router, &user, "").await];
    assert_eq!(readers[0].headers["content-type"], "text/event-stream");
    assert_eq!(readers[0].headers["cache-control"], "no-store");
    assert_eq!(readers[0].headers["x-accel-buffering"], "no");

    let path = format!("/api/v1/devices/{}", device.id);
    let renamed = world.call("PATCH", &path, &user, Some(json!({ "name": "lamp" }))).await;
    assert_eq!(renamed.status, 200, "{renamed:?}");
    let model = world.model(&user, false).await;
    let deployment = world.deploy(&user, &device, &model).await;
    let (command, deployment) = (deployment.text("command_id"), deployment.text("deployment_id"));
    let key = world.post("/api/v1/keys", &user, json!({ "kind": "fleet" })).await;
    let wish = json!({ "work": { "kind": "tag", "tags": ["x"] }, "devices": [device.id] });
    let operation = world.post("/api/v1/operations", &user, wish).await.text("operation_id");

    for reader in &mut readers {
        let mut wanted: BTreeMap<(String, String), Value> = BTreeMap::new();
        let mut want = |kind: &str, id: &str, document| {
            wanted.insert((kind.to_owned(), id.to_owned()), document);
        };
        for (kind, id, path) in [
            ("device", &device.id, path.clone()),
            ("model", &model, format!("/api/v1/models/{model}")),
            ("deployment", &deployment, format!("/api/v1/deployments/{deployment}")),
            ("command", &command, format!("/api/v1/commands/{command}")),
            ("operation", &operation, format!("/api/v1/operations/{operation}")),
        ] {
            want(kind, id, world.get(&path, &user).await.body);
        }
        let key_id = key.body["info"]["key_id"].as_str().unwrap();
        want("key", key_id, key.body["info"].clone());
        while !wanted.is_empty() {
            let frame = reader.next().await.unwrap();
            let Some(kind) = frame.data["kind"].as_str() else { panic!("{frame:?}") };
            assert_eq!((kind, &frame.data["change"]), (frame.event.as_str(), &json!("changed")));
            let id = frame.data["id"].as_str().unwrap_or_default();
            if ["device", "deployment", "command"].contains(&kind) {
                assert_eq!(frame.data["device_id"], device.id, "{frame:?}");
            }
            if let Some(document) = wanted.remove(&(kind.to_owned(), id.to_owned())) {
                assert_eq!(frame.data["item"], document, "{kind}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "counts the spans that have gone by")]
#[tokio::test]
async fn changes_of_one_thing_in_a_moment_are_one_event() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let mut reader = Reader::ready(&world.backend.router, &user, "?kinds=device,key").await;
    let path = format!("/api/v1/devices/{}", device.id);
    let mut events = 0;
    let began = Instant::now();
    for number in 0..40 {
        let change = json!({ "name": format!("lamp {number}") });
        assert_eq!(world.call("PATCH", &path, &user, Some(change)).await.status, 200);
    }
    loop {
        let frame = reader.until(|frame| frame.is_about("device", &device.id)).await;
        events += 1;
        if frame.data["item"]["name"] == "lamp 39" {
            break;
        }
    }
    // One at the end of each span of 250 ms in which something has changed.
    let spans = began.elapsed().as_millis() / 250 + 1;
    assert!(events <= spans, "{events} events in {spans} spans");
    assert!(events < 40, "{events} events for 40 changes");
}

#[tokio::test]
async fn a_sample_and_a_removal_have_short_events() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let mut reader = Reader::ready(&world.backend.router, &user, "").await;
    sample(&world, &device, 12.5).await;
    let frame = reader.until(|frame| frame.is_about("system", &device.id)).await;
    let shown = world.get(&format!("/api/v1/devices/{}", device.id), &user).await.body;
    assert_eq!(frame.data["item"], json!({ "system": shown["system"] }));
    assert_eq!(frame.data["device_id"], device.id);

    let removed = world.delete(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert_eq!(removed.status, 204, "{removed:?}");
    let frame = reader.until(|frame| frame.is_about("device", &device.id)).await;
    assert_eq!((&frame.data["change"], &frame.data["item"]), (&json!("removed"), &Value::Null));
}

#[tokio::test]
async fn a_stream_resumes_after_the_event_that_its_reader_names() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let device = world.online_device(&user).await;
    let mut first = Reader::ready(router, &user, "?kinds=model,device").await;
    let seen = world.model(&user, false).await;
    let last = first.until(|frame| frame.is_about("model", &seen)).await;
    drop(first);
    let missed = world.model(&user, false).await;
    let path = format!("/api/v1/devices/{}", device.id);
    world.call("PATCH", &path, &user, Some(json!({ "name": "missed" }))).await;

    let mut again = Reader::open(router, &user, "?kinds=model,device", Some(&last.id)).await;
    let ready = again.next().await.unwrap();
    assert_eq!((ready.event.as_str(), &ready.data), ("ready", &json!({ "resumed": true })));
    assert_eq!(ready.id, last.id);
    let mut events = vec![again.next().await.unwrap(), again.next().await.unwrap()];
    events.sort_by(|one, other| one.event.cmp(&other.event));
    assert!(events[0].is_about("device", &device.id), "{events:?}");
    assert_eq!(events[0].data["item"]["name"], "missed");
    assert!(events[1].is_about("model", &missed), "{events:?}");
}

#[tokio::test]
async fn an_unknown_id_resets_the_reader_and_the_stream_goes_on() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let bob = world.another_account("bob@example.org").await;
    let foreign = Reader::open(router, &bob, "", None).await.next().await.unwrap().id;
    for unknown in ["nonsense", "", foreign.as_str(), "é", "0000-18446744073709551616"] {
        let mut reader = Reader::open(router, &user, "", Some(unknown)).await;
        let ready = reader.next().await.unwrap();
        assert_eq!(ready.data, json!({ "resumed": false }), "{unknown}");
        let reset = reader.next().await.unwrap();
        assert_eq!((reset.event.as_str(), &reset.data), ("reset", &json!({})), "{unknown}");
        let model = world.model(&user, false).await;
        reader.until(|frame| frame.is_about("model", &model)).await;
    }
}

#[tokio::test]
async fn a_change_of_the_allowlist_resets_every_reader() {
    let (world, user) = World::set_up().await;
    let mut reader = Reader::ready(&world.backend.router, &user, "").await;
    world.set_allowlist(&user, &["https://new.example"]).await;
    reader.until(|frame| frame.event == "reset").await;
}

#[tokio::test]
async fn another_account_sees_nothing_but_what_is_shared() {
    let (world, user) = World::set_up_sharing().await;
    let bob = world.another_account("bob@example.org").await;
    let mut reader = Reader::ready(&world.backend.router, &bob, "").await;
    let device = world.online_device(&user).await;
    sample(&world, &device, 1.0).await;
    let own = world.model(&user, false).await;
    world.deployed(&user, &device, &own).await;
    world.key(&user, "fleet").await;
    let shared = world.model(&user, true).await;
    let mut frame = reader.next().await.unwrap();
    // The account's own figures may be told before the model, which is one of them.
    while frame.event == "summary" {
        assert_eq!(frame.data["item"]["devices"]["total"], 0, "{frame:?}");
        frame = reader.next().await.unwrap();
    }
    assert!(frame.is_about("model", &shared), "{frame:?}");
    let seen = world.get(&format!("/api/v1/models/{shared}"), &bob).await.body;
    assert_eq!(frame.data["item"], seen);

    let path = format!("/api/v1/models/{shared}");
    let hidden = world.call("PATCH", &path, &user, Some(json!({ "shared": false }))).await;
    assert_eq!(hidden.status, 200, "{hidden:?}");
    let frame = reader.until(|frame| frame.is_about("model", &shared)).await;
    assert_eq!((&frame.data["change"], &frame.data["item"]), (&json!("removed"), &Value::Null));
}

#[tokio::test]
async fn a_device_moves_from_the_stream_of_one_account_to_that_of_the_other() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let bob = world.another_account("bob@example.org").await;
    let device = world.online_device(&user).await;
    let mut ours = Reader::ready(router, &user, "?kinds=device,system").await;
    let mut theirs = Reader::ready(router, &bob, "?kinds=device,system").await;
    sample(&world, &device, 1.0).await;
    ours.until(|frame| frame.is_about("system", &device.id)).await;

    let wish = json!({ "registration_key": world.key(&bob, "registration").await });
    let moved = world.post(&format!("/api/v1/devices/{}/transfer", device.id), &user, wish).await;
    assert_eq!(moved.status, 204, "{moved:?}");
    let gone = ours.until(|frame| frame.is_about("device", &device.id)).await;
    assert_eq!(gone.data["change"], "removed");
    let came = theirs.next().await.unwrap();
    assert!(came.is_about("device", &device.id) && came.data["change"] == "changed", "{came:?}");
    let device = Device { epoch: device.epoch + 1, ..device };
    world.hello(&device, 0, &[]).await;
    sample(&world, &device, 2.0).await;
    theirs.until(|frame| frame.is_about("system", &device.id)).await;
}

#[tokio::test]
async fn log_records_come_only_for_the_named_device() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let (device, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let refused = world.get("/api/v1/events?kinds=log", &user).await;
    refused.is(422, "invalid-request");
    let mut all = Reader::ready(router, &user, "").await;
    let query = format!("?kinds=log&device_id={}", device.id);
    let mut reader = Reader::ready(router, &user, &query).await;
    for (to, message) in [(&other, "not this"), (&device, "first"), (&device, "second")] {
        let record = json!({ "message": message, "severity": "info", "category": "test" });
        let answer = world.post("/api/v1/logs", &to.token, record).await;
        assert!(answer.status < 300, "{answer:?}");
    }
    let path = format!("/api/v1/devices/{}/logs", device.id);
    let mut listed = world.get(&path, &user).await.items().to_vec();
    listed.reverse();
    for (message, record) in ["first", "second"].iter().zip(listed) {
        let frame = reader.next().await.unwrap();
        assert_eq!((frame.event.as_str(), &frame.data["item"]), ("log", &record));
        assert_eq!(frame.data["item"]["message"], *message);
        assert_eq!(frame.data["id"], record["number"].to_string());
        assert_eq!(frame.data["device_id"], device.id);
    }
    // A marker: nothing about log records came before it.
    let model = world.model(&user, false).await;
    loop {
        let frame = all.next().await.unwrap();
        assert_ne!(frame.event, "log");
        if frame.is_about("model", &model) {
            break;
        }
    }
}

#[tokio::test]
async fn a_stream_shows_only_the_kinds_and_the_device_that_were_asked_for() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let (device, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let mut keys = Reader::ready(router, &user, "?kinds=key,%20member").await;
    let mut one = Reader::ready(router, &user, &format!("?device_id={}", device.id)).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &other, &model).await;
    sample(&world, &device, 3.0).await;
    world.key(&user, "fleet").await;
    assert_eq!(keys.next().await.unwrap().event, "key");
    let frame = one.next().await.unwrap();
    assert!(frame.is_about("system", &device.id), "{frame:?}");

    world.get("/api/v1/events?kinds=devices", &user).await.is(422, "invalid-request");
    world.get("/api/v1/events?kinds=", &user).await.is(422, "invalid-request");
    world.get("/api/v1/events?device_id=nonsense", &user).await.is(422, "invalid-request");
    let bob = world.another_account("bob@example.org").await;
    let foreign = format!("/api/v1/events?device_id={}", device.id);
    world.get(&foreign, &bob).await.is(404, "not-found");
}

#[tokio::test]
async fn a_viewer_sees_what_a_viewer_may_read() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let viewer = world.member(&user, "viewer@example.org", "viewer").await;
    world.get("/api/v1/events?kinds=key", &viewer).await.is(403, "forbidden");
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let token = world.post("/api/v1/tokens", &user, wish).await.text("token");
    world.get("/api/v1/events?kinds=device,model", &token).await.is(403, "scope-missing");
    let mut views = Reader::ready(router, &viewer, "").await;
    let mut scoped = Reader::ready(router, &token, "").await;
    world.key(&user, "fleet").await;
    let model = world.model(&user, false).await;
    let device = world.register(&user).await;
    let frame = scoped.until(|frame| frame.event != "summary").await;
    assert!(frame.is_about("device", &device.id), "{frame:?}");
    loop {
        let frame = views.next().await.unwrap();
        assert_ne!(frame.event, "key");
        if frame.is_about("model", &model) {
            break;
        }
    }
}

#[tokio::test]
async fn a_member_who_joins_changes_role_and_is_removed_has_an_event_each_time() {
    let (world, user) = World::set_up().await;
    let mut reader = Reader::ready(&world.backend.router, &user, "?kinds=member").await;
    let bob = world.member(&user, "bob@example.org", "viewer").await;
    let id = world.get("/api/v1/me", &bob).await.text("user_id");
    let joined = reader.until(|frame| frame.is_about("member", &id)).await;
    assert_eq!(joined.data["change"], "changed");
    assert_eq!(joined.data["item"]["role"], "viewer");
    let members = world.get("/api/v1/members", &user).await;
    assert!(members.items().contains(&joined.data["item"]), "{joined:?}: {members:?}");

    let path = format!("/api/v1/members/{id}");
    let changed = world.call("PATCH", &path, &user, Some(json!({ "role": "operator" }))).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let promoted = reader.until(|frame| frame.data["item"]["role"] == "operator").await;
    assert!(promoted.is_about("member", &id), "{promoted:?}");
    assert_eq!(promoted.data["item"], changed.body);

    let removed = world.delete(&path, &user).await;
    assert_eq!(removed.status, 200, "{removed:?}");
    let gone = reader.until(|frame| frame.data["change"] == "removed").await;
    assert!(gone.is_about("member", &id), "{gone:?}");
    assert_eq!(gone.data["item"], Value::Null);
}

#[tokio::test]
async fn a_stream_ends_with_the_session_the_role_and_the_token() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let member = world.member(&user, "bob@example.org", "operator").await;
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let session = world.post("/api/v1/auth/login", "", login).await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    let token = world.post("/api/v1/tokens", &user, wish).await;

    let mut promoted = Reader::ready(router, &member, "?kinds=device").await;
    let mut left = Reader::ready(router, &session.text("access_token"), "?kinds=device").await;
    let mut revoked = Reader::ready(router, &token.text("token"), "?kinds=device").await;
    let mut stays = Reader::ready(router, &user, "?kinds=device").await;

    let me = world.get("/api/v1/me", &member).await.text("user_id");
    let path = format!("/api/v1/members/{me}");
    let changed = world.call("PATCH", &path, &user, Some(json!({ "role": "admin" }))).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let end = promoted.next().await.unwrap();
    assert_eq!((end.event.as_str(), &end.data), ("end", &json!({ "reason": "role-changed" })));
    assert!(promoted.next().await.is_none());

    let refresh = json!({ "refresh_token": session.text("refresh_token") });
    assert_eq!(world.post("/api/v1/auth/logout", "", refresh).await.status, 204);
    let id = token.body["info"]["token_id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("/api/v1/tokens/{id}"), &user).await.status, 204);
    for reader in [&mut left, &mut revoked] {
        let end = reader.until(|frame| frame.comment.is_empty()).await;
        assert_eq!((end.event.as_str(), &end.data), ("end", &json!({ "reason": "session-ended" })));
        assert!(reader.next().await.is_none());
    }
    let device = world.register(&user).await;
    stays.until(|frame| frame.is_about("device", &device.id)).await;
}

#[tokio::test]
async fn a_backend_that_drains_ends_its_streams_at_once() {
    let (world, user) = World::set_up().await;
    let mut reader = Reader::ready(&world.backend.router, &user, "").await;
    world.backend.app.drain();
    let end = reader.next().await.unwrap();
    assert_eq!((end.event.as_str(), &end.data), ("end", &json!({ "reason": "shutting-down" })));
    assert!(reader.next().await.is_none());
}

#[tokio::test]
async fn a_reader_that_is_too_slow_is_cut_off_and_loads_anew() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let device = world.online_device(&user).await;
    let query = format!("?kinds=log&device_id={}", device.id);
    let mut slow = Reader::ready(router, &user, &query).await;
    let mut quick = Reader::ready(router, &user, &query).await;
    // The feed keeps 4 MiB, and a record has up to 8 KiB.
    let message = "x".repeat(8 * 1024);
    let mut last = String::new();
    for number in 1..=600 {
        let record = json!({ "message": message, "severity": "info", "category": "test" });
        let answer = world.post("/api/v1/logs", &device.token, record).await;
        assert!(answer.status < 300, "{answer:?}");
        if number % 50 == 0 {
            let id = json!(number.to_string());
            last = quick.until(|frame| frame.data["id"] == id).await.id;
        }
    }
    // On a machine with much to do, the changes take longer than the time between two heartbeats.
    let next = loop {
        match slow.next().await {
            Some(frame) if frame.comment == "heartbeat" => {}
            next => break next,
        }
    };
    assert!(next.is_none(), "a slow reader goes on with {next:?}");
    let first = last.rsplit_once('-').unwrap().0.to_owned() + "-1";
    for (id, resumed) in [(first, false), (last, true)] {
        let mut again = Reader::open(router, &user, &query, Some(&id)).await;
        assert_eq!(again.next().await.unwrap().data, json!({ "resumed": resumed }));
    }
}

#[tokio::test]
async fn a_person_has_a_bounded_number_of_streams() {
    let (world, user) = World::set_up().await;
    let router = &world.backend.router;
    let mut readers = Vec::new();
    for _ in 0..10 {
        readers.push(Reader::ready(router, &user, "").await);
    }
    let refused = world.get("/api/v1/events", &user).await;
    refused.is(429, "too-many-streams");
    let member = world.member(&user, "bob@example.org", "viewer").await;
    Reader::ready(router, &member, "").await;
    readers.pop();
    Reader::ready(router, &user, "").await;
}

#[tokio::test]
async fn a_device_that_went_silent_is_shown_offline_and_online_again() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    world.backend.app.save_presence().await.unwrap();
    let mut reader = Reader::ready(&world.backend.router, &user, "?kinds=device").await;
    world.advance(Duration::from_secs(80));
    let frame = reader.until(|frame| frame.is_about("device", &device.id)).await;
    assert_eq!(frame.data["item"]["online"], false);
    world.poll(&device, 0).await;
    let frame = reader.until(|frame| frame.is_about("device", &device.id)).await;
    assert_eq!(frame.data["item"]["online"], true);
}

#[tokio::test]
async fn a_quiet_stream_has_heartbeats() {
    let (world, user) = World::set_up().await;
    if world.database.is_some() {
        // Connections to a server time out while the clock of the test jumps.
        return;
    }
    let mut reader = Reader::ready(&world.backend.router, &user, "").await;
    tokio::time::pause();
    for _ in 0..2 {
        let most = link_protocol::limits::EVENT_HEARTBEAT + Duration::from_secs(1);
        let frame = tokio::time::timeout(most, reader.next()).await.expect("no later than that");
        assert_eq!(frame.unwrap().comment, "heartbeat");
    }
}

#[tokio::test]
async fn a_change_in_one_backend_is_seen_in_another() {
    let (world, user) = World::set_up().await;
    let Some(database) = &world.database else { return };
    assert!(!database.url().is_empty());
    let replica = link_backend::build(world.configuration()).await.unwrap();
    // The replica resets its streams when it begins to hear the others, so the stream is open before that.
    let mut reader = Reader::ready(&replica.router, &user, "").await;
    for app in [&world.backend.app, &replica.app] {
        let app = std::sync::Arc::clone(app);
        tokio::spawn(async move { app.heed_neighbours().await });
    }
    reader.until(|frame| frame.event == "reset").await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let deployment = world.deployed(&user, &device, &model).await;
    sample(&world, &device, 4.0).await;
    reader.until(|frame| frame.is_about("system", &device.id)).await;
    let mut again = Reader::ready(&replica.router, &user, "?kinds=deployment").await;
    world.delete(&format!("/api/v1/devices/{}", device.id), &user).await;
    let gone = reader.until(|frame| frame.is_about("device", &device.id)).await;
    assert_eq!(gone.data["change"], "removed", "{deployment}");
    let other = world.online_device(&user).await;
    let deployment = world.deployed(&user, &other, &model).await;
    again.until(|frame| frame.is_about("deployment", &deployment)).await;
}

#[tokio::test]
async fn the_summary_counts_what_is_there_and_an_event_tells_of_it() {
    let (world, user) = World::set_up().await;
    let empty = world.get("/api/v1/summary", &user).await;
    assert_eq!(empty.status, 200, "{empty:?}");
    assert_eq!(
        empty.body["devices"],
        json!({
            "total": 0, "online": 0, "offline": 0, "updating": 0, "rolled_back": 0, "nearly_full": 0,
        })
    );
    let mut reader = Reader::ready(&world.backend.router, &user, "?kinds=summary").await;

    let device = world.online_device(&user).await;
    world.register(&user).await;
    let model = world.model(&user, false).await;
    let file = json!({ "name": "Later", "file_name": "later.gguf" });
    assert_eq!(world.post("/api/v1/models", &user, file).await.status, 201);
    world.deployed(&user, &device, &model).await;
    let wish = json!({ "kind": "fleet", "expires_at": "2026-09-24T00:00:00Z" });
    let key = world.post("/api/v1/keys", &user, wish).await;
    assert_eq!(key.status, 201, "{key:?}");
    let repair = format!("/api/v1/models/{model}/repair-serving/{}", device.id);
    let repair = world.act(&repair, &user).await;
    assert_eq!(repair.status, 202, "{repair:?}");
    let telemetry = json!({
        "inference_id": format!("inf_{}", "1".repeat(32)), "model_id": model,
        "prompt_tokens": 5, "completion_tokens": 7, "provenance": "exact", "duration_ms": 9,
        "time_to_first_token_ms": 1,
    });
    let path = device.path(&format!("/models/{model}/telemetry"));
    let answer = world.post(&path, &device.token, telemetry).await;
    assert!(answer.status < 300, "{answer:?}");
    world.set_allowlist(&user, &["https://new.example"]).await;

    let summary = world.get("/api/v1/summary", &user).await.body;
    assert_eq!(
        summary,
        json!({
            "devices": {
                "total": 2, "online": 1, "offline": 1, "updating": 0, "rolled_back": 0, "nearly_full": 0,
            },
            "deployments": {
                "total": 1, "stale": 1, "failed": 0, "in_progress": 0, "serving": 0,
                "serving_offline": 0, "unserved": 0,
            },
            "models": { "total": 2, "incomplete": 1 },
            "commands": { "open": 1, "failed_last_day": 0 },
            "repairs": { "sent": 1 },
            "keys": { "total": 1, "ending_within_week": 1 },
            "operations": { "running": 0 },
            "versions": [{ "version": "1.3.0", "devices": 2 }],
            "usage_today": { "prompt_tokens": 5, "completion_tokens": 7, "requests": 1 },
        })
    );
    let frame = reader.until(|frame| frame.data["item"] == summary).await;
    assert_eq!((frame.event.as_str(), frame.data.get("id")), ("summary", None));

    world.poll(&device, 0).await;
    world.result(&device, &repair.text("command_id"), "failed").await;
    let failed = world.get("/api/v1/summary", &user).await.body;
    assert_eq!(failed["commands"], json!({ "open": 0, "failed_last_day": 1 }));
    assert_eq!(failed["repairs"], json!({ "sent": 0 }));
    reader.until(|frame| frame.data["item"] == failed).await;
    let bob = world.another_account("bob@example.org").await;
    assert_eq!(world.get("/api/v1/summary", &bob).await.body, empty.body);
}

/// What the summary counts is what the selections and the list of deployments show.
#[tokio::test]
async fn the_summary_counts_what_went_wrong_on_devices() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    let counts = || async {
        let summary = world.get("/api/v1/summary", &user).await.body;
        let of = |kind: &str, name: &str| summary[kind][name].as_u64().unwrap();
        (
            [of("devices", "rolled_back"), of("devices", "nearly_full")],
            ["serving", "serving_offline", "unserved"].map(|name| of("deployments", name)),
        )
    };
    let selected = |select: &'static str| {
        let (world, user) = (&world, &user);
        async move { world.get(&format!("/api/v1/devices?select={select}"), user).await.items().len() }
    };

    for (outcome, count) in [("rolled_back", 1), ("committed", 0), ("rolled_back", 1)] {
        let update = json!({
            "from": "1.3.0", "to": "1.4.0", "outcome": outcome, "reason": "said \"outcome\":\"rolled_back\"",
        });
        let body = json!({
            "status": "online", "agent_version": "1.3.0", "uptime_s": 1, "update": update,
        });
        let answer = world.put(&device.path("/status"), &device.token, body).await;
        assert!(answer.status < 300, "{answer:?}");
        assert_eq!(counts().await.0, [count, 0], "{outcome}");
        assert_eq!(selected("update=rolled_back").await as u64, count);
    }

    let mut reader = Reader::ready(&world.backend.router, &user, "?kinds=summary").await;
    // A disk of 1,000 bytes, and a device that reports none.
    let mut before = 0;
    for (free, count) in [(Some(101), 0), (Some(100), 1), (None, 0), (Some(0), 1)] {
        let mut report = json!({
            "cpu_percent": 1.0, "cpu_count": 8, "memory": { "used_bytes": 3, "total_bytes": 16 },
            "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
        });
        if let Some(free) = free {
            report["disk"] = json!({ "used_bytes": 800, "free_bytes": free, "total_bytes": 1000 });
        }
        let answer = world.post(&device.path("/system"), &device.token, report).await;
        assert!(answer.status < 300, "{answer:?}");
        assert_eq!(counts().await.0, [1, count], "{free:?}");
        assert_eq!(selected("disk%3E%3D90").await as u64, count);
        if count != before {
            reader.until(|frame| frame.data["item"]["devices"]["nearly_full"] == count).await;
        }
        before = count;
    }

    assert_eq!(counts().await.1, [0; 3]);
    world.deployed(&user, &device, &model).await;
    let cases = [
        ("serving", Value::Null, [1, 0, 0]),
        ("not_serving", json!("the port is taken"), [0, 0, 1]),
        // Somebody has stopped it, so there is nothing to say.
        ("not_serving", Value::Null, [0, 0, 0]),
        ("not_serving", json!(""), [0, 0, 0]),
        ("not_serving", json!("\"detail\":\"\""), [0, 0, 1]),
        ("starting", json!("again"), [0, 0, 0]),
        ("serving", json!("\"is_serving\":false"), [1, 0, 0]),
    ];
    for (generation, (state, detail, count)) in cases.iter().enumerate() {
        let body = json!({
            "model_id": model, "pipeline_id": model.replace("mdl_", "pip_"), "state": state,
            "is_serving": *state == "serving", "port": 8080, "allowlist_digest": "",
            "generation": generation + 1, "detail": detail,
        });
        let path = device.path(&format!("/models/{model}/status"));
        assert_eq!(world.post(&path, &device.token, body).await.status, 204);
        assert_eq!(counts().await.1, *count, "{state} {detail}");
    }
    world.advance(Duration::from_secs(120));
    assert_eq!(counts().await.1, [1, 1, 0], "nobody can use the model of a device that is away");
}

/// The stream is that of a token: the login has ended long before the sample is forgotten.
#[tokio::test]
async fn a_full_disk_that_is_forgotten_leaves_the_summary_of_each_stream() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let wish = json!({ "name": "wall", "scopes": ["devices:read"] });
    let token = world.post("/api/v1/tokens", &user, wish).await.text("token");
    let mut reader = Reader::ready(&world.backend.router, &token, "?kinds=summary").await;
    let report = json!({
        "cpu_percent": 1.0, "cpu_count": 8, "memory": { "used_bytes": 3, "total_bytes": 16 },
        "disk": { "used_bytes": 950, "free_bytes": 50, "total_bytes": 1000 },
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
    });
    let answer = world.post(&device.path("/system"), &device.token, report).await;
    assert!(answer.status < 300, "{answer:?}");
    reader.until(|frame| frame.data["item"]["devices"]["nearly_full"] == 1).await;
    world.advance(Duration::from_secs(31 * 86_400));
    world.backend.app.purge().await.unwrap();
    reader.until(|frame| frame.data["item"]["devices"]["nearly_full"] == 0).await;
}

async fn sample(world: &World, device: &Device, cpu: f64) {
    let report = json!({
        "cpu_percent": cpu, "cpu_count": 8, "memory": { "used_bytes": 3, "total_bytes": 16 },
        "agent": { "cpu_percent": 0.1, "memory_bytes": 7 },
    });
    let answer = world.post(&device.path("/system"), &device.token, report).await;
    assert!(answer.status < 300, "{answer:?}");
}
