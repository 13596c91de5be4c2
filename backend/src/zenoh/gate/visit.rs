//! One connection at the gate: its first message, its turn, its session, and its end.
//!
//! The router learns of a connection after its first message, and gets only messages that [`Wire`] accepts, at the rate that
//! its [`Purse`]s allow.

#![expect(clippy::disallowed_methods, reason = "IO shell: forwards between sockets")]

use std::{io, sync::Arc, time::Duration};

use link_protocol::zenoh::{BUFFER, SessionId};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    net::TcpStream,
    sync::oneshot,
    time::{error::Elapsed, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use zenoh_buffers::ZSlice;

use super::{
    Guest, Shared, Welcome,
    tls::greet,
    wire::{self, Answer, Fault, Wire},
};
use crate::domain::allowance::{Allowance, Purse};

/// The deadline of the first message, TLS handshake included.
const ARRIVAL: Duration = Duration::from_secs(4);
/// The deadline of the turn. A device times out after ten seconds.
const TURN: Duration = Duration::from_secs(8);
/// The deadline from the turn to the session.
const JOINING: Duration = Duration::from_secs(3);
/// How long a session may be silent. A device sends a message every eight seconds.
const SILENCE: Duration = Duration::from_secs(60);
/// How long a session may leave its data unread.
const UNREAD: Duration = Duration::from_secs(10);
/// The size of a read from the router, in bytes.
const READ_AT_A_TIME: usize = 4 * 1024;

/// The rate limit of a session in bytes: a body of the maximum size at once, and as much every two seconds.
const BYTES: Allowance = Allowance { burst: 4 * 1024 * 1024, each_second: 512 * 1024 };
/// The rate limit of a session in messages.
const MESSAGES: Allowance = Allowance { burst: 4_000, each_second: 1_000 };

/// The reason for the end of a connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("the connection broke")]
    Broken(#[source] io::Error),
    #[error("it took too long")]
    TooLate(#[from] Elapsed),
    #[error("the router did not let it in")]
    Refused,
    #[error("its user joins too often")]
    TooOften,
    #[error("the router is not open")]
    NoRouter,
    #[error("its user is at another router")]
    Elsewhere,
    #[error("it was sent away for others")]
    SentAway,
}

/// Serves `stream` from its first byte to its last.
pub(super) async fn serve(
    shared: &Arc<Shared>,
    guest: &mut Guest,
    turn: oneshot::Receiver<()>,
    stream: TcpStream,
    acceptor: Option<&TlsAcceptor>,
) -> Result<(), Ended> {
    let arrived = timeout(ARRIVAL, async {
        let mut stream = greet(stream, acceptor).await.map_err(Ended::Broken)?;
        let first = read(&mut stream).await?;
        let id = Wire::first(&first.words()).map_err(Ended::Fault)?;
        Ok::<_, Ended>((stream, first, id))
    });
    let (mut stream, first, id) = arrived.await??;
    guest.spoke();
    timeout(TURN, turn).await?.map_err(|_gone| Ended::SentAway)?;
    let route = guest.route(id).ok_or(Ended::NoRouter)?;
    let mut router = route.connect().await.map_err(Ended::Broken)?;
    timeout(JOINING, join(guest, &mut stream, &mut router, &first, id)).await??;
    forward(shared, stream, router).await
}

/// Lets the router authenticate the user of `stream`.
async fn join(
    guest: &mut Guest,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    router: &mut (impl AsyncRead + AsyncWrite + Unpin),
    first: &Batch,
    id: SessionId,
) -> Result<(), Ended> {
    write(router, first.bytes()).await?;
    let answer = read(router).await?;
    write(stream, answer.bytes()).await?;
    if Wire::answer(&answer.words()) != Answer::GoOn {
        return Err(Ended::Refused);
    }
    let opening = read(stream).await?;
    let user = Wire::opening(&opening.words())?;
    if !guest.may_try(&user) {
        return Err(Ended::TooOften);
    }
    if guest.is_elsewhere(id, &user) {
        return Err(Ended::Elsewhere);
    }
    write(router, opening.bytes()).await?;
    let answer = read(router).await?;
    if Wire::answer(&answer.words()) != Answer::LetIn {
        write(stream, answer.bytes()).await?;
        return Err(Ended::Refused);
    }
    match guest.joined(user) {
        Welcome::In => write(stream, answer.bytes()).await,
        Welcome::TooOften => Err(Ended::TooOften),
    }
}

/// Forwards in both directions until one of them ends.
async fn forward(
    shared: &Shared,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<(), Ended> {
    let (from_device, to_device) = split(stream);
    let (from_router, to_router) = split(router);
    tokio::select! {
        ended = up(shared, from_device, to_router) => ended,
        ended = down(from_router, to_device) => ended,
    }
}

async fn up(
    shared: &Shared,
    mut device: impl AsyncRead + Unpin,
    mut router: impl AsyncWrite + Unpin,
) -> Result<(), Ended> {
    let mut wire = Wire::default();
    let mut bytes = Purse::full(BYTES, shared.now());
    let mut messages = Purse::full(MESSAGES, shared.now());
    loop {
        let batch = timeout(SILENCE, read(&mut device)).await??;
        let heard = wire.hear(&batch.words())?;
        write(&mut router, batch.bytes()).await?;
        let now = shared.now();
        let length = u32::try_from(batch.bytes().len()).unwrap_or(u32::MAX);
        let wait = bytes.spend(length, now).max(messages.spend(heard, now));
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

async fn down(
    mut router: impl AsyncRead + Unpin,
    mut device: impl AsyncWrite + Unpin,
) -> Result<(), Ended> {
    let mut buffer = vec![0; READ_AT_A_TIME];
    loop {
        let read = router.read(&mut buffer).await.map_err(Ended::Broken)?;
        let Some(sent) = buffer.get(..read).filter(|sent| !sent.is_empty()) else {
            let _late = timeout(Duration::from_secs(1), device.shutdown()).await;
            return Ok(());
        };
        timeout(UNREAD, write(&mut device, sent)).await??;
    }
}

/// Returns a batch with its length prefix.
struct Batch(ZSlice);

impl Batch {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    fn words(&self) -> ZSlice {
        let whole = self.0.as_slice().len();
        self.0.subslice(2..whole).unwrap_or_else(ZSlice::empty)
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Batch, Ended> {
    let mut prefix = [0; 2];
    stream.read_exact(&mut prefix).await.map_err(Ended::Broken)?;
    let length = wire::length(prefix)?;
    let mut batch = Vec::with_capacity(length + 2);
    batch.extend_from_slice(&prefix);
    let body = u64::try_from(length).unwrap_or(u64::from(BUFFER));
    let read = stream.take(body).read_to_end(&mut batch).await.map_err(Ended::Broken)?;
    if read < length {
        return Err(Ended::Broken(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(Batch(ZSlice::from(batch)))
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), Ended> {
    stream.write_all(bytes).await.map_err(Ended::Broken)?;
    stream.flush().await.map_err(Ended::Broken)
}
