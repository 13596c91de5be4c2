//! Model files in a bucket of an S3 store.
//!
//! A small file is sent as one object after its checksum was verified. A larger file is sent in parts while it arrives; once
//! the checksum is verified, the parts become an object in one step. A file without an announced checksum first gets a
//! temporary name, and the store copies it. A journal in the data folder lists every upload until it has ended.

mod journal;
mod requests;
mod resume;
mod sizes;
mod upload;

pub(super) use resume::has_parts;
pub use resume::{Resumed, Standing};
pub(super) use upload::Pending;

use std::{collections::BTreeSet, io, ops::Range, path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use link_protocol::secret::Secret;
use rusty_s3::{S3Action as _, UrlStyle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    content::{
        Announced, BucketFault, Reading, ReceiveError,
        bucket::{
            journal::{Journal, Left},
            requests::{Requests, SIGNATURE_LIFETIME},
            upload::Shop,
        },
    },
    domain::model::Received,
    host::random,
};

/// Concurrent uploads; each holds a few parts in memory.
const UPLOADS: usize = 4;
/// How long an answer of the store may pause.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// How long an upload waits for a place among the concurrent ones.
const PLACE_WAIT: Duration = Duration::from_secs(30);
/// The start of the names of temporary objects, after the prefix.
const TEMPORARY: &str = ".upload-";

/// A bucket and its credentials.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BucketConfig {
    pub endpoint: String,
    pub region: String,
    pub bucket: String,
    /// The prefix of every name: empty, or folders that end with `/`.
    pub prefix: String,
    pub addressing: Addressing,
    pub access_key: String,
    pub secret_key: Secret,
}

/// The position of the bucket's name in an address.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Addressing {
    /// In the path: `https://s3.example.org/bucket/name`.
    #[default]
    Path,
    /// Before the host: `https://bucket.s3.example.org/name`.
    Host,
}

/// The endpoint and the bucket's name give no valid address.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no address can be made of this store and this bucket")]
pub struct InvalidBucket;

/// The bucket that holds model files.
#[derive(Debug)]
pub struct Bucket {
    requests: Arc<Requests>,
    journal: Arc<Journal>,
    prefix: String,
    places: Arc<Semaphore>,
}

impl BucketConfig {
    /// Checks that the endpoint and the bucket's name give a valid address.
    ///
    /// # Errors
    /// [`InvalidBucket`].
    pub fn check(&self) -> Result<(), InvalidBucket> {
        self.address().map(|_| ())
    }

    fn address(&self) -> Result<rusty_s3::Bucket, InvalidBucket> {
        let endpoint = self.endpoint.parse().map_err(|_error| InvalidBucket)?;
        let style = match self.addressing {
            Addressing::Path => UrlStyle::Path,
            Addressing::Host => UrlStyle::VirtualHost,
        };
        rusty_s3::Bucket::new(endpoint, style, self.bucket.clone(), self.region.clone())
            .map_err(|_error| InvalidBucket)
    }
}

impl Bucket {
    pub(super) fn open(config: &BucketConfig, data: &Path) -> anyhow::Result<Self> {
        let requests = Requests::new(config.address()?, &config.access_key, &config.secret_key)
            .context("failed to prepare requests to the bucket")?;
        Ok(Self {
            requests: Arc::new(requests),
            journal: Arc::new(Journal::of(data)),
            prefix: config.prefix.clone(),
            places: Arc::new(Semaphore::new(UPLOADS)),
        })
    }

    pub(super) async fn receive<E>(
        &self,
        announced: &Announced,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(Received, Pending), ReceiveError> {
        upload::receive(self, announced, content).await
    }

    /// Resumes or starts the upload of a file with a known size.
    pub(super) async fn resume<S, E>(
        &self,
        (announced, size_bytes): (&Announced, u64),
        standing: Option<Standing>,
        content: S,
    ) -> Result<Resumed<S>, ReceiveError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        resume::resume(self, (announced, size_bytes), standing, content).await
    }

    /// Aborts an upload that will not be resumed.
    pub(super) async fn abandon(&self, standing: &Standing) -> Result<(), BucketFault> {
        self.requests.abort(&standing.key, &standing.upload_id).await
    }

    pub(super) async fn keep(
        &self,
        name: &str,
        received: &Received,
        pending: Pending,
    ) -> Result<(), BucketFault> {
        pending.keep(&self.key(name), received).await
    }

    pub(super) async fn read(&self, name: &str, range: Range<u64>) -> Result<Reading, BucketFault> {
        let key = self.key(name);
        if range.is_empty() {
            // HTTP has no empty ranges, so only the existence of the file is checked.
            let found = self.requests.size(&key).await?;
            return found.map(|_| stream::empty().boxed()).ok_or_else(BucketFault::missing_object);
        }
        let response = self.requests.get(&key, &range).await?;
        let bytes = stream::try_unfold(response, |mut response| async move {
            match tokio::time::timeout(SILENCE_LIMIT, response.chunk()).await {
                Ok(Ok(chunk)) => Ok(chunk.map(|chunk| (chunk, response))),
                Ok(Err(error)) => Err(io::Error::other(error.without_url())),
                Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
            }
        });
        Ok(Box::pin(bytes))
    }

    /// Deletes an object. It is written to the journal first, because callers do not retry.
    pub(super) async fn remove(&self, name: &str) -> Result<(), BucketFault> {
        let key = self.key(name);
        let left = Left::Object { key: key.clone() };
        let note = self.journal.note(&left).map_err(BucketFault::Journal)?;
        match self.requests.delete(&key).await {
            Ok(()) => note.strike(),
            Err(fault) => {
                tracing::warn!(
                    error = fault.said(),
                    "failed to delete a model file: retrying later"
                );
            }
        }
        Ok(())
    }

    pub(super) async fn names(&self) -> Result<BTreeSet<String>, BucketFault> {
        let keys = self.requests.list(&self.prefix).await?;
        let names = keys.iter().filter_map(|key| key.strip_prefix(&self.prefix));
        Ok(names.filter(|name| !name.starts_with('.')).map(str::to_owned).collect())
    }

    pub(super) async fn probe(&self) -> Result<(), BucketFault> {
        let key = self.key(&format!("{TEMPORARY}{}", random::uuid().simple()));
        self.requests.put(&key, Bytes::from_static(b"probe")).await?;
        let read = self.requests.get(&key, &(0..5)).await;
        let read = match read {
            Ok(response) => self.requests.text(response).await,
            Err(fault) => Err(fault),
        };
        self.requests.delete(&key).await?;
        if read? == "probe" { Ok(()) } else { Err(BucketFault::Garbled("the probe's content")) }
    }

    /// Deletes the leftovers in the journal. Stops at the first leftover for which the store does not answer.
    pub(super) async fn tidy(&self) {
        for left in self.journal.left_over() {
            let ended = match &left.entry {
                Left::Upload { key, upload_id } => self.requests.abort(key, upload_id).await,
                Left::Object { key } => self.requests.delete(key).await,
            };
            match ended {
                Ok(()) => self.journal.strike(left.id),
                Err(fault) => {
                    tracing::warn!(
                        error = fault.said(),
                        "what was left in the bucket is not deleted yet"
                    );
                    self.journal.strike_when_old(&left);
                    if fault.is_silence() {
                        return;
                    }
                }
            }
        }
    }

    /// Waits for one of the limited number of concurrent uploads to end.
    async fn place(&self) -> Result<OwnedSemaphorePermit, ReceiveError> {
        let place = Arc::clone(&self.places).acquire_owned();
        let place = tokio::time::timeout(PLACE_WAIT, place).await;
        place.ok().and_then(Result::ok).ok_or(ReceiveError::Busy)
    }

    fn shop(&self) -> Shop {
        Shop { requests: Arc::clone(&self.requests), journal: Arc::clone(&self.journal) }
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Requests {
    /// Lists all objects whose names start with `prefix`.
    async fn list(&self, prefix: &str) -> Result<Vec<String>, BucketFault> {
        let mut keys = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let sign = || {
                let mut action = self.bucket.list_objects_v2(Some(&self.credentials));
                action.with_prefix(prefix);
                if let Some(token) = &token {
                    action.with_continuation_token(token.clone());
                }
                action.sign(SIGNATURE_LIFETIME)
            };
            let text = self.ask(reqwest::Method::GET, sign).await?;
            let page = rusty_s3::actions::ListObjectsV2::parse_response(text.trim_start())
                .map_err(|_error| BucketFault::Garbled("a list of objects"))?;
            keys.extend(page.contents.into_iter().map(|object| object.key));
            match page.next_continuation_token.filter(|next| token.as_ref() != Some(next)) {
                Some(next) => token = Some(next),
                None => return Ok(keys),
            }
        }
    }
}
