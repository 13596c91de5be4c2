//! The servers outside a machine, which the machine reaches over https. All servers share one address and are selected
//! by host name.
//!
//! The socket is created inside the outer network and served by this process, so the servers run as in every other
//! test.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener as PlainListener},
    os::fd::AsFd as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{Router, extract::Path as UrlPath, http::StatusCode, routing::get};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

/// The address of the servers, which is also in `tests/machine/booted`.
const ADDRESS: ([u8; 4], u16) = ([198, 51, 100, 1], 443);

/// The servers. Dropping the value stops them.
#[derive(Debug)]
pub(super) struct Outside {
    tasks: [JoinHandle<()>; 2],
}

impl Outside {
    /// Serves the files of `release`, and forwards requests to `backend`, outside of the machine `name`.
    pub(super) async fn open(
        name: &str,
        folder: &Path,
        release: &Path,
        backend: SocketAddr,
    ) -> Self {
        let (files, serving) = serve_files(release.to_owned()).await;
        let servers = BTreeMap::from([
            ("get.example.test", files),
            // The host name in README.md.
            ("releases.example", files),
            ("backend.example.test", backend),
        ]);
        let acceptor = acceptor(folder);
        let listener = listen_outside(format!("/run/netns/{name}-outside"));
        let listener = TcpListener::from_std(listener).unwrap();
        let servers = Arc::new(servers);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, servers) = (acceptor.clone(), servers.clone());
                tokio::spawn(async move { forward(stream, &acceptor, &servers).await });
            }
        });
        Self { tasks: [accepting, serving] }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Terminates TLS and forwards the bytes to the server that the client named.
async fn forward(
    stream: TcpStream,
    acceptor: &TlsAcceptor,
    servers: &BTreeMap<&'static str, SocketAddr>,
) {
    let Ok(mut client) = acceptor.accept(stream).await else { return };
    let Some(address) = client.get_ref().1.server_name().and_then(|name| servers.get(name)) else {
        return;
    };
    if let Ok(mut server) = TcpStream::connect(address).await {
        let _either_may_hang_up = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// Serves the files that are in `folder` at the time of a request.
async fn serve_files(folder: PathBuf) -> (SocketAddr, JoinHandle<()>) {
    let read = async move |UrlPath(name): UrlPath<String>| {
        tokio::fs::read(folder.join(name)).await.map_err(|_| StatusCode::NOT_FOUND)
    };
    let router = Router::new().route("/{*name}", get(read));
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

fn acceptor(folder: &Path) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(folder.join("outside.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("outside.key")).unwrap();
    let configuration = ServerConfig::builder().with_no_client_auth();
    TlsAcceptor::from(Arc::new(configuration.with_single_cert(vec![certificate], key).unwrap()))
}

/// Opens a listener in the network namespace `network`. A socket belongs to the network namespace of the thread that
/// created it.
fn listen_outside(network: String) -> PlainListener {
    let listen = move || {
        let network = std::fs::File::open(network).unwrap();
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        let listener = PlainListener::bind(SocketAddr::from(ADDRESS)).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    };
    std::thread::spawn(listen).join().unwrap()
}
