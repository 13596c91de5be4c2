//! The identities of the simulated devices. They are registered once with a key and stored in a
//! private file, one JSON text per line. Later runs reuse the file.

use std::path::Path;

use anyhow::Context as _;
use link_client::{agent, http::Http};
use link_platform::fs;
use link_protocol::{
    identity::{Identity, SCHEMA_VERSION, encode_seed},
    key::{EnrolmentKey, KeyKind},
    registration::{Platform, RegisterRequest},
    signing::SigningKey,
};
use tokio::task::JoinSet;

/// Concurrent registrations.
const AT_ONCE: usize = 32;
/// The number of registrations between writes of the file, so that an interrupted run loses few.
const WRITE_EVERY: usize = 1_000;

/// Reads the identities from `path`. Returns an empty list if the file is missing.
///
/// # Errors
/// If the file cannot be read or contains anything else.
pub fn read(path: &Path) -> anyhow::Result<Vec<Identity>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let identity = |(number, line)| {
        Identity::parse(line)
            .with_context(|| format!("`{}` has no identity in line {}", path.display(), number + 1))
    };
    text.lines().enumerate().map(identity).collect()
}

/// Returns `wanted` identities of the backend at `url`: those in the file, plus newly registered
/// ones, which use `key` and are added to the file.
///
/// # Errors
/// If the file belongs to another backend, a required key is missing, or the backend refuses.
pub async fn ensure(
    path: &Path,
    url: &str,
    wanted: usize,
    key: Option<&EnrolmentKey>,
) -> anyhow::Result<Vec<Identity>> {
    let backend = Http::new(url)?;
    let mut identities = read(path)?;
    if let Some(other) = identities.iter().find(|one| one.backend_url != backend.base()) {
        anyhow::bail!(
            "`{}` holds devices of {}, not of {}; name another file or delete it",
            path.display(),
            other.backend_url,
            backend.base()
        );
    }
    while identities.len() < wanted {
        let key = key.context(
            "more devices must be registered; name a file with a fleet key: `--fleet-key-file`",
        )?;
        let more = (wanted - identities.len()).min(WRITE_EVERY);
        identities.extend(register(&backend, key, identities.len(), more).await?);
        write(path, &identities)?;
    }
    identities.truncate(wanted);
    Ok(identities)
}

/// Registers `count` devices.
///
/// # Errors
/// If the backend refuses a device or is unreachable.
pub async fn register(
    backend: &Http,
    key: &EnrolmentKey,
    first: usize,
    count: usize,
) -> anyhow::Result<Vec<Identity>> {
    let mut under_way = JoinSet::new();
    let mut registered = Vec::with_capacity(count);
    for number in first..first + count {
        if under_way.len() == AT_ONCE
            && let Some(done) = under_way.join_next().await
        {
            registered.push(done.context("a registration was aborted")??);
        }
        under_way.spawn(register_one(backend.clone(), key.clone(), number));
    }
    while let Some(done) = under_way.join_next().await {
        registered.push(done.context("a registration was aborted")??);
    }
    Ok(registered)
}

async fn register_one(backend: Http, key: EnrolmentKey, number: usize) -> anyhow::Result<Identity> {
    let seed: [u8; 32] = rand::random();
    let of_kind = |kind| (key.kind() == kind).then(|| key.clone());
    let request = RegisterRequest {
        registration_key: of_kind(KeyKind::Registration),
        fleet_key: of_kind(KeyKind::Fleet),
        device_id: None,
        name: format!("simulated-{number}"),
        keeps_name: false,
        agent_version: semver::Version::new(1, 0, 0),
        platform: Platform {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            hostname: format!("simulated-{number}"),
        },
        public_key: SigningKey::from_seed(&seed).verifying().clone(),
        proof: None,
    };
    let answer = agent::register(&backend, &request).await;
    let answer = answer.with_context(|| format!("device {number} was not registered"))?;
    Ok(Identity {
        schema_version: SCHEMA_VERSION.to_owned(),
        backend_url: backend.base().to_owned(),
        device_id: answer.device_id,
        device_token: answer.device_token,
        epoch: answer.epoch,
        transport: answer.transport,
        backend_keys: answer.backend_keys,
        private_key_seed: encode_seed(&seed),
    })
}

fn write(path: &Path, identities: &[Identity]) -> anyhow::Result<()> {
    let mut text = String::new();
    for identity in identities {
        text.push_str(&serde_json::to_string(identity).context("cannot serialize an identity")?);
        text.push('\n');
    }
    Ok(fs::write_private(path, text.as_bytes())?)
}
