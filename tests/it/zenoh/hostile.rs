//! A registered device attacks another: it joins the router as itself, and tries to read, answer,
//! forge and block the other's messages.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use link_client::{
    agent::{self, AgentClient},
    http::{Failure, Http},
    zenoh::DeviceSession,
};
use link_protocol::{
    agent_api::Hello,
    counter::{Epoch, Seq},
    key::KeyKind,
    registration::{Platform, RegisterRequest},
    report::CommandResult,
    signing::SigningKey,
    zenoh::{Proof, SessionId, Slot, Verb, ZenohAccess},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::free_port,
};
use serde_json::json;
use zenoh::{Config, Session, query::ConsolidationMode};

use super::{backend_with_router, device_on};

/// A registered device that sends arbitrary messages.
#[derive(Clone)]
pub(super) struct Hostile {
    pub(super) access: ZenohAccess,
    pub(super) key: Arc<SigningKey>,
    pub(super) client: AgentClient,
    epoch: Epoch,
}

impl Hostile {
    pub(super) async fn register(backend: &TestBackend, seed: u8) -> Self {
        let key = SigningKey::from_seed(&[seed; 32]);
        let request = RegisterRequest {
            registration_key: Some(backend.key(KeyKind::Registration).await),
            fleet_key: None,
            device_id: None,
            name: "hostile".to_owned(),
            keeps_name: false,
            agent_version: semver::Version::new(1, 3, 0),
            platform: Platform {
                os: "linux".to_owned(),
                arch: "x86_64".to_owned(),
                hostname: "hostile".to_owned(),
            },
            public_key: key.verifying().clone(),
            proof: None,
        };
        let registered =
            agent::register(&Http::new(&backend.url).unwrap(), &request).await.unwrap();
        let client =
            AgentClient::new(&backend.url, registered.device_id, registered.device_token).unwrap();
        let access = client.zenoh_access().await.unwrap();
        Self { access, key: Arc::new(key), client, epoch: registered.epoch }
    }

    pub(super) fn hello(&self) -> Vec<u8> {
        let hello = Hello {
            epoch: self.epoch,
            boot_id: "boot".to_owned(),
            agent_version: semver::Version::new(1, 3, 0),
            last_seq: Seq(0),
            inflight: vec![],
            serving: vec![],
        };
        serde_json::to_vec(&hello).unwrap()
    }

    /// Opens a bare session, without the restrictions of [`DeviceSession`].
    pub(super) async fn session(&self) -> Session {
        self.try_session().await.unwrap()
    }

    /// Opens a bare session, which the router may refuse.
    pub(super) async fn try_session(&self) -> zenoh::Result<Session> {
        self.try_session_with(None).await
    }

    /// Opens a bare session with this identifier, or with a random one.
    pub(super) async fn try_session_with(&self, id: Option<SessionId>) -> zenoh::Result<Session> {
        let mut config = Config::default();
        if let Some(id) = id {
            config.insert_json5("id", &json!(id.to_string()).to_string()).unwrap();
        }
        let authority = self.access.root_ca.as_ref().map(|pem| STANDARD.encode(pem));
        for (name, value) in [
            ("mode", json!("client")),
            ("connect/endpoints", json!(self.access.endpoints)),
            ("connect/timeout_ms", json!(5000)),
            ("scouting/multicast/enabled", json!(false)),
            ("transport/auth/usrpwd/user", json!(self.access.username)),
            ("transport/auth/usrpwd/password", json!(self.access.password.expose())),
            ("transport/link/tls/root_ca_certificate_base64", json!(authority)),
            // An attacker does not wait five seconds for each link that was cut under a message: all sessions of a
            // process share their threads, so an honest session of this test would wait too, until it expires.
            ("transport/link/tx/queue/congestion_control/block/wait_before_close", json!(50_000)),
        ] {
            config.insert_json5(name, &value.to_string()).unwrap();
        }
        zenoh::open(config).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_device_reads_answers_forges_and_blocks_nothing_of_another() {
    turns_on_another(&backend_with_router("tls", free_port(), &[]).await).await;
}

/// Registers two devices. The second tries everything that a user of the router can do.
pub(super) async fn turns_on_another(backend: &TestBackend) {
    let victim = device_on(backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&victim).await;
    // The first device to connect has the first slot.
    let victims = Slot::numbered(0);
    let hostile = Hostile::register(backend, 9).await;
    assert_ne!(hostile.access.username, victims.name());
    let session = hostile.session().await;

    let heard = Arc::new(AtomicUsize::new(0));
    let count = || {
        let heard = Arc::clone(&heard);
        move || {
            heard.fetch_add(1, Ordering::SeqCst);
        }
    };
    let keys = [
        victims.commands(),
        victims.uplink("**"),
        victims.space(),
        "link/v1/dev/*/cmd".to_owned(),
        "link/v1/dev/*/up/**".to_owned(),
        "link/**".to_owned(),
        "**".to_owned(),
    ];
    for key in &keys {
        let (taken, read, seen) = (count(), count(), count());
        let steals = session.declare_queryable(key).complete(true);
        steals.callback(move |_query| taken()).background().await.unwrap();
        session.declare_subscriber(key).callback(move |_sample| read()).background().await.unwrap();
        let watch = session.liveliness().declare_subscriber(key).history(true);
        watch.callback(move |_sample| seen()).background().await.unwrap();
    }
    // A session may see its own declarations. No other session's may reach it.
    let _forged_presence = session.liveliness().declare_token(victims.presence()).await.unwrap();
    let own = heard.swap(0, Ordering::SeqCst);

    for round in 0..5 {
        let allowed = if round % 2 == 0 { &[OLD_ORIGIN, WORKSPACE][..] } else { &[OLD_ORIGIN] };
        backend.allow(allowed).await;
        let result = backend.repair(deployment.model_id, victim.id, None).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0, "heard of others ({own} of its own)");

    // No session may read the router's information about its sessions.
    let asked = session
        .get("@/**")
        .allowed_destination(zenoh::sample::Locality::Remote)
        .timeout(std::time::Duration::from_secs(2))
        .await
        .unwrap();
    while let Ok(reply) = asked.recv_async().await {
        let told = reply.into_result().map(|sample| sample.key_expr().to_string());
        assert!(told.is_err(), "{told:?}");
    }

    // Messages in the other's name, and commands to it, reach nobody.
    for key in [victims.uplink("hello"), victims.commands(), "link/v1/dev/*/cmd".to_owned()] {
        let proof = Proof::sign(&hostile.key, Verb::Post, &key, &hostile.hello());
        let replies = session
            .get(&key)
            .payload(hostile.hello())
            .attachment(proof.to_text())
            .consolidation(ConsolidationMode::None)
            .allowed_destination(zenoh::sample::Locality::Remote)
            .timeout(std::time::Duration::from_secs(2))
            .await
            .unwrap();
        while let Ok(reply) = replies.recv_async().await {
            let refused = reply.into_result().unwrap_err();
            assert_eq!(refused.payload().to_bytes().as_ref(), b"Timeout", "{key}");
        }
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0);

    // The other device stays connected as before, and the hostile one is an ordinary device again.
    drop(session);
    let manners = DeviceSession::join(&hostile.access, Arc::clone(&hostile.key)).await.unwrap();
    let patience = std::time::Duration::from_secs(5);
    manners.ask(Verb::Post, "hello", hostile.hello(), patience).await.unwrap();
    backend.online(victim.id, true).await;
    backend.online(hostile.client.device(), true).await;
    manners.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_counts_only_with_the_proof_of_the_device_whose_slot_it_is() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let honest = Hostile::register(&backend, 3).await;
    // An attacker who knows the password of the slot, but not the device's key.
    let thief = DeviceSession::join(&honest.access, Arc::new(SigningKey::from_seed(&[4; 32])));
    let thief = thief.await.unwrap();
    let patience = std::time::Duration::from_secs(5);
    let forged = thief.ask(Verb::Post, "hello", honest.hello(), patience).await;
    let Err(Failure::Refused(refused)) = forged else { panic!("{forged:?}") };
    assert_eq!(refused.status, 401);
    // A slot has one session: of two open ones, each would evict the other.
    thief.close().await;
    let honest_session =
        DeviceSession::join(&honest.access, Arc::clone(&honest.key)).await.unwrap();
    honest_session.ask(Verb::Post, "hello", honest.hello(), patience).await.unwrap();
    let elsewhere = honest_session.ask(Verb::Post, "nowhere", b"{}".to_vec(), patience).await;
    let Err(Failure::Refused(refused)) = elsewhere else { panic!("{elsewhere:?}") };
    assert_eq!(refused.status, 404);
    let broken = honest_session.ask(Verb::Put, "status", b"{".to_vec(), patience).await;
    let Err(Failure::Refused(refused)) = broken else { panic!("{broken:?}") };
    assert_eq!(refused.status, 400);

    // A wrong password is refused, and the messages of a removed device are ignored.
    let wrong = ZenohAccess {
        password: link_protocol::secret::Secret::new("wrong"),
        ..honest.access.clone()
    };
    assert!(DeviceSession::join(&wrong, Arc::clone(&honest.key)).await.is_err());
    backend.owner.remove_device(honest.client.device()).await.unwrap();
    let gone = honest_session.ask(Verb::Post, "hello", honest.hello(), patience).await;
    let Err(Failure::Refused(refused)) = gone else { panic!("{gone:?}") };
    assert_eq!(refused.status, 401);
    honest_session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_router_repeats_of_a_device_changes_nothing() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let honest = Hostile::register(&backend, 3).await;
    let device = DeviceSession::join(&honest.access, Arc::clone(&honest.key)).await.unwrap();
    let patience = std::time::Duration::from_secs(5);
    device.ask(Verb::Post, "hello", honest.hello(), patience).await.unwrap();
    let id = honest.client.device();
    backend.online(id, true).await;
    let model = backend.model_at("tiny", "https://models.example/tiny.gguf", b"weights").await;
    let deployment = backend.deploy(model.model_id, id, free_port(), false).await;

    // The messages of the device, in order. A router has them all, with the device's signatures.
    let path = |rest: &str| format!("models/{}/{rest}", model.model_id);
    let progress = |event: &str, done: u64| {
        let body = json!({
            "deployment_id": deployment.deployment_id, "event": event, "bytes_done": done,
            "bytes_total": 7,
        });
        (path("deployment"), body)
    };
    let usage = json!({
        "inference_id": format!("inf_{}", "1".repeat(32)), "model_id": model.model_id,
        "prompt_tokens": 3, "completion_tokens": 4, "provenance": "exact", "duration_ms": 5,
        "time_to_first_token_ms": 1,
    });
    let result = json!({
        "command_id": deployment.command_id, "attempt": 1, "status": "succeeded", "output": "done",
    });
    let receipt = json!({ "command_id": deployment.command_id, "attempt": 1, "receipt": "stored" });
    let state = |serving: bool, generation: u64| {
        let body = json!({
            "model_id": model.model_id, "state": if serving { "serving" } else { "not_serving" },
            "pipeline_id": link_protocol::id::PipelineId::of(model.model_id),
            "is_serving": serving, "port": deployment.port, "allowlist_digest": "",
            "generation": generation,
        });
        (path("status"), body)
    };
    let said: Vec<(String, Vec<u8>)> = [
        (format!("commands/{}/receipt", deployment.command_id), receipt),
        progress("downloading", 1),
        progress("configuring", 7),
        (format!("commands/{}/status", deployment.command_id), result),
        state(false, 1),
        state(true, 2),
        (path("telemetry"), usage),
    ]
    .into_iter()
    .map(|(path, body)| (path, serde_json::to_vec(&body).unwrap()))
    .collect();
    for (path, body) in &said {
        device.ask(Verb::Post, path, body.clone(), patience).await.unwrap();
    }
    let known = async || {
        let found = backend.owner.deployment(deployment.deployment_id).await.unwrap();
        let command = backend.owner.command(deployment.command_id).await.unwrap();
        let database = link_sqlite::open_to_read(&backend.data().join("link.db")).unwrap();
        let number =
            |query: &str| database.query_one(query, [], |row| row.get::<_, i64>(0)).unwrap();
        let inferences = number("SELECT COUNT(*) FROM telemetry");
        let counted = number("SELECT SUM(completion_tokens) FROM usage_totals");
        (found.state, found.serving, command.result, inferences, counted)
    };
    let before = known().await;
    assert_eq!((before.3, before.4), (1, 4));

    // The router replays all messages, the oldest last, with the password of the slot and the
    // recorded signatures, but without the device's key.
    device.close().await;
    let router = honest.session().await;
    let slot = Slot::named(&honest.access.username).unwrap();
    for (path, body) in said.iter().chain(said.iter().rev()) {
        let key = slot.uplink(path);
        let proof = Proof::sign(&honest.key, Verb::Post, &key, body);
        let replies = router
            .get(&key)
            .payload(body.clone())
            .attachment(proof.to_text())
            .consolidation(ConsolidationMode::None)
            .timeout(patience)
            .await
            .unwrap();
        let reply = replies.recv_async().await.unwrap().into_result();
        assert!(reply.is_ok(), "it is taken for what it was, once: {path}");
    }
    assert_eq!(known().await, before);
    // After a change of one letter in any part, the signature does not match.
    let (path, body) = &said[3];
    let key = slot.uplink(path);
    let proof = Proof::sign(&honest.key, Verb::Post, &key, body);
    let altered = [body.as_slice(), b" "].concat();
    let replies =
        router.get(&key).payload(altered).attachment(proof.to_text()).timeout(patience).await;
    let refused = replies.unwrap().recv_async().await.unwrap().into_result();
    assert!(refused.is_err());
}
