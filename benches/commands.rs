//! Durable commands per second: callers that each place a command and acknowledge it, again and
//! again, on a real database on a real disk.
//!
//! `cargo bench -p link-backend --bench commands -- [CALLERS] [SECONDS]`; the URL of a PostgreSQL
//! database in LINK_BACKEND_DATABASE_URL measures that one instead of SQLite.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement: reads the clock and prints"
)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use link_backend::{
    app::{
        accounts, keys, queue,
        registration::{self, Enrolment},
    },
    database::Store,
    domain::{
        account::{Email, UserRecord},
        audit::{self, Action, AuditRecord},
        claim::Once,
        device::DeviceRecord,
        key::KeyRecord,
        quota::Quota,
        registration::Given,
    },
};
use link_protocol::{
    command::{Command, StopServing},
    envelope::ReceiptKind,
    id::{AccountId, AuditId, CommandId, DeviceId, KeyId, ModelId, PipelineId, UserId},
    key::{EnrolmentKey, KeyKind},
    registration::{Platform, RegisterRequest},
    secret::Secret,
    signing::SigningKey,
};
use uuid::Uuid;

const CALLERS: u64 = 64;
const SECONDS: u64 = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // `cargo bench` says so; whoever only looks for tests finds none.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let callers = numbers.next().unwrap_or(CALLERS);
    let length = Duration::from_secs(numbers.next().unwrap_or(SECONDS));
    // A temporary folder may be in memory; this one is beside what was built.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
    let url = std::env::var("LINK_BACKEND_DATABASE_URL").ok().map(Secret::new);
    let store = Store::open(folder.path(), url.as_ref()).await?;
    let account = account(&store).await?;
    let since = Instant::now();
    let done = Arc::new(AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..callers {
        let device = device(&store, account).await?;
        tasks.spawn(submit(store.clone(), account, device, Arc::clone(&done), length));
    }
    let registered = since.elapsed();
    let began = Instant::now();
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let took = began.elapsed().as_secs_f64();
    let done = done.load(Ordering::SeqCst);
    #[expect(clippy::cast_precision_loss, reason = "a rate to print")]
    let rate = done as f64 / took;
    println!("{callers} callers, {took:.1} s: {done} commands accepted and acknowledged");
    println!("{rate:.0} a second; {callers} registrations took {registered:?}");
    store.close().await;
    Ok(())
}

async fn submit(
    store: Store,
    account: AccountId,
    device: DeviceId,
    done: Arc<AtomicU64>,
    length: Duration,
) -> anyhow::Result<()> {
    let since = Instant::now();
    let model = ModelId::from_uuid(Uuid::now_v7());
    while since.elapsed() < length {
        let id = CommandId::from_uuid(Uuid::now_v7());
        let wish = Command::StopServing(StopServing {
            pipeline_id: PipelineId::of(model),
            model_id: model,
        });
        let now = Timestamp::now();
        let entry = entry(account, Action::Stop, &device, now);
        queue::place_command(&store, id, device, &wish, &format!("stop:{id}"), Once::Never, &entry)
            .await?;
        queue::take_receipt(&store, device, id, ReceiptKind::Stored, now).await?;
        done.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

fn entry(
    account: AccountId,
    action: Action,
    subject: &impl ToString,
    now: Timestamp,
) -> AuditRecord {
    let id = AuditId::from_uuid(Uuid::now_v7());
    AuditRecord::done(id, account, audit::system(), action, subject.to_string(), now)
}

async fn account(store: &Store) -> anyhow::Result<AccountId> {
    let account = AccountId::from_uuid(Uuid::now_v7());
    let user = UserRecord {
        id: UserId::from_uuid(Uuid::now_v7()),
        account,
        email: Email::parse(&format!("{}@example.org", Uuid::now_v7().simple()))
            .ok()
            .context("the address is one")?,
        password_hash: String::new(),
    };
    accounts::create_account(store, &user, None, Timestamp::now()).await?;
    Ok(account)
}

/// A device with a key of its own.
async fn device(store: &Store, account: AccountId) -> anyhow::Result<DeviceId> {
    let now = Timestamp::now();
    let mut secret = [0; 32];
    let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
    secret[..16].copy_from_slice(one.as_bytes());
    secret[16..].copy_from_slice(other.as_bytes());
    let key = EnrolmentKey::from_secret(KeyKind::Registration, secret);
    let record = KeyRecord {
        id: KeyId::from_uuid(Uuid::now_v7()),
        account,
        kind: KeyKind::Registration,
        name: String::new(),
        created_at: now,
        expires_at: now.checked_add(SignedDuration::from_hours(1)).ok(),
        max_devices: None,
        devices: 0,
        tags: Vec::new(),
        revoked: false,
        created_by: None,
    };
    let made = entry(account, Action::CreateKey, &record.id, now);
    let most = u32::MAX;
    let quota =
        Quota { models: most, model_bytes: u64::MAX, keys: most, tokens: most, invitations: most };
    keys::store_key(store, &record, &key, &quota, &made).await?;
    let request = RegisterRequest {
        registration_key: Some(key.clone()),
        fleet_key: None,
        device_id: None,
        proof: None,
        name: "bench".to_owned(),
        keeps_name: false,
        agent_version: semver::Version::new(1, 0, 0),
        public_key: SigningKey::from_seed(&secret).verifying().clone(),
        platform: Platform {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            hostname: "bench".to_owned(),
        },
    };
    let enrolment = Enrolment {
        key: &key,
        request: &request,
        account: None,
        limit: u32::MAX,
        given: Given {
            id: DeviceId::from_uuid(Uuid::now_v7()),
            name: request.name.clone(),
            token_digest: secret,
            now,
        },
    };
    let entry = |device: &DeviceRecord| entry(account, Action::RegisterDevice, &device.id, now);
    Ok(registration::enrol(store, &enrolment, entry).await?.id)
}
