//! Models: which announcements and which uploaded files are valid.

use jiff::Timestamp;
use link_protocol::{
    account_name::AccountName,
    backend_api::model::{ChangeModel, CreateModel, LANGUAGE_MODEL, Model, ModelFacts},
    command::{ModelFile, Sha256Hex},
    file_name::FileName,
    gguf::NotAModel,
    id::{AccountId, ModelId},
    limits,
};

use crate::domain::{name, refusal::Refusal, sharing::Publishers};

const LONGEST_URL: usize = 2000;

/// A model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ModelRecord {
    pub id: ModelId,
    pub account: AccountId,
    /// The name of the model's account.
    pub publisher: AccountName,
    pub name: String,
    pub file_name: FileName,
    pub url: Option<String>,
    pub sha256: Option<Sha256Hex>,
    pub size_bytes: Option<u64>,
    pub plugin: String,
    /// Whether the account of the model has chosen to share it.
    pub shared: bool,
    /// Whether the backend stores the file of the model.
    pub uploaded: bool,
    /// The metadata from the file that the backend stores.
    pub facts: Option<ModelFacts>,
    pub created_at: Timestamp,
}

/// A file that was uploaded completely.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Received {
    pub sha256: Sha256Hex,
    pub size_bytes: u64,
    /// The metadata that was read from the file of a language model.
    pub seen: Result<ModelFacts, NotAModel>,
}

impl ModelRecord {
    /// Makes the record of a new model.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the announcement is incomplete or unsafe,
    /// [`Refusal::SharingNotAllowed`].
    pub fn create(
        id: ModelId,
        (account, publisher): (AccountId, AccountName),
        publishers: &Publishers,
        wish: CreateModel,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        if let Some(url) = &wish.url {
            check_url(url)?;
            if wish.sha256.is_none() || wish.size_bytes.is_none() {
                return Err(Refusal::invalid(
                    "sha256, size_bytes: are required with `url`, so that devices can verify it",
                ));
            }
        }
        if wish.size_bytes.is_some_and(|size| size == 0 || size > limits::MODEL_SIZE_LIMIT) {
            let most = limits::MODEL_SIZE_LIMIT;
            return Err(Refusal::invalid(format!("size_bytes: is between 1 and {most}")));
        }
        check_plugin(&wish.plugin)?;
        check_sharing(account, wish.shared, publishers)?;
        Ok(Self {
            id,
            account,
            publisher,
            name: name::checked("name", &wish.name)?,
            file_name: wish.file_name,
            url: wish.url,
            sha256: wish.sha256,
            size_bytes: wish.size_bytes,
            plugin: wish.plugin,
            shared: wish.shared,
            uploaded: false,
            facts: None,
            created_at: now,
        })
    }

    /// Tells whether every account may deploy the model: it is marked as shared, and its account may share.
    #[must_use]
    pub fn is_shared(&self, publishers: &Publishers) -> bool {
        self.shared && publishers.has(self.account)
    }

    /// Tells whether an account may deploy and repair the model on its own devices.
    #[must_use]
    pub fn is_usable_by(&self, account: AccountId, publishers: &Publishers) -> bool {
        self.account == account || self.is_shared(publishers)
    }

    /// Changes the name of the model, or whether it is shared, or both.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::SharingNotAllowed`].
    pub fn change(&mut self, wish: &ChangeModel, publishers: &Publishers) -> Result<(), Refusal> {
        if let Some(text) = &wish.name {
            self.name = name::checked("name", text)?;
        }
        if let Some(shared) = wish.shared {
            check_sharing(self.account, shared, publishers)?;
            self.shared = shared;
        }
        Ok(())
    }

    /// Checks that a file may be uploaded for the model.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if devices download the file from another address.
    pub fn accepts_upload(&self) -> Result<(), Refusal> {
        match self.url {
            Some(_) => Err(Refusal::invalid("the model is fetched from its url")),
            None => Ok(()),
        }
    }

    /// Checks that `received` is the announced file, and completes the model with the values of the file.
    ///
    /// # Errors
    /// [`Refusal::ChecksumMismatch`] if it is a different file, [`Refusal::NotAModel`] if no engine could load it.
    pub fn receive(&mut self, received: Received) -> Result<(), Refusal> {
        self.accepts_upload()?;
        let Received { sha256, size_bytes, seen } = received;
        if let Some(announced) = self.size_bytes
            && announced != size_bytes
        {
            let what = format!("announced {announced} bytes, received {size_bytes}");
            return Err(Refusal::ChecksumMismatch(what));
        }
        if let Some(announced) = &self.sha256
            && *announced != sha256
        {
            let what = format!("announced SHA-256 {announced}, received {sha256}");
            return Err(Refusal::ChecksumMismatch(what));
        }
        if size_bytes == 0 {
            return Err(Refusal::ChecksumMismatch("it is empty".to_owned()));
        }
        if self.plugin == LANGUAGE_MODEL {
            self.facts = Some(seen.map_err(Refusal::NotAModel)?);
        }
        self.sha256 = Some(sha256);
        self.size_bytes = Some(size_bytes);
        self.uploaded = true;
        Ok(())
    }

    /// Returns the file's data that a device needs for the download.
    ///
    /// # Errors
    /// [`Refusal::ModelNotReady`] if the model has no file.
    pub fn file(&self) -> Result<ModelFile, Refusal> {
        match (&self.sha256, self.size_bytes) {
            (Some(sha256), Some(size_bytes)) if self.is_ready() => Ok(ModelFile {
                model_id: self.id,
                file_name: self.file_name.clone(),
                url: self.url.clone(),
                sha256: sha256.clone(),
                size_bytes,
            }),
            (Some(_) | None, Some(_) | None) => Err(Refusal::ModelNotReady),
        }
    }

    /// Tells whether the model can be deployed.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.uploaded || self.url.is_some()
    }

    /// Returns the model as `caller` sees it.
    #[must_use]
    pub fn info(&self, caller: AccountId, publishers: &Publishers) -> Model {
        Model {
            model_id: self.id,
            name: self.name.clone(),
            file_name: self.file_name.clone(),
            url: self.url.clone(),
            sha256: self.sha256.clone(),
            size_bytes: self.size_bytes,
            plugin: self.plugin.clone(),
            shared: self.is_shared(publishers),
            ready: self.is_ready(),
            facts: self.facts.clone(),
            owned: self.account == caller,
            publisher: Some(self.publisher.clone()),
            created_at: self.created_at,
        }
    }
}

fn check_sharing(account: AccountId, shared: bool, publishers: &Publishers) -> Result<(), Refusal> {
    if !shared || publishers.has(account) { Ok(()) } else { Err(Refusal::SharingNotAllowed) }
}

fn check_url(url: &str) -> Result<(), Refusal> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let Some(authority) = authority.filter(|authority| !authority.is_empty()) else {
        return Err(Refusal::invalid("url: starts with `http://` or `https://` and names a host"));
    };
    if authority.contains('@') {
        return Err(Refusal::invalid("url: carries no user name and no password"));
    }
    let plain = url.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    if !plain || url.len() > LONGEST_URL {
        let rule = format!("url: must have at most {LONGEST_URL} visible ASCII characters");
        return Err(Refusal::Invalid(rule));
    }
    Ok(())
}

fn check_plugin(plugin: &str) -> Result<(), Refusal> {
    let fits = (1..=64).contains(&plugin.len())
        && plugin.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits {
        Ok(())
    } else {
        Err(Refusal::invalid("plugin: must have 1 to 64 of a-z, 0-9 and `_`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_without_credentials() {
        for good in ["https://models.example/a.gguf?x=1", "http://127.0.0.1:9/x"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "ftp://models.example/a",
            "file:///etc/passwd",
            "https://",
            "https:///a",
            "https://user:secret@models.example/a",
            "https://models.example/a b",
            "https://models.example\\@evil/",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
