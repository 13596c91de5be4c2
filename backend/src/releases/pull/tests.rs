//! A release is served if every part of it matches its signature; a wrong part changes nothing.

use std::{collections::BTreeSet, fs as files, path::PathBuf};

use jiff::Timestamp;
use link_protocol::{
    engine_index::{Accelerator, EngineBuild},
    release::{Archive, Channel, Package, SCHEMA, Statement},
    signing::SigningKey,
};

use super::*;

const ARCHIVE: &str = "link-1.0.0-x86_64-unknown-linux-gnu.tar.gz";
const BACKEND: &str = "link-1.0.0-x86_64-unknown-linux-gnu-backend.tar.gz";
const ENGINE: &str = "llama-server-b1.tar.gz";

#[tokio::test]
async fn a_release_with_its_engines_is_served_in_one_step() {
    let bench = Bench::new();
    bench.release(1, "1.0.0", b"programs");
    bench.index(1, b"engine", ENGINE);
    let pulled = bench.pull().await.unwrap();
    assert_eq!(
        (pulled.version.as_deref(), pulled.archives, pulled.engines),
        (Some("1.0.0"), 1, Some(1))
    );
    let names = [
        "SHA256SUMS",
        "engines.json",
        "link-1.0.0.manifest.json",
        ARCHIVE,
        ENGINE,
        "manifest.json",
    ];
    assert_eq!(bench.served(), BTreeSet::from(names.map(str::to_owned)));
    let sums = bench.text(SUMS).await;
    assert!(sums.lines().any(|line| line.ends_with(&format!("  {ARCHIVE}"))), "{sums}");
    assert!(!bench.releases.folder.join(STAGED).exists());
    bench.pull().await.unwrap();
    bench.release(2, "1.0.1", b"newer programs");
    bench.pull().await.unwrap();
    assert_eq!(bench.text(ARCHIVE).await, "newer programs");
    let folders = files::read_dir(&bench.releases.folder).unwrap().flatten();
    assert_eq!(folders.filter(|entry| entry.path().is_dir()).count(), 1);
}

#[tokio::test]
async fn the_archive_for_devices_and_that_for_backends_are_both_served() {
    let bench = Bench::new();
    bench.release(1, "1.0.0", b"device");
    files::write(bench.from.join(BACKEND), b"backend").unwrap();
    let device = Bench::archive(ARCHIVE, Package::Device, b"device");
    let backend = Bench::archive(BACKEND, Package::Backend, b"backend");
    bench.manifest(1, "1.0.0", vec![device, backend]);
    assert_eq!(bench.pull().await.unwrap().archives, 2);
    assert_eq!(bench.text(ARCHIVE).await, "device");
    assert_eq!(bench.text(BACKEND).await, "backend");
    let sums = bench.text(SUMS).await;
    for name in [ARCHIVE, BACKEND] {
        assert!(sums.lines().any(|line| line.ends_with(&format!("  {name}"))), "{sums}");
    }
    files::remove_file(bench.from.join(BACKEND)).unwrap();
    assert!(matches!(bench.pull().await, Err(PullError::Missing(name)) if name == BACKEND));
}

#[tokio::test]
async fn what_is_not_signed_altered_older_or_missing_changes_nothing() {
    let bench = Bench::new();
    bench.release(5, "1.0.0", b"programs");
    bench.index(5, b"engine", ENGINE);
    bench.pull().await.unwrap();
    let served = bench.served();
    let refused = async |what: &str| {
        let error = bench.pull().await.unwrap_err();
        assert_eq!(bench.served(), served, "{what}: {error:?}");
        assert_eq!(bench.text(ARCHIVE).await, "programs", "{what}");
        assert!(!bench.releases.folder.join(STAGED).exists(), "{what}");
        error
    };
    let write = |name: &str, bytes: &[u8]| files::write(bench.from.join(name), bytes).unwrap();

    write(ARCHIVE, b"progrims");
    assert!(matches!(refused("altered").await, PullError::Fetch(FetchError::Altered(_))));
    write(ARCHIVE, b"programs and more");
    assert!(matches!(refused("longer").await, PullError::Fetch(FetchError::TooLong(_))));
    files::remove_file(bench.from.join(ARCHIVE)).unwrap();
    assert!(matches!(refused("missing").await, PullError::Missing(_)));
    std::os::unix::fs::symlink("/dev/zero", bench.from.join(ARCHIVE)).unwrap();
    assert!(matches!(refused("a device").await, PullError::Fetch(FetchError::File { .. })));
    files::remove_file(bench.from.join(ARCHIVE)).unwrap();

    bench.release(4, "0.9.0", b"programs");
    assert!(matches!(refused("older").await, PullError::Older { .. }));
    bench.release(5, "1.0.0", b"programs");
    bench.index(4, b"engine", ENGINE);
    let older = refused("an older index").await;
    assert!(matches!(older, PullError::OlderDocument { served: 5, offered: 4, .. }), "{older:?}");
    bench.index(6, b"engine", ARCHIVE);
    assert!(matches!(refused("one name for two files").await, PullError::Bounds(_)));

    let foreign = Bench { key: SigningKey::from_seed(&[9; 32]), ..bench.again() };
    foreign.release(6, "1.0.0", b"programs");
    assert!(matches!(refused("a foreign release").await, PullError::Release(_)));
    bench.release(6, "1.0.0", b"programs");
    foreign.index(6, b"engine", ENGINE);
    assert!(matches!(refused("a foreign index").await, PullError::Index(_)));
    write(MANIFEST_FILE, &vec![b' '; STATEMENT + 1]);
    assert!(matches!(refused("too long").await, PullError::Fetch(FetchError::TooLong(_))));
    let nobody = pull(&bench.releases, &bench.place(), &Keys(Vec::new()), false).await;
    assert!(matches!(nobody, Err(PullError::Nobody)));
}

#[tokio::test]
async fn a_catalogue_is_served_with_a_release_or_alone_and_is_never_older_or_foreign() {
    let bench = Bench::new();
    bench.catalogue(3, "smol");
    let pulled = bench.pull().await.unwrap();
    assert_eq!((pulled.version, pulled.archives, pulled.models), (None, 0, Some(1)));
    assert!(bench.text(CATALOGUE_FILE).await.contains("smol"));
    bench.release(1, "1.0.0", b"programs");
    assert_eq!(bench.pull().await.unwrap().models, Some(1));
    bench.catalogue(2, "old");
    let older = bench.pull().await.unwrap_err();
    assert!(matches!(older, PullError::OlderDocument { served: 3, offered: 2, .. }), "{older:?}");
    let foreign = Bench { key: SigningKey::from_seed(&[9; 32]), ..bench.again() };
    foreign.catalogue(4, "foreign");
    assert!(matches!(bench.pull().await, Err(PullError::Catalogue(_))));
    assert!(bench.text(CATALOGUE_FILE).await.contains("smol"));
}

#[tokio::test]
async fn a_pull_without_a_document_does_not_open_the_way_for_an_older_one() {
    let bench = Bench::new();
    bench.release(5, "1.0.0", b"programs");
    bench.index(5, b"engine", ENGINE);
    bench.catalogue(5, "smol");
    bench.pull().await.unwrap();
    for name in [INDEX_FILE, CATALOGUE_FILE] {
        files::remove_file(bench.from.join(name)).unwrap();
    }
    let pulled = bench.pull().await.unwrap();
    assert_eq!((pulled.engines, pulled.models), (None, None));
    bench.index(4, b"engine", ENGINE);
    assert!(matches!(bench.pull().await, Err(PullError::OlderDocument { .. })));
    files::remove_file(bench.from.join(INDEX_FILE)).unwrap();
    bench.catalogue(4, "old");
    assert!(matches!(bench.pull().await, Err(PullError::OlderDocument { .. })));
    bench.catalogue(5, "smol");
    files::remove_file(bench.from.join(MANIFEST_FILE)).unwrap();
    bench.pull().await.unwrap();
    bench.release(4, "0.9.0", b"programs");
    assert!(matches!(bench.pull().await, Err(PullError::Older { .. })));
}

#[tokio::test]
async fn only_names_of_the_list_are_opened() {
    let bench = Bench::new();
    bench.release(1, "1.0.0", b"programs");
    bench.pull().await.unwrap();
    for name in
        [".files.json", "..", "../current", "current", ".lock", "", "/etc/passwd", "engines.json"]
    {
        assert!(bench.releases.open(name).await.unwrap().is_none(), "{name}");
    }
}

#[test]
fn releases_come_neither_over_plain_http_nor_from_anything_else() {
    for bad in ["http://a.example", "http://127.0.0.1.a.example/", "ftp://a.example"] {
        assert!(matches!(Place::parse(bad), Err(FetchError::Address(_))), "{bad}");
    }
    for good in ["https://a.example/stable/", "http://127.0.0.1:8000/r", "./folder", "file:///srv"]
    {
        assert!(Place::parse(good).is_ok(), "{good}");
    }
}

struct Bench {
    _dir: Option<tempfile::TempDir>,
    from: PathBuf,
    releases: Releases,
    key: SigningKey,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        files::create_dir(&from).unwrap();
        let releases = Releases::in_folder(dir.path());
        Self { _dir: Some(dir), from, releases, key: SigningKey::from_seed(&[1; 32]) }
    }

    fn again(&self) -> Self {
        let (from, releases) = (self.from.clone(), self.releases.clone());
        Self { _dir: None, from, releases, key: SigningKey::from_seed(&[1; 32]) }
    }

    fn place(&self) -> Place {
        Place::Local(self.from.clone())
    }

    async fn pull(&self) -> Result<Pulled, PullError> {
        let keys = Keys(vec![SigningKey::from_seed(&[1; 32]).verifying().clone()]);
        pull(&self.releases, &self.place(), &keys, false).await
    }

    fn served(&self) -> BTreeSet<String> {
        self.releases.current().unwrap().1.files.into_keys().collect()
    }

    async fn text(&self, name: &str) -> String {
        use tokio::io::AsyncReadExt as _;

        let mut text = String::new();
        let mut found = self.releases.open(name).await.unwrap().unwrap();
        found.file.read_to_string(&mut text).await.unwrap();
        text
    }

    fn release(&self, counter: u64, version: &str, archive: &[u8]) {
        drop(files::remove_file(self.from.join(ARCHIVE)));
        files::write(self.from.join(ARCHIVE), archive).unwrap();
        let archive = Self::archive(ARCHIVE, Package::Everything, archive);
        self.manifest(counter, version, vec![archive]);
    }

    fn archive(name: &str, package: Package, bytes: &[u8]) -> Archive {
        let target = "x86_64-unknown-linux-gnu".to_owned();
        let (size_bytes, sha256) = (bytes.len() as u64, hash(bytes));
        Archive { target, package, name: name.parse().unwrap(), size_bytes, sha256 }
    }

    fn manifest(&self, counter: u64, version: &str, archives: Vec<Archive>) {
        let manifest = Manifest {
            schema: SCHEMA,
            version: version.parse().unwrap(),
            channel: Channel::Stable,
            released_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH,
            counter,
            archives,
        };
        let signed = self.key.seal_release(&Statement::Manifest(manifest));
        files::write(self.from.join(MANIFEST_FILE), serde_json::to_vec(&signed).unwrap()).unwrap();
    }

    fn index(&self, serial: u64, engine: &[u8], file: &str) {
        if file == ENGINE {
            files::write(self.from.join(file), engine).unwrap();
        }
        let build = EngineBuild {
            engine: "llama-server".to_owned(),
            build: "b1".to_owned(),
            system: "linux".to_owned(),
            processor: "x86_64".to_owned(),
            accelerators: vec![Accelerator::Cpu],
            needs: Vec::new(),
            file: file.parse().unwrap(),
            url: None,
            size_bytes: engine.len() as u64,
            unpacked_bytes: 1,
            sha256: hash(engine),
            licence: "MIT".to_owned(),
            obtained: None,
            ran: false,
        };
        let index = EngineIndex { builds: vec![build] };
        let signed = Issue::new(serial, Timestamp::UNIX_EPOCH, index).seal(&self.key).unwrap();
        files::write(self.from.join(INDEX_FILE), serde_json::to_vec(&signed).unwrap()).unwrap();
    }

    fn catalogue(&self, serial: u64, name: &str) {
        let catalogue: Catalogue = serde_json::from_value(serde_json::json!({ "models": [{
            "name": name, "summary": "small", "licence": "Apache-2.0", "file_name": "a.gguf",
            "url": "https://models.example/a.gguf", "sha256": hash(b"a"), "size_bytes": 1,
            "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 2 },
        }]}))
        .unwrap();
        let signed = Issue::new(serial, Timestamp::UNIX_EPOCH, catalogue).seal(&self.key).unwrap();
        files::write(self.from.join(CATALOGUE_FILE), serde_json::to_vec(&signed).unwrap()).unwrap();
    }
}

fn hash(bytes: &[u8]) -> Sha256Hex {
    Sha256Hex::from_digest(&Sha256::digest(bytes))
}
