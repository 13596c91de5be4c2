//! Request bodies on their way to an engine.
//!
//! All bodies together use at most [`SMALL_ROOM`] and [`LARGE_ROOM`] of memory, counted until the
//! engine has received the last byte. Small bodies are counted as they arrive, so a body that never
//! arrives uses no room. Large bodies reserve their room before they are read, so every body that
//! has started can finish.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use link_platform::connections::Busy;
use link_protocol::{
    limits,
    problem::{Code, Problem},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The largest small body, in bytes.
const SMALL: usize = 1 << 20;

/// The total room for small bodies, in bytes.
const SMALL_ROOM: usize = 64 << 20;

/// The total room for large bodies, in bytes.
const LARGE_ROOM: usize = 192 << 20;

/// How long a request may wait for room.
const WAIT: Duration = Duration::from_secs(10);

/// The longest pause of the sender of a body.
const STILL: Duration = Duration::from_secs(10);

/// How long a body may take from its first byte to its last.
const WHOLE: Duration = Duration::from_secs(60);

/// Limits the memory of request bodies.
#[derive(Debug)]
pub(super) struct Bodies {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

/// The bytes of a body, with their room until the last reference is dropped.
struct Kept {
    bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Bodies {
    pub(super) fn new() -> Self {
        Self {
            small: Arc::new(Semaphore::new(SMALL_ROOM)),
            large: Arc::new(Semaphore::new(LARGE_ROOM)),
        }
    }

    /// Reads a body. Dropping the bytes frees their room. While the read waits, the connection
    /// counts as idle.
    ///
    /// # Errors
    /// If the body is too long (if its length says so, nothing is read), arrives too slowly, or
    /// gets no room in time.
    pub(super) async fn read<B>(&self, body: B, busy: &Busy) -> Result<Bytes, Problem>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let declared = body.size_hint().exact();
        match declared.map(usize::try_from) {
            Some(Ok(0)) => Ok(Bytes::new()),
            Some(Ok(length)) if length <= SMALL => self.arrive(body, busy, length, None).await,
            Some(Ok(length)) if length <= limits::PROXY_BODY_LIMIT => {
                // A request that waits for room may lose its connection to a new client.
                busy.waits();
                let room = room(&self.large, length).await;
                busy.goes_on();
                let room = room?;
                self.arrive(body, busy, length, Some(room)).await
            }
            Some(_) => Err(too_large()),
            None => self.arrive(body, busy, 0, None).await,
        }
    }

    async fn arrive<B>(
        &self,
        body: B,
        busy: &Busy,
        expected: usize,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<Bytes, Problem>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let reading = self.collect(body, busy, expected, room);
        match timeout(WHOLE, reading).await {
            Ok(read) => read,
            Err(_) => Err(late()),
        }
    }

    async fn collect<B>(
        &self,
        mut body: B,
        busy: &Busy,
        expected: usize,
        mut held: Option<OwnedSemaphorePermit>,
    ) -> Result<Bytes, Problem>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let mut is_large = held.is_some();
        let mut bytes = Vec::with_capacity(expected);
        loop {
            busy.waits();
            let arrived = timeout(STILL, body.frame()).await;
            busy.goes_on();
            let frame = match arrived {
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(_))) => {
                    return Err(malformed("the connection broke before the body was complete"));
                }
                Ok(None) => break,
                Err(_) => return Err(late()),
            };
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > limits::PROXY_BODY_LIMIT {
                return Err(too_large());
            }
            if is_large {
                // The room for this body is already reserved.
            } else if length > SMALL {
                // The length is unknown, so reserve room for the longest body.
                held = Some(room(&self.large, limits::PROXY_BODY_LIMIT).await?);
                is_large = true;
                // Reserve exactly, so that growing never uses more than is counted.
                bytes.reserve_exact(limits::PROXY_BODY_LIMIT - bytes.len());
            } else {
                let more = room(&self.small, data.len()).await?;
                match &mut held {
                    Some(held) => held.merge(more),
                    None => held = Some(more),
                }
            }
            bytes.extend_from_slice(&data);
        }
        if let Some(held) = &mut held {
            // Free the room that was not needed.
            bytes.shrink_to_fit();
            drop(held.num_permits().checked_sub(bytes.len()).and_then(|spare| held.split(spare)));
        }
        Ok(Bytes::from_owner(Kept { bytes, _room: held }))
    }
}

async fn room(of: &Arc<Semaphore>, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let full = || Problem::new(Code::AgentBusy, "other request bodies use all the memory");
    let bytes = u32::try_from(bytes).map_err(|_| too_large())?;
    let permit = timeout(WAIT, of.clone().acquire_many_owned(bytes)).await;
    permit.map_err(|_| full())?.map_err(|_| full())
}

fn too_large() -> Problem {
    let detail = format!("a request body may have at most {} bytes", limits::PROXY_BODY_LIMIT);
    Problem::new(Code::PayloadTooLarge, detail)
}

fn late() -> Problem {
    malformed("the body did not arrive in time")
}

fn malformed(detail: &str) -> Problem {
    Problem::new(Code::MalformedRequest, detail)
}
