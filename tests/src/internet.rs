//! An internet of a few names: a proxy that leads each name over TLS to a server on this machine.
//!
//! Programs get the proxy in `HTTPS_PROXY` and the authority of its certificates in `SSL_CERT_FILE`. Any other name is
//! unreachable, so no test depends on the network of the machine.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
};

use rcgen::{
    BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

/// The proxy. Dropping the value stops it.
pub struct Internet {
    /// The value of `HTTPS_PROXY`.
    pub proxy: String,
    sites: Sites,
    task: JoinHandle<()>,
}

/// When the certificates of the names count.
#[derive(Clone, Copy, Debug)]
pub enum Validity {
    Now,
    Past,
    Future,
}

/// The servers behind the names.
type Sites = Arc<Mutex<BTreeMap<String, SocketAddr>>>;

impl Internet {
    /// Starts the proxy for `names`, which lead nowhere yet. Writes the authority of their certificates to `authority`.
    ///
    /// # Panics
    /// Panics if no port is free or the file cannot be written.
    pub async fn start(names: &[&str], authority: &Path) -> Self {
        Self::start_with(names, authority, Validity::Now).await
    }

    /// Starts the proxy for `names` like [`Internet::start`], with certificates that count at another time.
    ///
    /// # Panics
    /// Panics if no port is free or the file cannot be written.
    pub async fn start_with(names: &[&str], authority: &Path, validity: Validity) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let (sites, acceptor) = (Sites::default(), acceptor_with(names, authority, validity));
        let known = Arc::clone(&sites);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (known, acceptor) = (Arc::clone(&known), acceptor.clone());
                tokio::spawn(async move { drop(connect(stream, &known, &acceptor).await) });
            }
        });
        Self { proxy, sites, task }
    }

    /// Lets `name` lead to the server at `url`, which has the form `http://ADDRESS:PORT`.
    ///
    /// # Panics
    /// Panics if `url` has another form.
    pub fn lead(&self, name: &str, url: &str) {
        let server = url.trim_start_matches("http://").parse().unwrap();
        self.sites.lock().unwrap().insert(name.to_owned(), server);
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers one request of the form `CONNECT NAME:443`.
async fn connect(stream: TcpStream, sites: &Sites, tls: &TlsAcceptor) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut request, mut line) = (String::new(), String::new());
    stream.read_line(&mut request).await?;
    while stream.read_line(&mut line).await? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let name = request.strip_prefix("CONNECT ").and_then(|rest| rest.split_once(":443 "));
    let known = name.and_then(|(name, _)| sites.lock().unwrap().get(name).copied());
    let Some(server) = known else {
        return stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await;
    };
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    let mut client = tls.accept(stream).await?;
    let mut server = TcpStream::connect(server).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// Returns a TLS server's side for `names`. Writes the authority of its certificate to `authority`.
///
/// # Panics
/// Panics if the file cannot be written.
#[must_use]
pub fn acceptor(names: &[&str], authority: &Path) -> TlsAcceptor {
    acceptor_with(names, authority, Validity::Now)
}

fn acceptor_with(names: &[&str], authority: &Path, validity: Validity) -> TlsAcceptor {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    std::fs::write(authority, params.self_signed(&authority_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(params, authority_key);
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut server = CertificateParams::new(names).unwrap();
    match validity {
        Validity::Now => {}
        Validity::Past => server.not_after = date_time_ymd(2020, 1, 1),
        Validity::Future => server.not_before = date_time_ymd(3000, 1, 1),
    }
    let certificate = server.signed_by(&key, &issuer).unwrap().pem();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let configuration = ServerConfig::builder().with_no_client_auth();
    TlsAcceptor::from(Arc::new(configuration.with_single_cert(vec![certificate], key).unwrap()))
}
