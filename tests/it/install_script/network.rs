//! Downloads over TLS and through a proxy: an untrusted certificate and a redirect to plain http are
//! refused.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use link_protocol::key::{EnrolmentKey, KeyKind};
use link_tests::{
    device::free_port,
    internet::{Internet, Validity},
    program::{self, Running},
    release_server::{Fault, ReleaseServer},
    wait::until,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use super::{
    release::archive,
    scratch::{Scratch, run, which},
};

/// An OpenSSL server, with a certificate that clients trust only if configured.
struct TlsServer {
    url: String,
    folder: PathBuf,
    _running: Running,
}

// Holds: S4.4-8b
#[tokio::test(flavor = "multi_thread")]
async fn over_tls_the_certificate_is_verified_and_no_redirect_leads_out_of_it() {
    let scratch = Scratch::new();
    let Some(server) = TlsServer::start(&scratch).await else { return };
    let plain = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let before = scratch.tree();
    for tool in ["curl", "wget"] {
        let Some(path) = scratch.path_with_only(tool) else { continue };
        let mut script = scratch.script(&["dash"], &server.url);
        script.env("PATH", path);
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(12), "{tool}, a certificate that nobody knows: {ran:?}");
        assert!(
            ran.stderr.contains("this machine does not know who issued its certificate"),
            "{tool}: {ran:?}"
        );

        server.is_trusted_by(&mut script);
        server.answer("SHA256SUMS", "302 Found", &format!("Location: {}/SHA256SUMS", plain.url));
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(12), "{tool}, a redirect to plain HTTP: {ran:?}");
        assert_eq!(plain.requests(""), 0, "{tool}");
        assert!(scratch.tree() == before, "{tool}: {:?}", scratch.tree().keys());

        server.serve(&scratch.release.join("SHA256SUMS"));
        server.serve(&archive(&scratch.release));
        server.answer("LATEST", "404 Not Found", "");
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
        scratch.uninstall();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_is_asked_for_what_is_far_and_not_for_what_is_here() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, "", Fault::None).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let (asked, mut was_asked) = tokio::sync::mpsc::unbounded_channel();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            asked.send(refuse(stream).await).unwrap();
        }
    });
    for tool in ["curl", "wget"] {
        let Some(path) = scratch.path_with_only(tool) else { continue };
        let mut script = scratch.script(&["dash"], "https://release.example/stable");
        script.env("PATH", path).env("https_proxy", &proxy).env("http_proxy", &proxy);
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(12), "{tool}: {ran:?}");
        let line = was_asked.recv().await.unwrap();
        assert!(line.starts_with("CONNECT release.example:443 "), "{tool}: {line}");
        assert!(ran.stderr.contains("https_proxy=http://NAME:PASSWORD@"), "{tool}: {ran:?}");
        while was_asked.try_recv().is_ok() {}

        let ran = run(script.env("LINK_INSTALL_URL", &server.url));
        assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
        assert!(was_asked.try_recv().is_err(), "{tool} asked the proxy");
        scratch.uninstall();
    }
    task.abort();
}

#[test]
fn digits_of_an_address_are_not_the_answer_of_a_proxy() {
    let scratch = Scratch::new();
    let ran = scratch.install("http://127.0.0.1:4070");
    assert_eq!(ran.code, Some(12), "{ran:?}");
    assert!(ran.stderr.contains("4070") && !ran.stderr.contains("the proxy asks"), "{ran:?}");
}

/// With a clock that is years off, every certificate appears invalid like this one.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_does_not_count_now_is_a_matter_of_the_clock() {
    let scratch = Scratch::new();
    let Some(server) = TlsServer::start_until(&scratch, Some("20200101000000Z")).await else {
        return;
    };
    for tool in ["curl", "wget"] {
        let Some(path) = scratch.path_with_only(tool) else { continue };
        let mut script = scratch.script(&["dash"], &server.url);
        server.is_trusted_by(script.env("PATH", path));
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(12), "{tool}: {ran:?}");
        assert!(ran.stderr.contains("correct the clock"), "{tool}: {ran:?}");
    }
}

/// `link update` has TLS and a proxy of its own, not those of curl.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_tells_a_proxy_a_clock_and_an_issuer_apart() {
    const NAME: &str = "release.example";
    let scratch = Scratch::new();
    let ran = scratch.install(&scratch.file_url());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(scratch.link(&["stop"]).code, Some(0));
    let receipt = scratch.link_home().join("data/receipt.json");
    let text = std::fs::read_to_string(&receipt).unwrap();
    let text = text.replace(&scratch.file_url(), &format!("https://{NAME}/stable"));
    std::fs::write(&receipt, text).unwrap();

    let update = |proxy: &str, authority: Option<&Path>| {
        let mut update = scratch.command(&["update"]);
        update.env("HTTPS_PROXY", proxy).env_remove("SSL_CERT_FILE");
        update.env("LINK_DEV_RELEASE_KEYS", scratch.public_key());
        update.envs(authority.map(|file| ("SSL_CERT_FILE", file)));
        run(&mut update)
    };
    let served = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&scratch.release, served.path().join("stable")).unwrap();
    let server = ReleaseServer::start(served.path(), "", Fault::None).await;
    let authority = scratch.path().join("authority.pem");
    for (validity, is_trusted, says) in [
        (Validity::Now, false, "does not trust the issuer of its certificate; if a proxy"),
        (Validity::Past, true, "not valid at this machine's time; correct the clock"),
        (Validity::Future, true, "not valid at this machine's time; correct the clock"),
    ] {
        let internet = Internet::start_with(&[NAME], &authority, validity).await;
        internet.lead(NAME, &server.url);
        let ran = update(&internet.proxy, is_trusted.then_some(authority.as_path()));
        assert_eq!(ran.code, Some(12), "{validity:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{validity:?}: {ran:?}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let refusing = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            refuse(stream).await;
        }
    });
    let ran = update(&proxy, Some(&authority));
    assert_eq!(ran.code, Some(12), "{ran:?}");
    assert!(ran.stderr.contains("give them in HTTPS_PROXY"), "{ran:?}");
    refusing.abort();
    // Nothing else was wrong.
    let internet = Internet::start(&[NAME], &authority).await;
    internet.lead(NAME, &server.url);
    let ran = update(&internet.proxy, Some(&authority));
    assert!(ran.code == Some(0) && ran.stderr.contains("there is nothing to do"), "{ran:?}");
}

#[test]
fn plain_http_is_for_this_machine_alone() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for url in [
        "http://release.example",
        "http://127.0.0.1.release.example",
        "http://127.0.0.1:80@release.example",
        "ftp://release.example",
    ] {
        let ran = scratch.install(url);
        assert_eq!(ran.code, Some(12), "{ran:?}");
        assert!(ran.stderr.contains("releases are fetched"), "{ran:?}");
        assert!(scratch.tree() == before, "{:?}", scratch.tree().keys());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_sends_no_key_to_a_backend_whose_certificate_nobody_knows() {
    let scratch = Scratch::new();
    let Some(server) = TlsServer::start(&scratch).await else { return };
    let home = tempfile::tempdir().unwrap();
    let key = EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]);
    let mut link = Command::new(program::path("link"));
    link.args(["register", "--backend", &server.url]);
    link.env("LINK_HOME", home.path()).env("LINK_REGISTRATION_KEY", key.expose());
    let ran = run(&mut link);
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("certificate"), "{ran:?}");
    assert!(!home.path().join("state/identity.json").exists());
    // The server answers clients that trust it, so the refusal was the command's own.
    server.answer("ready", "200 OK", "");
    let mut curl = Command::new("curl");
    curl.args(["-fsS", &format!("{}/ready", server.url), "--cacert"]);
    let ran = run(curl.arg(server.folder.join("certificate")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

impl TlsServer {
    async fn start(scratch: &Scratch) -> Option<Self> {
        Self::start_until(scratch, None).await
    }

    /// Starts a server. With `end`, its certificate expired at that time.
    async fn start_until(scratch: &Scratch, end: Option<&str>) -> Option<Self> {
        let Some(openssl) = which("openssl") else {
            eprintln!("skipped: openssl is not installed");
            return None;
        };
        let folder = scratch.path().join("tls");
        std::fs::create_dir(&folder).unwrap();
        let mut certify = Command::new(&openssl);
        certify.current_dir(&folder).args(["req", "-x509", "-nodes", "-newkey", "rsa:2048"]);
        certify.args(["-keyout", "key", "-out", "certificate", "-subj", "/CN=localhost"]);
        let ran = run(certify.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        if let Some(end) = end {
            // The certificate is signed again, by its own key.
            let line = "set -e; : >index; echo 01 >serial; printf '[ca]\ndefault_ca=a\n[a]\n\
                        database=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\n\
                        policy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n' >conf; \
                        openssl req -new -key key -subj /CN=localhost -out request \
                          -addext subjectAltName=DNS:localhost,IP:127.0.0.1; \
                        openssl ca -batch -notext -config conf -selfsign -keyfile key \
                          -in request -out certificate -startdate 20190101000000Z -enddate $0";
            let mut expire = Command::new("sh");
            let ran = run(expire.current_dir(&folder).args(["-c", line, end]));
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
        let address = format!("127.0.0.1:{}", free_port());
        let mut serve = Command::new(openssl);
        serve.current_dir(&folder).args(["s_server", "-quiet", "-HTTP", "-accept", &address]);
        serve.args(["-cert", "certificate", "-key", "key"]);
        let running = Running::start(serve, &folder.join("log"));
        until("the server", || async { TcpStream::connect(&address).await.ok() }).await;
        Some(Self { url: format!("https://{address}"), folder, _running: running })
    }

    /// Makes the download programs trust the certificate.
    fn is_trusted_by(&self, script: &mut Command) {
        let certificate = self.folder.join("certificate");
        let wgetrc = self.folder.join("wgetrc");
        std::fs::write(&wgetrc, format!("ca_certificate = {}\n", certificate.display())).unwrap();
        script.env("CURL_CA_BUNDLE", certificate).env("WGETRC", wgetrc);
    }

    fn serve(&self, file: &Path) {
        let name = file.file_name().unwrap();
        let mut answer = b"HTTP/1.0 200 OK\r\n\r\n".to_vec();
        answer.extend(std::fs::read(file).unwrap());
        std::fs::write(self.folder.join(name), answer).unwrap();
    }

    fn answer(&self, name: &str, status: &str, header: &str) {
        let answer = format!("HTTP/1.0 {status}\r\n{header}\r\n\r\n");
        std::fs::write(self.folder.join(name), answer).unwrap();
    }
}

const PASSWORD_WANTED: &[u8] = b"HTTP/1.1 407 Proxy Authentication Required\r\n\
    proxy-authenticate: Basic realm=\"proxy\"\r\ncontent-length: 0\r\n\r\n";

/// Reads a proxy request, and refuses it with a request for a password.
async fn refuse(stream: TcpStream) -> String {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    drop(stream.read_line(&mut line).await);
    drop(stream.write_all(PASSWORD_WANTED).await);
    line
}
