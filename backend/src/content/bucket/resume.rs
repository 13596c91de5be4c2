//! A multipart upload that spans several requests.
//!
//! After each part, [`Standing`] holds how much of the file the store has. The caller saves each standing, so the next
//! request, to this process or to another one, resumes after the last stored part.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use futures_util::Stream;
use link_protocol::gguf::Inspection;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tokio::{sync::OwnedSemaphorePermit, task::JoinSet};

use crate::{
    content::{
        announced::{Announced, name},
        bucket::{
            Bucket, TEMPORARY,
            journal::{Left, Note},
            sizes,
            upload::{Pending, Shop, broken, sent, strike},
        },
        fault::{BucketFault, ReceiveError},
        hash,
        partial::Begun,
        parts::Parts,
    },
    domain::model::Received,
};

/// How much of a file the store has, and the data that is needed to send the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Standing {
    pub key: String,
    pub upload_id: String,
    /// The tags of the stored parts, in order.
    pub tags: Vec<String>,
    /// The number of bytes in these parts.
    pub offset: u64,
    /// The states of the hash and the inspection after these bytes, as JSON.
    pub state: String,
}

/// The state of the hash and the inspection, for reading.
#[derive(Deserialize)]
struct State {
    hash: String,
    inspection: Inspection,
}

/// The state of the hash and the inspection, for writing.
#[derive(Serialize)]
struct StateOf<'a> {
    hash: String,
    inspection: &'a Inspection,
}

/// A resumed upload.
pub struct Resumed<S> {
    standing: Standing,
    /// The offset at which this request resumes the upload.
    from: u64,
    size_bytes: u64,
    shop: Shop,
    parts: Parts<S>,
    /// The part that is being sent.
    sending: JoinSet<Result<(u16, String), BucketFault>>,
    next: Option<(u64, String)>,
    /// The journal's note of a new upload, until its standing is stored.
    note: Option<Note>,
    ended: Option<ReceiveError>,
    place: OwnedSemaphorePermit,
}

/// Tells whether a file of this size is sent in parts. A smaller file is sent in one piece.
pub(in crate::content) fn has_parts(size_bytes: u64) -> bool {
    size_bytes > sizes::part(1, Some(size_bytes)) as u64
}

/// Resumes the upload of `standing`, or starts a new one.
pub(super) async fn resume<S, E>(
    bucket: &Bucket,
    (announced, size_bytes): (&Announced, u64),
    standing: Option<Standing>,
    content: S,
) -> Result<Resumed<S>, ReceiveError>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
{
    let place = bucket.place().await?;
    let shop = bucket.shop();
    let (standing, begun, note) = match standing {
        Some(standing) => {
            let is_kept = is_kept(&shop, &standing).await.map_err(broken)?;
            let Some(begun) = begun_of(&standing).filter(|_| is_kept) else {
                abort(&shop, &standing).await.map_err(broken)?;
                return Err(ReceiveError::Elsewhere(0));
            };
            (standing, begun, None)
        }
        None => {
            let (standing, note) = begin(bucket, &shop, announced).await.map_err(broken)?;
            (standing, Begun::default(), Some(note))
        }
    };
    let parts = Parts::after(begun, content);
    let (sending, next, ended) = (JoinSet::new(), None, None);
    let from = standing.offset;
    Ok(Resumed { standing, from, size_bytes, shop, parts, sending, next, note, ended, place })
}

/// Returns whether the store still has the parts of `standing`. Stores abort uploads that are idle for days.
///
/// If these credentials may not list parts, the answer is yes: a store without the upload refuses the next part.
async fn is_kept(shop: &Shop, standing: &Standing) -> Result<bool, BucketFault> {
    let Some(tag) = standing.tags.last() else { return Ok(true) };
    let number = u16::try_from(standing.tags.len()).unwrap_or(u16::MAX);
    let upload = (standing.key.as_str(), standing.upload_id.as_str());
    match shop.requests.has_part(upload, (number, tag)).await {
        Err(fault) if !fault.is_silence() => Ok(true),
        answered => answered,
    }
}

/// Aborts an upload that cannot resume. A refusal is logged only: some stores refuse to abort what they have ended.
async fn abort(shop: &Shop, standing: &Standing) -> Result<(), BucketFault> {
    match shop.requests.abort(&standing.key, &standing.upload_id).await {
        Err(fault) if !fault.is_silence() => {
            tracing::warn!(
                error = fault.said(),
                "the store refused to abort an upload that cannot resume"
            );
            Ok(())
        }
        answered => answered,
    }
}

/// Starts an upload. The note aborts the upload unless the caller stores its standing.
async fn begin(
    bucket: &Bucket,
    shop: &Shop,
    announced: &Announced,
) -> Result<(Standing, Note), BucketFault> {
    let key = match &announced.sha256 {
        Some(sha256) => bucket.key(&name(announced.model, sha256)),
        None => bucket.key(&format!("{TEMPORARY}{}", announced.model)),
    };
    let upload_id = shop.requests.begin(&key).await?;
    let note = shop.note(&Left::Upload { key: key.clone(), upload_id: upload_id.clone() })?;
    let Begun { hasher, inspection, .. } = Begun::default();
    let state = state_of(&hasher, &inspection);
    Ok((Standing { key, upload_id, tags: Vec::new(), offset: 0, state }, note))
}

/// Parses the state of a standing. Returns `None` if the state is damaged.
fn begun_of(standing: &Standing) -> Option<Begun> {
    let State { hash, inspection } = serde_json::from_str(&standing.state).ok()?;
    let hasher = hash::from_text(&hash)?;
    Some(Begun { size_bytes: standing.offset, hasher, inspection })
}

/// Returns the state in its stored form.
fn state_of(hasher: &Sha256, inspection: &Inspection) -> String {
    let state = StateOf { hash: hash::to_text(hasher), inspection };
    serde_json::to_string(&state).unwrap_or_default()
}

impl<S, E> Resumed<S>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
{
    /// Returns the standing after the last stored part.
    #[must_use]
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Deletes the note of a new upload. Call this after its standing was stored.
    pub fn is_stored(&mut self) {
        strike(self.note.take());
    }

    /// Receives the next part while the previous part is sent. Returns whether the standing has changed; if not, all
    /// parts are sent.
    ///
    /// # Errors
    /// [`ReceiveError`]; the standing stays valid.
    pub async fn advance(&mut self) -> Result<bool, ReceiveError> {
        loop {
            if let Some(ended) = self.ended.take() {
                return Err(ended);
            }
            let received = self.receive().await;
            // The previous part is sent completely even if the sender was cut off.
            let has_moved = self.taken().await?;
            match received {
                Ok(Some(part)) => self.send(part),
                Ok(None) if !has_moved => return Ok(false),
                Ok(None) => {}
                Err(error) => self.ended = Some(error),
            }
            if has_moved {
                return Ok(true);
            }
        }
    }

    /// Receives the next part. Returns `None` after the last part.
    async fn receive(&mut self) -> Result<Option<Bytes>, ReceiveError> {
        let offset = self.parts.so_far().0;
        let number = self.standing.tags.len() + usize::from(self.next.is_some()) + 1;
        let number = u16::try_from(number).map_err(|_many| ReceiveError::TooLarge)?;
        let left = self.size_bytes.saturating_sub(offset);
        let usual = sizes::part(number, Some(self.size_bytes));
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(usual);
        if wanted == 0 {
            return Ok(None);
        }
        let part = self.parts.part(wanted).await?;
        if part.len() < wanted {
            // The sender ended early. A store accepts a part that is smaller than the others only as the last one.
            return Err(ReceiveError::Cut);
        }
        Ok(Some(part))
    }

    fn send(&mut self, part: Bytes) {
        let (offset, hasher) = self.parts.so_far();
        self.next = Some((offset, state_of(hasher, self.parts.inspection())));
        let number = u16::try_from(self.standing.tags.len() + 1).unwrap_or(u16::MAX);
        let requests = Arc::clone(&self.shop.requests);
        let (key, upload_id) = (self.standing.key.clone(), self.standing.upload_id.clone());
        self.sending.spawn(async move {
            requests.send_part(&key, &upload_id, number, part).await.map(|tag| (number, tag))
        });
    }

    /// Waits until the current part is sent. Returns whether a part was being sent.
    async fn taken(&mut self) -> Result<bool, ReceiveError> {
        let Some((offset, state)) = self.next.take() else { return Ok(false) };
        let mut tags = BTreeMap::new();
        sent(self.sending.join_next().await, &mut tags).map_err(|fault| {
            // If a store refuses the first part of a resumed upload, it has aborted the upload.
            let is_gone = self.from > 0 && self.standing.offset == self.from && !fault.is_silence();
            if is_gone || fault.is_not_found() { ReceiveError::Elsewhere(0) } else { broken(fault) }
        })?;
        self.standing.tags.extend(tags.into_values());
        self.standing.offset = offset;
        self.standing.state = state;
        Ok(true)
    }

    /// Returns the complete file, or `None` while parts are missing. From here on, dropping the file aborts the upload.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(in crate::content) fn finish(self) -> Result<Option<(Received, Pending)>, ReceiveError> {
        if self.standing.offset < self.size_bytes {
            return Ok(None);
        }
        let Standing { key, upload_id, tags, .. } = self.standing;
        let is_temporary = key.rsplit('/').next().is_some_and(|name| name.starts_with(TEMPORARY));
        let temporary = if is_temporary {
            Some(self.shop.note(&Left::Object { key: key.clone() }).map_err(broken)?)
        } else {
            None
        };
        let left = Left::Upload { key: key.clone(), upload_id: upload_id.clone() };
        let note = self.shop.note(&left).map_err(broken)?;
        let begun = self.shop.begun(key, upload_id, note);
        let pending = Pending::of_parts(begun, tags, temporary, (self.shop, self.place));
        Ok(Some((self.parts.received(), pending)))
    }
}
