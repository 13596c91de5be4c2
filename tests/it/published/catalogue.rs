//! `link run NAME`: from a name in the catalogue to an answer of the real engine.

use std::{net::SocketAddr, path::Path, process::Command, sync::Arc};

use axum::{Router, extract::State, routing::get};
use link_tests::{
    engines::{self, TINY_REPLY},
    internet,
    person::{Person, Said},
    program,
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use super::Offer;

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_the_published_catalogue_leads_to_an_answer() {
    let ann = Person::new();
    let offer = Offer::new();
    let file = engines::model("tiny.gguf");
    let authority = ann.place().join("authority.pem");
    let url = serve(file.clone(), &authority).await;
    offer.catalogue(1, &format!("{url}/smol.gguf"), &file);

    let link = |words: &[&str]| {
        let mut command = ann.link(words);
        command.env("SSL_CERT_FILE", &authority);
        command.env("LINK_DEV_RELEASE_KEYS", &offer.key.verifying().public_key);
        Said::from(command.output().unwrap())
    };
    let up = link(&["up", "--port", &ann.backend_port().to_string()]);
    assert_eq!(up.code, 0, "{up:?}");
    let port = ann.model_port().to_string();
    let run = || link(&["run", "smol:135m", "--port", &port, "Hello?"]);

    // Before anything is published, the error says so and names the address.
    let nowhere = run();
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    let place = format!("http://127.0.0.1:{}/releases/catalogue.json", ann.backend_port());
    let said = format!("no catalogue of models is published at {place}");
    assert_eq!(nowhere.err.matches(&said).count(), 1, "{nowhere:?}");

    pull(&ann, &offer);
    let answer = run();
    assert_eq!(answer.out, format!("{TINY_REPLY}\n"), "{answer:?}");
    assert!(answer.err.contains("`smol:135m` of the catalogue"), "{answer:?}");
    let again = run();
    assert_eq!(again.out, format!("{TINY_REPLY}\n"), "{again:?}");
    assert!(!again.err.contains("of the catalogue"), "it is served already: {again:?}");
}

/// Publishes the catalogue at the person's own backend.
fn pull(person: &Person, offer: &Offer) {
    let mut command = Command::new(program::path("link-backend"));
    command.args(["releases", "pull"]).arg(offer.folder()).arg("--trust").arg(offer.key_file());
    let pulled = command.arg("--data").arg(person.place().join("backend-data")).output().unwrap();
    assert!(pulled.status.success(), "{pulled:?}");
}

/// Serves `file` over https for every path, with a certificate whose authority is written to `authority`.
async fn serve(file: Vec<u8>, authority: &Path) -> String {
    let read = async |State(file): State<Arc<Vec<u8>>>| file.as_ref().clone();
    let router = Router::new().route("/{*name}", get(read)).with_state(Arc::new(file));
    let plain = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let behind = plain.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(plain, router).await.unwrap() });
    let acceptor = internet::acceptor(&["localhost"], authority);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(stream).await else { return };
                if let Ok(mut server) = TcpStream::connect(behind).await {
                    let _either_may_hang_up = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    url
}
