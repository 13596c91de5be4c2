//! A client of the backend for a person or a script.
//!
//! An expired access token is renewed once, and the call is repeated. A refresh token works only
//! once: its second use revokes all tokens of the login. The renewal therefore holds the store's
//! lock and starts from the stored tokens, so that two concurrent commands renew only once.

use std::{sync::Mutex, time::Duration};

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page,
        account::{RefreshRequest, TokenResponse},
    },
    secret::Secret,
};
use serde::de::DeserializeOwned;

use crate::http::{Call, Failure, Http};

mod account;
mod audit;
mod command;
mod deployment;
mod device;
mod device_flow;
mod device_log;
mod fleet;
mod key;
mod local_owner;
mod member;
mod model;
mod operation;
mod token;
mod upload;
mod usage;

pub use account::{login, set_up};
pub use device::retire_device;
pub use device_flow::{begin_device_login, poll_device_login};
pub use fleet::WantedDevices;
pub use local_owner::{log_in_owner, owner_code, set_owner_password};
pub use member::join;
pub use upload::{UploadError, UploadSource};

/// The tokens of a login.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tokens {
    pub access: Secret,
    /// The refresh token; absent for a personal access token, which cannot be renewed.
    pub refresh: Option<Secret>,
}

/// Storage for the tokens of a login, shared by all commands.
pub trait TokenStore: Send + Sync {
    /// Returns the stored tokens.
    ///
    /// # Errors
    /// [`StoreError`] if the tokens cannot be read.
    fn load(&self) -> Result<Option<Tokens>, StoreError>;

    /// Stores `tokens`. The tokens are on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError`] if the tokens cannot be stored.
    fn save(&self, tokens: &Tokens) -> Result<(), StoreError>;

    /// Takes the lock that prevents concurrent renewals. Returns `None` while another process holds
    /// the lock.
    ///
    /// # Errors
    /// [`StoreError`] if the lock cannot be taken.
    fn try_lock(&self) -> Result<Option<Box<dyn Send>>, StoreError>;
}

/// A failure of the token store, with its cause.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// A call of a person or a script failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The backend refused the call, or was unreachable.
    #[error(transparent)]
    Backend(#[from] Failure),
    /// The tokens could not be read or stored.
    #[error("cannot store the login")]
    Store(#[source] StoreError),
}

/// A client of the backend that sends the tokens of a login.
pub struct BackendClient {
    http: Http,
    tokens: Mutex<Tokens>,
    store: Option<Box<dyn TokenStore>>,
}

/// The longest wait for the store's lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);
const LOCK_STEP: Duration = Duration::from_millis(50);

impl BackendClient {
    /// Prepares calls with `tokens`. Renewed tokens are stored in `store`.
    #[must_use]
    pub fn new(http: Http, tokens: Tokens, store: Option<Box<dyn TokenStore>>) -> Self {
        Self { http, tokens: Mutex::new(tokens), store }
    }

    /// Returns the underlying HTTP client.
    #[must_use]
    pub const fn http(&self) -> &Http {
        &self.http
    }

    /// Returns the access token, for a request to another server.
    #[must_use]
    pub fn access_token(&self) -> Secret {
        self.tokens().access
    }

    async fn call<T: DeserializeOwned>(&self, make: impl Fn() -> Call) -> Result<T, CallError> {
        self.call_tagged(make).await.map(|(answer, _)| answer)
    }

    /// Like [`Self::call`], and also returns the entity tag of the answer.
    async fn call_tagged<T: DeserializeOwned>(
        &self,
        make: impl Fn() -> Call,
    ) -> Result<(T, Option<String>), CallError> {
        let tokens = self.tokens();
        match self.http.with_bearer(tokens.access.clone()).call_tagged(make()).await {
            Err(failure) if is_unauthorized(&failure) => {
                let renewed = self.renewed(tokens, failure).await?;
                Ok(self.http.with_bearer(renewed.access).call_tagged(make()).await?)
            }
            other => Ok(other?),
        }
    }

    async fn call_for_status(&self, make: impl Fn() -> Call) -> Result<(), CallError> {
        let tokens = self.tokens();
        match self.http.with_bearer(tokens.access.clone()).call_for_status(make()).await {
            Err(failure) if is_unauthorized(&failure) => {
                let renewed = self.renewed(tokens, failure).await?;
                Ok(self.http.with_bearer(renewed.access).call_for_status(make()).await?)
            }
            other => Ok(other?),
        }
    }

    /// Returns every item of a list, page by page.
    async fn all<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, CallError> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{separator}limit={}", link_protocol::limits::PAGE_SIZE_LIMIT);
        let mut page: Page<T> = self.call(|| Call::get(&first)).await?;
        let mut items = page.items;
        while let Some(cursor) = page.next_cursor {
            let next = format!("{first}&cursor={}", query_value(&cursor));
            page = self.call(|| Call::get(&next)).await?;
            items.append(&mut page.items);
        }
        Ok(items)
    }

    fn tokens(&self) -> Tokens {
        self.tokens.lock().expect("no holder of this lock panics").clone()
    }

    /// Returns tokens newer than `stale`: those that another command has stored, or renewed ones.
    /// If neither is possible, returns the failure of the original call.
    async fn renewed(&self, stale: Tokens, failure: Failure) -> Result<Tokens, CallError> {
        let Some(store) = &self.store else { return Err(failure.into()) };
        let _lock = lock(store.as_ref()).await.map_err(CallError::Store)?;
        let Some(kept) = store.load().map_err(CallError::Store)? else {
            return Err(failure.into());
        };
        let tokens = if kept.access == stale.access {
            let Some(refresh_token) = kept.refresh else { return Err(failure.into()) };
            let body = RefreshRequest { refresh_token };
            let call = Call::post(format!("{PREFIX}/auth/refresh")).json(&body);
            let tokens = Tokens::from(self.http.call::<TokenResponse>(call).await?);
            store.save(&tokens).map_err(CallError::Store)?;
            tokens
        } else {
            kept
        };
        *self.tokens.lock().expect("no holder of this lock panics") = tokens.clone();
        Ok(tokens)
    }
}

impl From<TokenResponse> for Tokens {
    fn from(response: TokenResponse) -> Self {
        Self { access: response.access_token, refresh: Some(response.refresh_token) }
    }
}

fn is_unauthorized(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(error) if error.status == 401)
}

#[expect(clippy::disallowed_methods, reason = "IO shell: waits for another process")]
async fn lock(store: &dyn TokenStore) -> Result<Box<dyn Send>, StoreError> {
    let attempt = async {
        loop {
            if let Some(lock) = store.try_lock()? {
                return Ok(lock);
            }
            tokio::time::sleep(LOCK_STEP).await;
        }
    };
    tokio::time::timeout(LOCK_PATIENCE, attempt).await.unwrap_or_else(|_| {
        Err(StoreError("another `link` command is renewing the login".to_owned()))
    })
}

/// Returns a query of the values that are there, without its `?`.
fn query_of<V: AsRef<str>>(values: impl IntoIterator<Item = (&'static str, Option<V>)>) -> String {
    let values = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let values = values.map(|(name, value)| format!("{name}={}", query_value(value.as_ref())));
    values.collect::<Vec<_>>().join("&")
}

/// Escapes `text` for use as a value in a query.
fn query_value(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
mod tests;
