//! A stream that fails if its peer does not read: written bytes must make progress within a time limit.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for a reader")]

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

/// How long an answer may make no progress.
const STILL_LIMIT: Duration = Duration::from_secs(30);

/// A stream that fails if its peer does not read.
#[derive(Debug)]
pub(super) struct Paced<S> {
    stream: S,
    limit: Duration,
    /// The start of the current stall, if there is one.
    still: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, limit: STILL_LIMIT, still: None }
    }

    fn judge<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.still = None;
            return written;
        }
        let limit = self.limit;
        let still = self.still.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        still.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_reader_that_does_not_read_is_given_up_and_a_slow_one_is_not() {
        let limit = Duration::from_millis(300);
        let (near, mut far) = tokio::io::duplex(16);
        let mut paced = Paced { limit, ..Paced::new(near) };
        let reader = tokio::spawn(async move {
            let mut read = [0; 16];
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                far.read_exact(&mut read).await.unwrap();
            }
            far
        });
        paced.write_all(&[1; 64]).await.unwrap();
        let _unread = reader.await.unwrap();
        let error = paced.write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
