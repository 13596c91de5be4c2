//! A TCP relay whose link fails as links do: it freezes, or is cut on the device's side only.
//!
//! Frozen is what a cable that is pulled or a laptop that sleeps looks like: both ends stay
//! connected and nothing arrives. Cut is what a change of network looks like: the device knows at
//! once and connects anew, while the router still holds the old connection.

use std::{io, net::Ipv4Addr};

use anyhow::Context as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// A relay to one port of the loopback interface.
pub(crate) struct Relay {
    pub port: u16,
    fault: watch::Sender<Fault>,
}

/// What has happened to the relay's connections.
#[derive(Clone, Copy, Debug, Default)]
struct Fault {
    frozen: bool,
    /// Connections that are older than the last cut are lost.
    cuts: usize,
}

/// The end of a connection that bytes come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    Device,
    Router,
}

impl Relay {
    /// Starts relaying to `target`.
    pub(crate) async fn start(target: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("failed to bind the relay")?;
        let port = listener.local_addr().context("failed to read the relay's port")?.port();
        let (fault, watched) = watch::channel(Fault::default());
        tokio::spawn(async move {
            while let Ok((device, _)) = listener.accept().await {
                let Ok(router) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else {
                    return;
                };
                let (from_device, to_device) = device.into_split();
                let (from_router, to_router) = router.into_split();
                tokio::spawn(forward(Source::Device, from_device, to_router, watched.clone()));
                tokio::spawn(forward(Source::Router, from_router, to_device, watched.clone()));
            }
        });
        Ok(Self { port, fault })
    }

    /// Lets nothing through from now on, in either direction.
    pub(crate) fn freeze(&self) {
        self.fault.send_modify(|fault| fault.frozen = true);
    }

    /// Closes the device's end of every connection and keeps the router's; new ones are relayed.
    pub(crate) fn cut(&self) {
        self.fault.send_modify(|fault| fault.cuts += 1);
    }
}

async fn forward(
    source: Source,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    fault: watch::Receiver<Fault>,
) -> io::Result<()> {
    let (born, mut buffer) = (fault.borrow().cuts, vec![0; 16 * 1024]);
    loop {
        tokio::select! {
            count = from.read(&mut buffer) => {
                let count = count?;
                until(&fault, |fault| !fault.frozen).await;
                if count == 0 {
                    return Ok(());
                }
                to.write_all(&buffer[..count]).await?;
            }
            () = until(&fault, |fault| fault.cuts > born) => break,
        }
    }
    match source {
        Source::Device => drop(from),
        Source::Router => drop(to),
    }
    // The other half, the router's, stays open.
    std::future::pending().await
}

/// Waits until `holds`, or for ever when the relay is gone.
async fn until(fault: &watch::Receiver<Fault>, holds: impl FnMut(&Fault) -> bool) {
    let held = fault.clone().wait_for(holds).await.is_ok();
    if !held {
        std::future::pending::<()>().await;
    }
}
