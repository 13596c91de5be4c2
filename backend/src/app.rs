//! The use cases: each reads the clock, asks the domain for a decision, stores the result, and wakes the tasks that
//! wait for it.
//!
//! This layer does not know HTTP. Each file has one subject, and each handler in `api` calls one method.

pub mod accounts;
mod audit;
mod bucket_uploads;
mod commands;
mod control;
mod deploying;
mod deployments;
mod desired;
mod device_flow;
mod device_logs;
mod devices;
mod documents;
mod events;
mod feed;
mod fleets;
mod following;
mod health;
pub mod keys;
mod leading;
mod local_owner;
mod members;
mod models;
mod neighbours;
pub mod operation_work;
pub mod operations;
mod placing;
mod presence;
mod publishing;
pub mod queue;
mod readiness;
mod recovery;
pub mod registration;
mod reports;
mod resumption;
mod serving;
mod sessions;
mod settings;
mod sharing;
mod summary;
mod sweep;
mod time;
mod tokens;
mod transfer;
mod uploads;
mod usage;
mod warrants;
mod zenoh;

pub use deployments::DeploymentQuery;
pub use events::{EventStream, StreamEvent};
pub use fleets::DeviceList;
pub use health::Health;
pub use resumption::Uploaded;
pub use serving::Requested;
pub use sessions::{Opened, Visitor};
pub use usage::UsageQuestion;
pub(crate) use zenoh::{Due, User, ZenohOffer};

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, atomic::AtomicBool},
};

use anyhow::Context as _;
use link_protocol::{
    id::{CommandId, DeviceId, UserId},
    secret::Secret,
    signing::SigningKey,
};
use tokio::sync::{Notify, watch};

use crate::{
    app::uploads::Uploads,
    auth::{
        access::AccessTokens, passwords::Passwords, refresh::RefreshTokens,
        session::SessionSecrets, setup_token::SetupToken,
    },
    config::Config,
    content::Contents,
    database::Store,
    domain::{
        attempts::{self, Attempts, Logins, Networks},
        checkup::Checkup,
        local_owner::LocalOwner,
    },
    host::{random, wake::Bells},
    releases::Releases,
};

/// A running backend, without the HTTP layer.
pub struct App {
    config: Config,
    store: Store,
    command_key: SigningKey,
    access: AccessTokens,
    refresh: RefreshTokens,
    session_secrets: SessionSecrets,
    passwords: Passwords,
    logins: Mutex<Logins>,
    /// Limits the networks from which machines request codes of the device flow.
    codes: Mutex<Networks>,
    /// Limits the guesses of people who type such codes.
    guesses: Mutex<Attempts<UserId>>,
    contents: Contents,
    uploads: Arc<Uploads>,
    setup_token: Mutex<Option<SetupToken>>,
    /// The owner of a single-user backend; set when the backend starts to answer requests.
    local_owner: Mutex<Option<LocalOwner>>,
    polls: Arc<Bells<DeviceId>>,
    results: Arc<Bells<CommandId>>,
    presence: presence::Presence,
    feed: feed::Hub,
    draining: watch::Sender<bool>,
    zenoh: zenoh::ZenohState,
    /// Notified when an operation is accepted or retried in this process.
    operations: Notify,
    /// Whether the backend is unready because it shuts down. It still answers requests.
    leaving: AtomicBool,
    /// The address of the HTTP listener, once it listens.
    listener: OnceLock<SocketAddr>,
    leading: leading::Leading,
    offset: time::Offset,
    health: Arc<Health>,
    checkup: Mutex<Checkup>,
}

impl App {
    /// Opens the database and all files in the data folder, which must exist.
    ///
    /// # Errors
    /// If the database or a file cannot be opened.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        let store = Store::open(&config.data, config.database_url.as_ref()).await?;
        let setup_token = if store.has_account().await? {
            None
        } else {
            Some(SetupToken::open(&config.data).context("failed to make the setup token")?)
        };
        let contents = Contents::open(&config.data, &config.content)
            .context("failed to open the home of models")?
            .keeping_free(config.disk_reserve);
        store.name_accounts().await?;
        store.recount_devices().await?;
        store.fill_disk_percents().await?;
        store.fill_services().await?;
        for unknown in store.unknown_publishers(&config.sharing).await? {
            tracing::warn!(account = %unknown, "`sharing.accounts` names no account of this backend");
        }
        let command_seed = store.seed("commands", random::bits()).await?;
        let refresh_seed = store.seed("refresh", random::bits()).await?;
        let session_seed = store.seed("sessions", random::bits()).await?;
        let access_seed = store.seed("access", random::bits()).await?;
        Ok(Self {
            command_key: SigningKey::from_seed(&command_seed),
            access: AccessTokens::new(&access_seed),
            passwords: Passwords::new(config.password_memory_kib)?,
            refresh: RefreshTokens::new(&refresh_seed),
            session_secrets: SessionSecrets::new(&session_seed),
            logins: Mutex::default(),
            codes: Mutex::default(),
            guesses: Mutex::new(Attempts::new(attempts::PER_PERSON)),
            contents,
            uploads: Arc::default(),
            setup_token: Mutex::new(setup_token),
            local_owner: Mutex::default(),
            polls: Arc::default(),
            results: Arc::default(),
            presence: presence::Presence::default(),
            feed: feed::Hub::default(),
            draining: watch::Sender::new(false),
            zenoh: zenoh::ZenohState::default(),
            operations: Notify::new(),
            leaving: AtomicBool::new(false),
            listener: OnceLock::new(),
            leading: leading::Leading::default(),
            offset: time::Offset::default(),
            health: Arc::default(),
            checkup: Mutex::default(),
            config,
            store,
        })
    }

    /// Sets the address of the HTTP listener. Only the first call has an effect.
    pub fn listens_on(&self, address: SocketAddr) {
        self.listener.get_or_init(|| address);
    }

    /// Returns the setup token as long as there is no account.
    #[must_use]
    pub fn setup_token(&self) -> Option<Secret> {
        lock(&self.setup_token).as_ref().map(|token| token.token().clone())
    }

    /// Returns whether the first account is still to be made with the setup token. False if the database does not answer.
    pub(crate) async fn awaits_setup(&self) -> bool {
        if self.is_owned_by_file() || lock(&self.setup_token).is_none() {
            return false;
        }
        let known = self.store.has_account().await;
        if let Ok(true) = known {
            // Another backend on the same database, or the command line, has made it.
            lock(&self.setup_token).take();
        }
        matches!(known, Ok(false))
    }

    /// Deletes partial files of uploads that were running when the backend was killed.
    ///
    /// # Errors
    /// If the folder of models cannot be listed or a file cannot be deleted.
    pub fn clear_uploads(&self) -> std::io::Result<()> {
        self.contents.clear_uploads()
    }

    /// Deletes leftover objects and uploads in the bucket of models, if one is configured.
    pub async fn tidy_contents(&self) {
        self.contents.tidy().await;
    }

    /// Answers all parked polls at once, and each later poll immediately. Ends all event streams.
    pub fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Returns the data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.config.data
    }

    /// Returns the store.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the configured address at which people and devices reach the backend.
    #[must_use]
    pub fn public_url(&self) -> Option<&str> {
        self.config.public_url.as_deref()
    }

    /// Returns the releases that this backend serves to devices.
    #[must_use]
    pub fn releases(&self) -> Releases {
        Releases::in_folder(&self.config.data)
    }

    /// Tells whether a proxy in front of the backend reports the source of each request.
    #[must_use]
    pub const fn is_behind_proxy(&self) -> bool {
        self.config.behind_proxy
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
