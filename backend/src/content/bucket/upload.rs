//! One upload into the bucket: sent in parts while it arrives, then kept or aborted.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use futures_util::Stream;
use tokio::{
    runtime::Handle,
    sync::OwnedSemaphorePermit,
    task::{JoinError, JoinSet},
};

use crate::{
    content::{
        announced::{Announced, name},
        bucket::{
            Bucket, TEMPORARY,
            journal::{Journal, Left, Note},
            requests::Requests,
            sizes,
        },
        fault::{BucketFault, ContentError, ReceiveError},
        parts::Parts,
    },
    domain::model::Received,
    host::random,
};

/// Parts that are sent concurrently, while one more is being received.
const PARTS_SENT: usize = 2;

/// A received file that does not have its final name yet. Dropping the value deletes the file.
#[derive(Debug)]
pub(in crate::content) struct Pending {
    kind: Kind,
    shop: Shop,
    _place: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Kind {
    /// A file that is small enough to be sent in one request when it is kept.
    Small(Bytes),
    /// A file whose parts are all in the store, but are not assembled yet.
    Sent { begun: Begun, tags: Vec<String>, temporary: Option<Note> },
}

/// The store and the journal of an upload.
#[derive(Clone, Debug)]
pub(super) struct Shop {
    pub(super) requests: Arc<Requests>,
    pub(super) journal: Arc<Journal>,
}

/// A multipart upload. Dropping the value aborts the upload, now or later.
#[derive(Debug)]
pub(super) struct Begun {
    shop: Shop,
    key: String,
    upload_id: String,
    /// The note, until the upload is completed or aborted.
    note: Option<Note>,
}

/// Receives a file and sends its parts, under the final name if the checksum is announced. The parts become an object when
/// the file is kept.
pub(super) async fn receive<E>(
    bucket: &Bucket,
    announced: &Announced,
    content: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<(Received, Pending), ReceiveError> {
    let (place, shop) = (bucket.place().await?, bucket.shop());
    let mut parts = Parts::new(content);
    let first = parts.part(sizes::part(1, announced.size_bytes)).await?;
    if parts.is_over() {
        let pending = Pending { kind: Kind::Small(first), shop, _place: place };
        return Ok((parts.received(), pending));
    }
    let (key, temporary) = match &announced.sha256 {
        Some(sha256) => (bucket.key(&name(announced.model, sha256)), None),
        None => {
            let key = bucket.key(&format!("{TEMPORARY}{}", random::uuid().simple()));
            let note = shop.note(&Left::Object { key: key.clone() }).map_err(broken)?;
            (key, Some(note))
        }
    };
    let begun = shop.begin(key).await.map_err(broken)?;
    match send(&begun, &mut parts, first, announced.size_bytes).await {
        Ok(tags) => {
            let pending =
                Pending { kind: Kind::Sent { begun, tags, temporary }, shop, _place: place };
            Ok((parts.received(), pending))
        }
        Err(error) => {
            begun.end().await;
            // The temporary object was never created.
            strike(temporary);
            Err(error)
        }
    }
}

/// Sends the parts, a few concurrently, and returns their tags in order.
async fn send<S, E>(
    begun: &Begun,
    parts: &mut Parts<S>,
    first: Bytes,
    hint: Option<u64>,
) -> Result<Vec<String>, ReceiveError>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
{
    // Dropping the set aborts the requests.
    let mut sending = JoinSet::new();
    let mut tags = BTreeMap::new();
    let mut part = first;
    for number in 1..=sizes::PARTS {
        while sending.len() >= PARTS_SENT {
            sent(sending.join_next().await, &mut tags).map_err(broken)?;
        }
        let requests = Arc::clone(&begun.shop.requests);
        let (key, upload_id) = (begun.key.clone(), begun.upload_id.clone());
        sending.spawn(async move {
            requests.send_part(&key, &upload_id, number, part).await.map(|tag| (number, tag))
        });
        if parts.is_over() {
            while !sending.is_empty() {
                sent(sending.join_next().await, &mut tags).map_err(broken)?;
            }
            return Ok(tags.into_values().collect());
        }
        part = parts.part(sizes::part(number + 1, hint)).await?;
    }
    // The sender sends far more bytes than announced.
    Err(ReceiveError::TooLarge)
}

pub(super) type Sent = Result<Result<(u16, String), BucketFault>, JoinError>;

pub(super) fn sent(
    joined: Option<Sent>,
    tags: &mut BTreeMap<u16, String>,
) -> Result<(), BucketFault> {
    if let Some(joined) = joined {
        let (number, tag) = joined.unwrap_or(Err(BucketFault::Unreachable(None)))?;
        tags.insert(number, tag);
    }
    Ok(())
}

impl Pending {
    /// Wraps an upload whose parts are all in the store.
    pub(super) fn of_parts(
        begun: Begun,
        tags: Vec<String>,
        temporary: Option<Note>,
        (shop, place): (Shop, OwnedSemaphorePermit),
    ) -> Self {
        Self { kind: Kind::Sent { begun, tags, temporary }, shop, _place: place }
    }

    /// Turns the file into the object `key` in one step.
    pub(super) async fn keep(self, key: &str, received: &Received) -> Result<(), BucketFault> {
        let size_bytes = received.size_bytes;
        match self.kind {
            Kind::Small(content) => self.shop.requests.put(key, content).await,
            Kind::Sent { begun, tags, temporary: None } => begun.complete(&tags, size_bytes).await,
            Kind::Sent { begun, tags, temporary: Some(note) } => {
                let from = begun.key.clone();
                begun.complete(&tags, size_bytes).await?;
                let copied = self.shop.copy(&from, key, size_bytes).await;
                self.shop.delete(&from, note).await;
                copied
            }
        }
    }

    /// Aborts the upload. If the store does not answer, the journal retries later.
    pub(in crate::content) async fn end(self) {
        if let Kind::Sent { begun, temporary, .. } = self.kind {
            begun.end().await;
            strike(temporary);
        }
    }
}

impl Shop {
    pub(super) fn note(&self, left: &Left) -> Result<Note, BucketFault> {
        self.journal.note(left).map_err(BucketFault::Journal)
    }

    /// Wraps an upload whose parts were sent by earlier requests.
    pub(super) fn begun(&self, key: String, upload_id: String, note: Note) -> Begun {
        Begun { shop: self.clone(), key, upload_id, note: Some(note) }
    }

    async fn begin(&self, key: String) -> Result<Begun, BucketFault> {
        let upload_id = self.requests.begin(&key).await?;
        let left = Left::Upload { key: key.clone(), upload_id: upload_id.clone() };
        match self.note(&left) {
            Ok(note) => Ok(Begun { shop: self.clone(), key, upload_id, note: Some(note) }),
            Err(fault) => {
                if let Err(also) = self.requests.abort(&key, &upload_id).await {
                    tracing::warn!(error = also.said(), "an upload without a note is not ended");
                }
                Err(fault)
            }
        }
    }

    /// Copies an object of this size within the store.
    async fn copy(&self, from: &str, to: &str, size_bytes: u64) -> Result<(), BucketFault> {
        let begun = self.begin(to.to_owned()).await?;
        let mut tags = Vec::new();
        let mut at = 0;
        while at < size_bytes {
            let range = at..size_bytes.min(at + sizes::COPIED);
            at = range.end;
            let number = u16::try_from(tags.len() + 1).unwrap_or(u16::MAX);
            let part = (begun.key.as_str(), begun.upload_id.as_str(), number);
            match self.requests.copy_part(part, (from, &range)).await {
                Ok(tag) => tags.push(tag),
                Err(fault) => {
                    begun.end().await;
                    return Err(fault);
                }
            }
        }
        begun.complete(&tags, size_bytes).await
    }

    /// Deletes a temporary object, now or later.
    async fn delete(&self, key: &str, note: Note) {
        match self.requests.delete(key).await {
            Ok(()) => note.strike(),
            Err(fault) => tracing::warn!(error = fault.said(), "a temporary object stays for now"),
        }
    }
}

impl Begun {
    /// Completes the upload. If the answer is lost, the size of the object tells whether the upload was completed,
    /// because only the complete file ever gets this name.
    async fn complete(mut self, tags: &[String], size_bytes: u64) -> Result<(), BucketFault> {
        let completed = self.shop.requests.complete(&self.key, &self.upload_id, tags).await;
        let Err(fault) = completed else {
            strike(self.note.take());
            return Ok(());
        };
        let found = self.shop.requests.size(&self.key).await;
        self.end().await;
        match found {
            Ok(Some(found)) if found == size_bytes => Ok(()),
            Ok(_) | Err(_) => Err(fault),
        }
    }

    /// Aborts the upload. If the store does not answer, the journal retries later.
    async fn end(mut self) {
        let ended = self.shop.requests.abort(&self.key, &self.upload_id).await;
        let note = self.note.take();
        match ended {
            Ok(()) => strike(note),
            Err(fault) => tracing::warn!(error = fault.said(), "an upload is ended later"),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // `end` and `complete` take the note first, so here the caller was dropped early.
        let (Some(note), Ok(runtime)) = (self.note.take(), Handle::try_current()) else { return };
        let requests = Arc::clone(&self.shop.requests);
        let (key, upload_id) = (std::mem::take(&mut self.key), std::mem::take(&mut self.upload_id));
        runtime.spawn(async move {
            match requests.abort(&key, &upload_id).await {
                Ok(()) => note.strike(),
                Err(fault) => tracing::warn!(error = fault.said(), "an upload is ended later"),
            }
        });
    }
}

pub(super) fn strike(note: Option<Note>) {
    if let Some(note) = note {
        note.strike();
    }
}

pub(super) fn broken(fault: BucketFault) -> ReceiveError {
    ReceiveError::Home(ContentError::Bucket(fault))
}
