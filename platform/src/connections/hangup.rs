//! A connection that reports a hangup of the other end, even while nobody reads from it.
//!
//! A server does not read while it works on an answer, nor after it has read a part of the next request. Without this
//! type it would continue to work for a client that has disconnected.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads on for a while after the end")]

use std::{
    io::{self, IoSlice},
    net::Shutdown,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::Sleep,
};

#[cfg(target_os = "linux")]
#[path = "hangup/linux.rs"]
mod system;
#[cfg(windows)]
#[path = "hangup/windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "hangup/other.rs"]
mod system;

/// How long to wait for the other end to close the connection after the last byte was sent. Closing a connection that
/// has unread bytes resets it, and then the other end may lose the answer.
const LINGER: Duration = Duration::from_secs(2);

/// A connection that is watched for a hangup.
#[derive(Debug)]
pub struct Socket {
    read: OwnedReadHalf,
    write: Arc<OwnedWriteHalf>,
    lingers: Option<Pin<Box<Sleep>>>,
}

/// Reports that the other end of a [`Socket`] has hung up.
#[derive(Debug)]
pub struct Hangup(Arc<OwnedWriteHalf>);

/// Starts to watch a connection.
#[must_use]
pub fn watched(stream: TcpStream) -> (Socket, Hangup) {
    let (read, write) = stream.into_split();
    let write = Arc::new(write);
    (Socket { read, write: write.clone(), lingers: None }, Hangup(write))
}

impl Hangup {
    /// Waits until the other end has closed the connection, or its sending half.
    pub async fn seen(&self) {
        system::hung_up((*self.0).as_ref()).await;
    }
}

impl Socket {
    fn stream(&self) -> &TcpStream {
        (*self.write).as_ref()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        write_when_ready(self.stream(), context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        write_when_ready(self.stream(), context, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingers.is_none() {
            SockRef::from(self.stream()).shutdown(Shutdown::Write)?;
            self.lingers = Some(Box::pin(tokio::time::sleep(LINGER)));
        }
        let mut unread = [0; 8 * 1024];
        loop {
            if let Some(lingers) = &mut self.lingers
                && lingers.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(Ok(()));
            }
            let mut unread = ReadBuf::new(&mut unread);
            ready!(Pin::new(&mut self.read).poll_read(context, &mut unread))?;
            if unread.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

fn write_when_ready(
    stream: &TcpStream,
    context: &mut Context<'_>,
    write: impl Fn(&TcpStream) -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(context))?;
        match write(stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            written => return Poll::Ready(written),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        time::timeout,
    };

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_hangup_is_seen_behind_bytes_that_nobody_has_read() {
        let (mut client, (mut socket, hangup)) = connection().await;
        client.write_all(&[1; 1000]).await.unwrap();
        let mut read = [0; 10];
        socket.read_exact(&mut read).await.unwrap();
        assert!(timeout(Duration::from_millis(100), hangup.seen()).await.is_err());
        drop(client);
        timeout(SOON, hangup.seen()).await.unwrap();
    }

    #[tokio::test]
    async fn who_still_sends_gets_the_whole_answer() {
        let (mut client, (mut socket, _hangup)) = connection().await;
        let answered = tokio::spawn(async move {
            socket.write_all(&[7; 1000]).await.unwrap();
            socket.shutdown().await.unwrap();
        });
        for _ in 0..100 {
            client.write_all(&[1; 100_000]).await.unwrap();
        }
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, [7; 1000]);
        drop(client);
        timeout(SOON, answered).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn who_never_closes_is_waited_for_a_short_time() {
        let (_client, (mut socket, _hangup)) = connection().await;
        timeout(SOON, socket.shutdown()).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_does_not_fit_at_once_is_written_when_it_does() {
        let (mut client, (mut socket, _hangup)) = connection().await;
        let sent: Vec<u8> = (0..4_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            socket.write_all(&sent).await.unwrap();
            socket.shutdown().await
        });
        let mut read = Vec::new();
        client.read_to_end(&mut read).await.unwrap();
        assert!(read == expected);
        drop(client);
        writing.await.unwrap().unwrap();
    }

    async fn connection() -> (TcpStream, (Socket, Hangup)) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        (client.unwrap(), watched(accepted.unwrap().0))
    }
}
