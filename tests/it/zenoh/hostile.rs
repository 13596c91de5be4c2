//! A registered device that turns on another: it joins the router as itself and tries to read,
//! answer, forge and block what is the other's.

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
    key::KeyKind,
    registration::{Platform, RegisterRequest},
    report::CommandResult,
    signing::SigningKey,
    zenoh::{Proof, Slot, Verb, ZenohAccess},
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::free_port,
};
use serde_json::json;
use zenoh::{Config, Session, query::ConsolidationMode};

use super::{backend_with_router, device_on};

/// A device that is registered and says what it likes.
pub(super) struct Hostile {
    pub(super) access: ZenohAccess,
    pub(super) key: Arc<SigningKey>,
    client: AgentClient,
    epoch: u64,
}

impl Hostile {
    pub(super) async fn register(backend: &TestBackend, seed: u8) -> Self {
        let key = SigningKey::from_seed(&[seed; 32]);
        let request = RegisterRequest {
            registration_key: Some(backend.key(KeyKind::Registration).await),
            fleet_key: None,
            device_id: None,
            name: "hostile".to_owned(),
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
        let access = client.zenoh_access().await.unwrap().unwrap();
        Self { access, key: Arc::new(key), client, epoch: registered.epoch }
    }

    pub(super) fn hello(&self) -> Vec<u8> {
        let hello = Hello {
            epoch: self.epoch,
            boot_id: "boot".to_owned(),
            agent_version: semver::Version::new(1, 3, 0),
            last_seq: 0,
            inflight: vec![],
            serving: vec![],
        };
        serde_json::to_vec(&hello).unwrap()
    }

    /// A bare session, without the manners of [`DeviceSession`].
    pub(super) async fn session(&self) -> Session {
        let mut config = Config::default();
        let authority = self.access.root_ca.as_ref().map(|pem| STANDARD.encode(pem));
        for (name, value) in [
            ("mode", json!("client")),
            ("connect/endpoints", json!(self.access.endpoints)),
            ("connect/timeout_ms", json!(5000)),
            ("scouting/multicast/enabled", json!(false)),
            ("transport/auth/usrpwd/user", json!(self.access.username)),
            ("transport/auth/usrpwd/password", json!(self.access.password.expose())),
            ("transport/link/tls/root_ca_certificate_base64", json!(authority)),
        ] {
            config.insert_json5(name, &value.to_string()).unwrap();
        }
        zenoh::open(config).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_device_reads_answers_forges_and_blocks_nothing_of_another() {
    let backend = backend_with_router("tls", free_port(), &[]).await;
    let victim = device_on(&backend, &json!({"type": "zenoh"})).await;
    let deployment = backend.serve_tiny(&victim).await;
    // The first device that asked has the first slot.
    let victims = Slot::numbered(0);
    let hostile = Hostile::register(&backend, 9).await;
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
    // What a session declares itself it may see; nobody else's may reach it.
    let _forged_presence = session.liveliness().declare_token(victims.presence()).await.unwrap();
    let own = heard.swap(0, Ordering::SeqCst);

    for round in 0..5 {
        let allowed = if round % 2 == 0 { &[OLD_ORIGIN, WORKSPACE][..] } else { &[OLD_ORIGIN] };
        backend.allow(allowed).await;
        let result = backend.repair(deployment.model_id, victim.id, None).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0, "heard of others ({own} of its own)");

    // Messages under the other's name, and commands to it, reach nobody.
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

    // The other is there and heard as before; the hostile one is a device like any other.
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
    // Somebody who has learned the password of the slot, but not the device's key.
    let thief = DeviceSession::join(&honest.access, Arc::new(SigningKey::from_seed(&[4; 32])));
    let thief = thief.await.unwrap();
    let patience = std::time::Duration::from_secs(5);
    let forged = thief.ask(Verb::Post, "hello", honest.hello(), patience).await;
    let Err(Failure::Refused(refused)) = forged else { panic!("{forged:?}") };
    assert_eq!(refused.status, 401);
    let honest_session =
        DeviceSession::join(&honest.access, Arc::clone(&honest.key)).await.unwrap();
    honest_session.ask(Verb::Post, "hello", honest.hello(), patience).await.unwrap();
    let elsewhere = honest_session.ask(Verb::Post, "nowhere", b"{}".to_vec(), patience).await;
    let Err(Failure::Refused(refused)) = elsewhere else { panic!("{elsewhere:?}") };
    assert_eq!(refused.status, 404);
    let broken = honest_session.ask(Verb::Put, "status", b"{".to_vec(), patience).await;
    let Err(Failure::Refused(refused)) = broken else { panic!("{broken:?}") };
    assert_eq!(refused.status, 400);

    // A wrong password is refused, and a device that was removed is heard no more.
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
    thief.close().await;
}
