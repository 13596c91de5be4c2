//! TLS at the gate, with the router's certificate.

use std::{io, sync::Arc};

use anyhow::Context as _;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use super::super::certificates::Certificates;

/// A connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Returns the TLS acceptor for `certificates`.
pub(super) fn acceptor(certificates: &Certificates) -> anyhow::Result<TlsAcceptor> {
    let chain = CertificateDer::pem_slice_iter(certificates.chain.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .context("the certificate of zenoh cannot be read")?;
    let key = PrivateKeyDer::from_pem_slice(certificates.key.expose().as_bytes())
        .context("the private key of zenoh cannot be read")?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the certificate of zenoh and its private key do not fit")?;
    // A device never resumes a TLS session, so tickets are of no use.
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Performs the TLS handshake with a new connection.
pub(super) async fn greet(
    stream: TcpStream,
    acceptor: Option<&TlsAcceptor>,
) -> io::Result<Box<dyn Stream>> {
    stream.set_nodelay(true)?;
    match acceptor {
        Some(acceptor) => Ok(Box::new(acceptor.accept(stream).await?)),
        None => Ok(Box::new(stream)),
    }
}
