//! The files that a backend publishes: pulled from a folder or a web server, verified, and served to everybody.

mod catalogue;

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use jiff::Timestamp;
use link_protocol::{
    catalogue::Catalogue,
    command::Sha256Hex,
    engine_index::{Accelerator, EngineBuild, EngineIndex},
    release::{Archive, Channel, Manifest, Package, SCHEMA, Statement},
    signed_document::Issue,
    signing::SigningKey,
};
use link_tests::{
    backend::TestBackend,
    program,
    release_server::{Fault, ReleaseServer},
    wait::until,
};
use reqwest::{Client, Method, StatusCode, header};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::people::Ran;

const ARCHIVE: &str = "link-1.0.0-x86_64-unknown-linux-gnu.tar.gz";
const ENGINE: &str = "llama-server-b1-linux-x86_64.tar.gz";
/// The size of an archive in bytes: enough for several chunks.
const ARCHIVE_BYTES: usize = 300_000;

#[tokio::test]
async fn what_was_pulled_is_served_whole_in_parts_and_by_its_tag() {
    let backend = TestBackend::start().await;
    let offer = Offer::new();
    offer.publish(1);
    let pulled = pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]);
    assert_eq!(pulled.code, 0, "{pulled:?}");
    assert!(
        pulled.out.contains("release 1.0.0 (1 archive)")
            && pulled.out.contains("an engine index (1 engine)")
            && pulled.out.contains("a model catalogue (1 model)"),
        "{pulled:?}"
    );

    let whole = offer.read(ARCHIVE);
    for name in ["manifest.json", "engines.json", "catalogue.json", ARCHIVE, ENGINE] {
        let answer = ask(&backend, Method::GET, name, &[]).await;
        assert_eq!(answer.status(), StatusCode::OK, "{name}");
        assert_eq!(answer.bytes().await.unwrap(), offer.read(name), "{name}");
    }
    let sums = ask(&backend, Method::GET, "SHA256SUMS", &[]).await.text().await.unwrap();
    assert!(sums.contains(&format!("{}  {ARCHIVE}\n", hash(&whole))), "{sums}");

    let head = ask(&backend, Method::HEAD, ARCHIVE, &[]).await;
    assert_eq!(head.headers()[header::CONTENT_LENGTH], ARCHIVE_BYTES.to_string().as_str());
    assert_eq!(head.headers()[header::CONTENT_TYPE], "application/gzip");
    let tag = head.headers()[header::ETAG].to_str().unwrap().to_owned();
    assert_eq!(tag, format!("\"{}\"", hash(&whole)));
    assert!(head.bytes().await.unwrap().is_empty());

    let same = ask(&backend, Method::GET, ARCHIVE, &[("if-none-match", &tag)]).await;
    assert_eq!(same.status(), StatusCode::NOT_MODIFIED);
    assert!(same.bytes().await.unwrap().is_empty());
    for (range, expected) in [
        ("bytes=0-9", 0..10),
        ("bytes=100000-", 100_000..ARCHIVE_BYTES),
        ("bytes=299999-400000", ARCHIVE_BYTES - 1..ARCHIVE_BYTES),
    ] {
        let part = ask(&backend, Method::GET, ARCHIVE, &[("range", range)]).await;
        assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT, "{range}");
        let place = format!("bytes {}-{}/{ARCHIVE_BYTES}", expected.start, expected.end - 1);
        assert_eq!(part.headers()[header::CONTENT_RANGE], place.as_str());
        assert_eq!(part.bytes().await.unwrap(), whole[expected], "{range}");
    }
    let other = [("range", "bytes=0-9"), ("if-range", "\"another\"")];
    assert_eq!(ask(&backend, Method::GET, ARCHIVE, &other).await.status(), StatusCode::OK);
    let beyond = ask(&backend, Method::GET, ARCHIVE, &[("range", "bytes=300000-")]).await;
    assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);
}

#[tokio::test]
async fn no_name_leads_out_of_the_folder_or_to_what_is_not_in_its_list() {
    let backend = TestBackend::start().await;
    let offer = Offer::new();
    let nothing = ask(&backend, Method::GET, "manifest.json", &[]).await;
    assert_eq!(nothing.status(), StatusCode::NOT_FOUND, "before the first pull");
    offer.publish(1);
    assert_eq!(pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]).code, 0);
    for name in [
        "../setup-token",
        "../../etc/passwd",
        "..%2fcurrent",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/current",
        "%2e%2e%2fcurrent",
        "..%5ccurrent",
        "%2fetc%2fpasswd",
        "%00",
        "manifest.json%00",
        "./manifest.json/..",
        ".files.json",
        ".lock",
        "current",
        "",
        "%ff",
        "link-9.9.9.tar.gz",
    ] {
        let head = raw(&backend, &format!("/releases/{name}")).await;
        let status = head.split_whitespace().nth(1).unwrap_or_default();
        assert!(["400", "404"].contains(&status), "{name}: {head}");
        assert!(!head.contains("root:") && !head.contains("lst_"), "{name}: {head}");
    }
}

#[tokio::test]
async fn the_installer_of_a_backend_knows_its_address_and_a_shell_reads_it() {
    let backend = TestBackend::start_with(&["--public-url", "https://link.example"]).await;
    let script = Client::new().get(format!("{}/install.sh", backend.url)).send().await.unwrap();
    assert_eq!(script.headers()[header::CONTENT_TYPE], "text/x-shellscript; charset=utf-8");
    let script = script.text().await.unwrap();
    assert!(script.contains("LINK_INSTALL_URL='https://link.example/releases'"));
    assert!(script.contains(": \"${LINK_BACKEND_URL:=https://link.example}\""));
    let mut shell = Command::new("sh").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), script.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
}

#[tokio::test]
async fn the_installer_for_windows_knows_the_address_of_its_backend() {
    let backend = TestBackend::start_with(&["--public-url", "https://link.example"]).await;
    let script = Client::new().get(format!("{}/install.ps1", backend.url)).send().await.unwrap();
    assert_eq!(script.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
    assert_eq!(script.headers()[header::CACHE_CONTROL], "no-cache");
    let script = script.text().await.unwrap();
    assert!(script.contains("$env:LINK_INSTALL_URL = 'https://link.example/releases'"));
    assert!(script.contains("$env:LINK_BACKEND_URL = 'https://link.example'"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("install.ps1");
    std::fs::write(&file, script).unwrap();
    let linter = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/lint-powershell");
    let ran = Command::new(linter).arg(&file).output().unwrap();
    if ran.status.code() != Some(10) {
        assert!(ran.status.success(), "{ran:?}");
    }
}

// Each published file, with each fault of a mirror: the served files do not change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_mirror_altered_cut_or_made_older_changes_nothing() {
    let backend = TestBackend::start().await;
    let offer = Offer::new();
    offer.publish(5);
    assert_eq!(pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]).code, 0);
    let before = served(&backend, &offer).await;
    offer.publish(6);
    let (altered, missing, older) = (24, 12, 25);
    for (name, fault, code) in [
        (ARCHIVE, Fault::CutEvery(1000), missing),
        (ARCHIVE, Fault::Short, 22),
        (ARCHIVE, Fault::Long, 22),
        (ARCHIVE, Fault::Page, 22),
        (ARCHIVE, Fault::Endless, 22),
        (ARCHIVE, Fault::Status(503), missing),
        (ARCHIVE, Fault::Redirect, missing),
        (ENGINE, Fault::Short, 22),
        ("manifest.json", Fault::Page, missing),
        ("manifest.json", Fault::Short, missing),
        ("engines.json", Fault::Page, altered),
        ("engines.json", Fault::Endless, 22),
        ("catalogue.json", Fault::Short, altered),
        ("catalogue.json", Fault::Status(500), missing),
    ] {
        let mirror = ReleaseServer::start(&offer.folder(), name, fault).await;
        let pulled = pull(&backend, &offer, &mirror.url, &[]);
        assert_eq!(pulled.code, code, "{name} {fault:?}: {pulled:?}");
        assert!(pulled.err.starts_with("link-backend: "), "{name} {fault:?}: {pulled:?}");
        // The redirect leads to plain http, so it is not followed.
        assert!(fault != Fault::Redirect || pulled.err.contains("302"), "{pulled:?}");
        assert_eq!(served(&backend, &offer).await, before, "{name} {fault:?}");
    }
    for (name, from_text, to) in [
        ("manifest.json", "1.0.0", "1.0.1"),
        ("engines.json", "MIT", "BSD"),
        ("catalogue.json", "smol", "smal"),
    ] {
        let good = fs::read_to_string(offer.folder().join(name)).unwrap();
        fs::write(offer.folder().join(name), good.replace(from_text, to)).unwrap();
        let pulled = pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]);
        assert_eq!(pulled.code, altered, "{name}: {pulled:?}");
        fs::write(offer.folder().join(name), good).unwrap();
    }
    offer.publish(4);
    let pulled = pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]);
    assert!(pulled.code == older && pulled.err.contains("--allow-older"), "{pulled:?}");
    assert_eq!(served(&backend, &offer).await, before);
    let allowed = pull(&backend, &offer, offer.folder().to_str().unwrap(), &["--allow-older"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert_ne!(served(&backend, &offer).await, before);
}

#[tokio::test]
async fn a_pull_that_is_killed_leaves_what_is_served_and_the_next_one_ends_it() {
    let backend = TestBackend::start().await;
    let offer = Offer::new();
    offer.publish(1);
    assert_eq!(pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]).code, 0);
    let before = served(&backend, &offer).await;
    offer.publish(2);
    let slow = ReleaseServer::start(&offer.folder(), ARCHIVE, Fault::Slow).await;
    let mut killed = command(&backend, &offer, &slow.url, &[]).spawn().unwrap();
    let part = backend.data().join("releases/.new").join(ARCHIVE);
    until("the archive to arrive", async || part.exists().then_some(())).await;
    let second = pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]);
    assert_eq!(second.code, 15, "one at a time: {second:?}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(part.exists());
    assert_eq!(served(&backend, &offer).await, before);
    assert_eq!(pull(&backend, &offer, offer.folder().to_str().unwrap(), &[]).code, 0);
    assert_ne!(served(&backend, &offer).await, before);
    assert!(!backend.data().join("releases/.new").exists());
}

#[tokio::test]
async fn a_backend_pulls_from_another_backend() {
    let (first, second) = (TestBackend::start().await, TestBackend::start().await);
    let offer = Offer::new();
    offer.publish(1);
    assert_eq!(pull(&first, &offer, offer.folder().to_str().unwrap(), &[]).code, 0);
    let pulled = pull(&second, &offer, &format!("{}/releases", first.url), &["--json"]);
    assert_eq!(pulled.code, 0, "{pulled:?}");
    let said: serde_json::Value = serde_json::from_str(&pulled.out).unwrap();
    assert_eq!((&said["version"], &said["models"]), (&"1.0.0".into(), &1.into()), "{said}");
    assert_eq!(served(&first, &offer).await, served(&second, &offer).await);
    let stranger =
        Offer { key: SigningKey::from_seed(&[9; 32]), dir: tempfile::tempdir().unwrap() };
    let refused = pull(&second, &stranger, &format!("{}/releases", first.url), &[]);
    assert_eq!(refused.code, 24, "{refused:?}");
}

/// A folder with a release, an engine index and a catalogue, and the key that signed them.
struct Offer {
    dir: tempfile::TempDir,
    key: SigningKey,
}

impl Offer {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), key: SigningKey::from_seed(&[1; 32]) }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder().join(name)).unwrap()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder().join(name), content).unwrap();
    }

    /// The path of a file with the public key.
    fn key_file(&self) -> PathBuf {
        self.write("key.pub", &self.key.verifying().public_key);
        self.folder().join("key.pub")
    }

    /// Publishes the three documents with the same number, which is also in their archives.
    fn publish(&self, number: u64) {
        let (archive, engine) = (content(number, ARCHIVE_BYTES), content(number, 5_000));
        self.write(ARCHIVE, &archive);
        self.write(ENGINE, &engine);
        let manifest = Statement::Manifest(Manifest {
            schema: SCHEMA,
            version: "1.0.0".parse().unwrap(),
            channel: Channel::Stable,
            released_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH,
            counter: number,
            archives: vec![Archive {
                target: "x86_64-unknown-linux-gnu".to_owned(),
                package: Package::Everything,
                name: ARCHIVE.parse().unwrap(),
                size_bytes: archive.len() as u64,
                sha256: hash(&archive),
            }],
        });
        let signed = self.key.seal_release(&manifest);
        self.write("manifest.json", serde_json::to_vec(&signed).unwrap());
        let index = EngineIndex {
            builds: vec![EngineBuild {
                engine: "llama-server".to_owned(),
                build: "b1".to_owned(),
                system: "linux".to_owned(),
                processor: "x86_64".to_owned(),
                accelerators: vec![Accelerator::Cpu],
                needs: Vec::new(),
                file: ENGINE.parse().unwrap(),
                url: None,
                size_bytes: engine.len() as u64,
                unpacked_bytes: 1,
                sha256: hash(&engine),
                licence: "MIT".to_owned(),
                obtained: None,
                ran: false,
            }],
        };
        let signed = Issue::new(number, Timestamp::UNIX_EPOCH, index).seal(&self.key).unwrap();
        self.write("engines.json", serde_json::to_vec(&signed).unwrap());
        self.catalogue(number, "https://models.example/smol.gguf", b"no file");
    }

    /// Publishes a catalogue with one model.
    fn catalogue(&self, serial: u64, url: &str, file: &[u8]) {
        let catalogue: Catalogue = serde_json::from_value(serde_json::json!({ "models": [{
            "name": "smol:135m", "summary": "answers in short sentences", "licence": "Apache-2.0",
            "file_name": "smol.gguf", "url": url, "sha256": hash(file), "size_bytes": file.len(),
            "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 1 << 20 },
        }]}))
        .unwrap();
        let signed = Issue::new(serial, Timestamp::UNIX_EPOCH, catalogue).seal(&self.key).unwrap();
        self.write("catalogue.json", serde_json::to_vec(&signed).unwrap());
    }
}

fn content(number: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(31) ^ (at >> 8) ^ number) as u8).collect()
}

fn hash(bytes: &[u8]) -> Sha256Hex {
    Sha256Hex::from_digest(&Sha256::digest(bytes))
}

fn command(backend: &TestBackend, offer: &Offer, place: &str, options: &[&str]) -> Command {
    let mut command = Command::new(program::path("link-backend"));
    command.args(["releases", "pull", place, "--trust"]).arg(offer.key_file());
    command.arg("--data").arg(backend.data()).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn pull(backend: &TestBackend, offer: &Offer, place: &str, options: &[&str]) -> Ran {
    let output = command(backend, offer, place, options).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

async fn ask(
    backend: &TestBackend,
    method: Method,
    name: &str,
    headers: &[(&str, &str)],
) -> reqwest::Response {
    let url = format!("{}/releases/{name}", backend.url);
    let mut request = Client::new().request(method, url).timeout(Duration::from_secs(30));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

/// All served files, by their path, with their checksums.
async fn served(backend: &TestBackend, offer: &Offer) -> BTreeMap<String, Sha256Hex> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(offer.folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let answer = ask(backend, Method::GET, &name, &[]).await;
        if answer.status() == StatusCode::OK {
            found.insert(name, hash(&answer.bytes().await.unwrap()));
        }
    }
    found
}

/// Requests a path exactly as written: no client normalises it.
async fn raw(backend: &TestBackend, path: &str) -> String {
    let address = backend.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
