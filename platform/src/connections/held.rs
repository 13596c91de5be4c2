//! A response body that holds a value while the body is being sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_body::{Body, Frame, SizeHint};

/// A body with a value, such as the seat of its connection, that is dropped when the body has been sent or aborted.
#[derive(Debug)]
pub struct Held<B, K> {
    body: B,
    _kept: K,
}

impl<B, K> Held<B, K> {
    /// Holds `kept` until `body` has ended.
    pub const fn new(body: B, kept: K) -> Self {
        Self { body, _kept: kept }
    }
}

impl<B: Body + Unpin, K: Unpin> Body for Held<B, K> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
