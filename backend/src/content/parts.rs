//! Cuts a stream into parts of a wanted size, and counts, hashes and inspects the bytes.
//!
//! A sender that falls below a minimum rate is cut off.

#![expect(clippy::disallowed_methods, reason = "IO shell: judges a sender by the clock")]

use std::{pin::Pin, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use link_protocol::{command::Sha256Hex, gguf::Inspection, limits};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::{
    content::{fault::ReceiveError, partial::Begun},
    domain::model::Received,
};

/// The minimum rate of a sender.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// In each span of this length the sender must send
    within: Duration,
    /// at least this many bytes.
    least: u64,
}

/// 1 KiB a second, measured over two minutes.
const PACE: Pace = Pace { within: Duration::from_secs(120), least: 120 * 1024 };

/// The content from a sender.
pub(super) struct Parts<S> {
    content: Pin<Box<S>>,
    /// Bytes that were received after the latest part.
    rest: Bytes,
    hasher: Sha256,
    inspection: Inspection,
    /// The number of returned bytes, which are hashed and inspected.
    size_bytes: u64,
    /// The number of received bytes.
    came: u64,
    has_ended: bool,
    pace: Pace,
    /// The end of the current span, and the bytes that were received before it began.
    span: Option<(Instant, u64)>,
}

impl<S, E> Parts<S>
where
    S: Stream<Item = Result<Bytes, E>> + Send,
{
    pub(super) fn new(content: S) -> Self {
        Self::after(Begun::default(), content)
    }

    /// Continues an upload after the bytes of earlier requests.
    pub(super) fn after(begun: Begun, content: S) -> Self {
        let Begun { size_bytes, hasher, inspection } = begun;
        Self {
            content: Box::pin(content),
            rest: Bytes::new(),
            hasher,
            inspection,
            size_bytes,
            came: size_bytes,
            has_ended: false,
            pace: PACE,
            span: None,
        }
    }

    /// Returns the next chunk as the sender sent it, or `None` at the end.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, ReceiveError> {
        let piece = self.next().await?;
        if let Some(piece) = &piece {
            self.count(piece);
        }
        Ok(piece)
    }

    fn count(&mut self, bytes: &[u8]) {
        self.size_bytes = self.size_bytes.saturating_add(bytes.len() as u64);
        self.hasher.update(bytes);
        self.inspection.push(bytes);
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ReceiveError> {
        let sent = loop {
            let (end, before) = self.span();
            match tokio::time::timeout_at(end, self.content.next()).await {
                Ok(sent) => break sent,
                Err(_elapsed) if self.came - before < self.pace.least => {
                    return Err(ReceiveError::Slow);
                }
                Err(_elapsed) => self.span = None,
            }
        };
        let Some(piece) = sent else {
            self.has_ended = true;
            return Ok(None);
        };
        let piece = piece.map_err(|_cause| ReceiveError::Cut)?;
        self.came = self.came.saturating_add(piece.len() as u64);
        if self.came > limits::MODEL_SIZE_LIMIT {
            return Err(ReceiveError::TooLarge);
        }
        Ok(Some(piece))
    }

    fn span(&mut self) -> (Instant, u64) {
        *self.span.get_or_insert_with(|| (Instant::now() + self.pace.within, self.came))
    }

    /// Returns the next `size` bytes, or fewer at the end. Afterwards [`Parts::is_over`] tells whether this was the last
    /// part.
    pub(super) async fn part(&mut self, size: usize) -> Result<Bytes, ReceiveError> {
        let mut part = BytesMut::new();
        loop {
            let fits = self.rest.len().min(size - part.len());
            part.extend_from_slice(&self.rest.split_to(fits));
            if !self.rest.is_empty() || self.has_ended {
                self.count(&part);
                return Ok(part.freeze());
            }
            if let Some(piece) = self.next().await? {
                // One allocation, and only if the sender sends more than one chunk.
                part.reserve(if part.is_empty() { 0 } else { size - part.len() });
                self.rest = piece;
            }
        }
    }

    /// Tells whether all bytes were returned.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.rest.is_empty()
    }

    /// Returns the number of returned bytes and their hash.
    pub(super) const fn so_far(&self) -> (u64, &Sha256) {
        (self.size_bytes, &self.hasher)
    }

    /// Returns the inspection of the returned bytes.
    pub(super) const fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Returns the checksum, the size and the metadata of the whole file.
    pub(super) fn received(self) -> Received {
        let sha256 = Sha256Hex::from_digest(&self.hasher.finalize());
        let seen = self.inspection.finish(self.size_bytes);
        Received { sha256, size_bytes: self.size_bytes, seen }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::stream;

    use super::*;

    async fn cut_into(pieces: &[&str], size: usize) -> (Vec<String>, Received) {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok::<_, io::Error>(Bytes::copy_from_slice(piece.as_bytes())))
            .collect();
        let mut parts = Parts::new(stream::iter(pieces));
        let mut found = Vec::new();
        while !parts.is_over() {
            let part = parts.part(size).await.unwrap();
            found.push(String::from_utf8(part.to_vec()).unwrap());
        }
        (found, parts.received())
    }

    #[tokio::test]
    async fn a_sender_that_drips_is_cut_off_and_a_slow_one_is_not() {
        let pace = Pace { within: Duration::from_millis(200), least: 4 };
        for (size, is_cut) in [(1, true), (8, false)] {
            let pieces = stream::iter(0..10).then(move |_| async move {
                tokio::time::sleep(Duration::from_millis(90)).await;
                Ok::<_, io::Error>(Bytes::from(vec![0; size]))
            });
            let mut parts = Parts { pace, ..Parts::new(pieces) };
            let ended = loop {
                match parts.piece().await {
                    Ok(Some(_)) => {}
                    ended => break ended,
                }
            };
            assert_eq!(matches!(ended, Err(ReceiveError::Slow)), is_cut, "{ended:?}");
        }
    }

    #[tokio::test]
    async fn pieces_of_any_size_become_parts_of_one_size_and_the_last_is_known_as_such() {
        for (pieces, expected) in [
            (&["abcdefgh"][..], &["abc", "def", "gh"][..]),
            (&["a", "b", "", "c", "d", "e", "f", ""], &["abc", "def"]),
            (&["abcd", "ef"], &["abc", "def"]),
            (&["ab"], &["ab"]),
            (&["", ""], &[""]),
            (&[], &[""]),
        ] {
            let (found, received) = cut_into(pieces, 3).await;
            assert_eq!(found, expected, "{pieces:?}");
            let whole = pieces.concat();
            assert_eq!(received.size_bytes, whole.len() as u64);
            assert_eq!(received.sha256, Sha256Hex::from_digest(&Sha256::digest(whole)));
        }
    }
}
