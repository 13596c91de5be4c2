//! The body of a request to an engine: what the proxy puts in front, and what the client has sent.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Two parts of one body. The client's bytes are never copied: as long as they wait for the engine, they are counted among
/// the bodies of all requests.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    front: Bytes,
    sent: Bytes,
}

impl Upload {
    pub(crate) const fn new(front: Bytes, sent: Bytes) -> Self {
        Self { front, sent }
    }

    /// Returns the bytes of both parts.
    pub(crate) const fn len(&self) -> usize {
        self.front.len() + self.sent.len()
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut next = mem::take(&mut self.front);
        if next.is_empty() {
            next = mem::take(&mut self.sent);
        }
        Poll::Ready((!next.is_empty()).then(|| Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn both_parts_are_sent_and_the_second_is_not_copied() {
        let sent = Bytes::from(vec![b'x'; 1000]);
        let place = sent.as_ptr();
        let mut upload = Upload::new(Bytes::from_static(b"front"), sent);
        assert_eq!((upload.len(), upload.size_hint().exact()), (1005, Some(1005)));
        let first = upload.frame().await.unwrap().unwrap().into_data().unwrap();
        let second = upload.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!((first, second.as_ptr()), (Bytes::from_static(b"front"), place));
        assert!(upload.is_end_stream() && upload.frame().await.is_none());
        assert!(Upload::default().is_end_stream());
    }
}
