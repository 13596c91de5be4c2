//! Files of models: an invalid file is refused as early as possible, an upload resumes after cuts, and models are found
//! by the names of a catalogue.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use link_protocol::{
    catalogue::Catalogue, deployment::DeploymentState, signed_document::Issue, signing::SigningKey,
};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    model_server::{Fault, ModelServer},
    program,
    wait::until,
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

use crate::people::{Person, Ran, another_account};

/// The size of a model whose upload takes a while, in bytes.
const LARGE: u64 = 256 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_model_is_refused_before_anything_is_sent() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let folder = tempfile::tempdir().unwrap();
    for (bytes, said, hint) in [
        (&b"abc"[..], "it has 3 bytes", "download the file again"),
        (b"PK\x03\x04 a zip archive of something", "like an archive", "unpack it"),
    ] {
        let file = folder.path().join("tiny.gguf");
        std::fs::write(&file, bytes).unwrap();
        let refused = owner.link(&["model", "add", file.to_str().unwrap()]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains("tiny.gguf` cannot be served"), "{refused:?}");
        assert!(refused.err.contains(said) && refused.err.contains(hint), "{refused:?}");
    }
    let models = backend.owner.models().await.unwrap();
    assert!(models.is_empty(), "{models:?}");
}

#[tokio::test]
async fn a_download_that_is_no_model_fails_with_what_it_is_and_leaves_nothing() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let page = b"<!doctype html><title>Accept the licence first</title>".to_vec();
    let server = ModelServer::start(page.clone(), Fault::None).await;
    let model = backend.model_at("page", &server.url, &page).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    let ended = backend.ended(deployment.deployment_id).await;
    assert_eq!(ended.state, DeploymentState::Failed);
    let reason = ended.reason.unwrap();
    assert!(reason.contains("it begins like a web page; take the address"), "{reason}");
    assert!(device.model_files().is_empty(), "{:?}", device.model_files());
}

/// Writes a model of one tensor that contains only zeros.
fn large(path: &Path) {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut head = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    head.extend([text("general.architecture"), vec![8, 0, 0, 0], text("llama")].concat());
    head.extend([text("weights"), vec![1, 0, 0, 0], (LARGE / 4).to_le_bytes().to_vec()].concat());
    head.extend([0; 12]);
    head.resize(head.len().next_multiple_of(32), 0);
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(&head).unwrap();
    file.set_len(head.len() as u64 + LARGE).unwrap();
}

fn add(person: &Person, file: &Path) -> Command {
    let mut command = Command::new(program::path("link"));
    command.args(["model", "add"]).arg(file).env("LINK_HOME", person.home.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits until the backend has a part of an upload and could resume it.
async fn something_is_kept(backend: &TestBackend) {
    let models = backend.data().join("models");
    until("something of the file to be kept", || async {
        let names = models.read_dir().ok()?.flatten().map(|entry| entry.file_name());
        names.into_iter().find(|name| name.to_string_lossy().ends_with(".json"))
    })
    .await;
}

fn ran(output: std::process::Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_goes_on_by_itself_when_its_backend_was_killed_in_the_middle() {
    let mut backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.gguf");
    large(&file);
    let child = add(&owner, &file).spawn().unwrap();
    something_is_kept(&backend).await;
    backend.kill();
    backend.restart().await;
    let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let ended = ran(ended.await.unwrap());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.matches("uploading 0 %").count() <= 1, "it began anew: {ended:?}");
    let models = backend.owner.models().await.unwrap();
    assert_eq!((models.len(), models[0].ready), (1, true), "{models:?}");
    assert!(models[0].facts.as_ref().is_some_and(|facts| facts.memory_bytes == LARGE));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_was_given_up_goes_on_when_it_is_asked_for_again() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.gguf");
    large(&file);
    let mut child = add(&owner, &file).spawn().unwrap();
    something_is_kept(&backend).await;
    child.kill().unwrap();
    let killed = child.wait().unwrap();
    let listed = owner.link(&["model", "list"]);
    assert!(killed.success() || listed.out.contains("incomplete"), "{listed:?}");
    let again = ran(add(&owner, &file).output().unwrap());
    assert_eq!(again.code, 0, "{again:?}");
    assert!(!again.err.contains("uploading 0 %"), "it began anew: {again:?}");
    let models = backend.owner.models().await.unwrap();
    assert_eq!((models.len(), models[0].ready), (1, true), "{models:?}");
}

/// Serves a catalogue as a backend does, and returns the address.
async fn publish(file: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let (mut first, mut line) = (String::new(), String::from("x"));
            stream.read_line(&mut first).await.unwrap();
            while !line.trim().is_empty() {
                line.clear();
                stream.read_line(&mut line).await.unwrap();
            }
            let is_it = first.contains(" /releases/catalogue.json ");
            let (status, body) =
                if is_it { ("200 OK", &file[..]) } else { ("404 Not Found", &b""[..]) };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        }
    });
    url
}

fn catalogue(serial: u64, memory_bytes: u64) -> Vec<u8> {
    catalogue_at("https://models.example/smol.gguf", "smol:135m", serial, memory_bytes)
}

fn catalogue_at(url: &str, name: &str, serial: u64, memory_bytes: u64) -> Vec<u8> {
    let document = json!({ "models": [{
        "name": name, "summary": "answers in short sentences", "licence": "Apache-2.0",
        "file_name": "smol.gguf", "url": url,
        "sha256": "0".repeat(64), "size_bytes": 1_048_576,
        "facts": { "architecture": "llama", "quantization": "Q4_K_M", "parameters": 135_000_000,
            "context_length": 2048, "memory_bytes": memory_bytes },
    }]});
    let document: Catalogue = serde_json::from_value(document).unwrap();
    let issue = Issue::new(serial, "2026-10-01T00:00:00Z".parse().unwrap(), document);
    serde_json::to_vec(&issue.seal(&SigningKey::from_seed(&[1; 32])).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_found_and_added_by_its_name_in_a_signed_catalogue() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let link = |words: &[&str], url: Option<&str>| {
        let mut command = Command::new(program::path("link"));
        command.args(words).env("LINK_HOME", owner.home.path()).stdin(Stdio::null());
        let key = SigningKey::from_seed(&[1; 32]).verifying().public_key.clone();
        command.env("LINK_DEV_RELEASE_KEYS", key);
        if let Some(url) = url {
            command.env("LINK_BACKEND_URL", url);
        }
        ran(command.output().unwrap())
    };
    let nowhere = link(&["model", "search"], None);
    assert!(nowhere.code != 0 && nowhere.err.contains("no catalogue of models"), "{nowhere:?}");

    let url = publish(catalogue(5, 1 << 20)).await;
    let found = link(&["model", "search", "SHORT", "apache"], Some(&url));
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.contains("smol:135m") && found.out.contains("Q4_K_M"), "{found:?}");
    let none = link(&["model", "search", "gpl"], Some(&url));
    assert!(none.out.contains("no such model"), "{none:?}");

    // The backend of the login has no catalogue, so the remembered one is used.
    let shown = link(&["model", "show", "smol:135m"], None);
    assert!(
        shown.out.contains("of the catalogue") && shown.out.contains("Apache-2.0"),
        "{shown:?}"
    );
    for _ in 0..2 {
        let added = link(&["model", "add", "smol:135m"], None);
        assert_eq!(added.code, 0, "{added:?}");
    }
    let models = backend.owner.models().await.unwrap();
    assert_eq!((models.len(), models[0].name.as_str()), (1, "smol:135m"));
    assert_eq!(models[0].url.as_deref(), Some("https://models.example/smol.gguf"));

    // An older, an altered and an unsigned catalogue are refused with a hint.
    let altered = String::from_utf8(catalogue(6, 1 << 20)).unwrap().replace("135m", "136m");
    for file in [catalogue(4, 1 << 20), altered.into_bytes(), b"{\"models\":[]}".to_vec()] {
        let refused = link(&["model", "search"], Some(&publish(file).await));
        assert_eq!(refused.code, 24, "{refused:?}");
        assert!(
            refused.err.contains("is refused") && refused.err.contains("it was not used"),
            "{refused:?}"
        );
    }
    let unknown = link(&["model", "add", "nothing-of-this-name"], None);
    assert!(unknown.code == 1 && unknown.err.contains("link model search"), "{unknown:?}");
    let url = publish(catalogue(7, 1 << 60)).await;
    let large = link(&["model", "search"], Some(&url));
    assert!(large.out.contains("too large for this machine"), "{large:?}");
}

/// A device whose releases come from a folder with a catalogue, and its owner.
struct Reader {
    backend: TestBackend,
    device: TestDevice,
    releases: tempfile::TempDir,
}

impl Reader {
    async fn new(backend: TestBackend) -> Self {
        let device = TestDevice::start(&backend).await;
        let releases = tempfile::tempdir().unwrap();
        let source = format!("file://{}", releases.path().display());
        let receipt = json!({ "source": source, "versions": [], "pointers": [], "folders": [] });
        std::fs::write(device.home().join("data/receipt.json"), receipt.to_string()).unwrap();
        Self { backend, device, releases }
    }

    fn publishes(&self, catalogue: Vec<u8>) {
        std::fs::write(self.releases.path().join("catalogue.json"), catalogue).unwrap();
    }

    /// Runs `link` in the device's home.
    fn link(&self, words: &[&str]) -> Ran {
        let mut command = self.device.link();
        let key = SigningKey::from_seed(&[1; 32]).verifying().public_key.clone();
        command
            .args(words)
            .current_dir(self.device.home())
            .env("LINK_DEV_RELEASE_KEYS", key)
            .env("LINK_BACKEND_URL", &self.backend.url)
            .env("LINK_ACCESS_TOKEN", self.backend.owner.access_token().expose())
            .stdin(Stdio::null());
        ran(command.output().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_an_own_model_then_one_of_the_catalogue_then_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("backend.toml");
    std::fs::write(&config, "[sharing]\naccounts = [\"bob\"]\n").unwrap();
    let backend = TestBackend::start_with(&["--config", config.to_str().unwrap()]).await;
    let bob = another_account(&backend, "bob@example.com");
    let reader = Reader::new(backend).await;
    // Four things of one name, of which only the file and the own model answer.
    let file = reader.device.home().join("smol");
    std::fs::write(&file, engines::model("tiny.gguf")).unwrap();
    let share = ["model", "add", file.to_str().unwrap(), "--name", "smol", "--shared"];
    assert_eq!(bob.link(&share).code, 0);
    reader.publishes(catalogue_at("https://models.example/smol", "smol", 1, 1 << 60));
    let own = reader.backend.upload("smol", engines::model("tiny.gguf")).await;

    let port = free_port().to_string();
    let run = || reader.link(&["run", "smol", "--port", &port, "Hello?"]);
    let ours = async || {
        let models = reader.backend.owner.models().await.unwrap().into_iter();
        models.filter(|model| model.owned).map(|model| model.model_id).collect::<Vec<_>>()
    };
    let answered = run();
    assert_eq!(answered.out, format!("{TINY_REPLY}\n"), "{answered:?}");
    assert_eq!(ours().await, [own.model_id]);

    // Without it, the catalogue has the name. The model of another account never has it alone.
    reader.link(&["model", "remove", "smol", "--wait", "--yes"]);
    let deleted = reader.link(&["model", "delete", "smol", "--yes"]);
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let refused = run();
    assert!(refused.code == 1 && refused.err.contains("the model needs about"), "{refused:?}");
    assert_eq!(ours().await, []);
    let shared = reader.link(&["model", "show", "bob/smol"]);
    assert!(shared.code == 0 && shared.out.contains("smol"), "{shared:?}");

    // Without it there too, the file has the name.
    reader.publishes(catalogue_at("https://models.example/smol", "other", 2, 1 << 60));
    let answered = run();
    assert_eq!(answered.out, format!("{TINY_REPLY}\n"), "{answered:?}");
    assert_eq!(ours().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_fit_is_refused_before_anything_is_sent_unless_it_is_meant() {
    let reader = Reader::new(TestBackend::start().await).await;
    let url = format!("https://127.0.0.1:{}/smol.gguf", free_port());
    reader.publishes(catalogue_at(&url, "smol", 1, 1 << 60));
    let refused = reader.link(&["run", "smol", "Hello?"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let message = "the model needs about 1.15 EB of memory, and this machine has";
    assert!(refused.err.contains(message) && refused.err.contains("--anyway"), "{refused:?}");
    assert!(reader.backend.owner.models().await.unwrap().is_empty());

    // The file at an address needs at least as much memory as it has bytes.
    let (url, asked) = a_huge_file().await;
    let refused = reader.link(&["run", &url, "Hello?"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains(message) && refused.err.contains("--anyway"), "{refused:?}");
    assert_eq!(*asked.lock().unwrap(), ["HEAD"], "nothing is downloaded");
    let added = reader.link(&["model", "add", &url, "--sha256", &"0".repeat(64)]);
    assert!(added.err.contains(&format!("note: {message}")), "{added:?}");
    assert!(reader.backend.owner.models().await.unwrap().is_empty());

    // It goes on to the download, for which nobody answers.
    let meant = reader.link(&["run", "smol", "--anyway", "Hello?"]);
    assert!(meant.err.contains(&format!("note: {message}")), "{meant:?}");
    assert!(meant.code == 1 && meant.err.contains("the server is unreachable"), "{meant:?}");
    assert_eq!(reader.backend.owner.models().await.unwrap().len(), 1);
}

/// A server of a file of 2^60 bytes. Returns its address, and the methods of the requests.
async fn a_huge_file() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/huge.gguf", listener.local_addr().unwrap());
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let method = line.split(' ').next().unwrap_or_default().to_owned();
            seen.lock().unwrap().push(method);
            while !line.trim().is_empty() {
                line.clear();
                stream.read_line(&mut line).await.unwrap();
            }
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 1_u64 << 60);
            stream.write_all(head.as_bytes()).await.unwrap();
        }
    });
    (url, asked)
}
