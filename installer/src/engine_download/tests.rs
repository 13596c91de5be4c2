//! The installer downloads builds that the index lists. An archive that is no build of the engine changes nothing.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use link_protocol::{
    command::Sha256Hex,
    engine_index::{EngineIndex, INDEX_FILE},
    signed_document::Issue,
    signing::SigningKey,
};
use sha2::{Digest as _, Sha256};

use super::*;

const RUNS: &str = "#!/bin/sh\necho 'version: 1 (571d0d5)'\n";
const DIES: &str = "#!/bin/sh\nkill -ILL $$\n";

#[tokio::test]
async fn a_build_that_does_not_run_here_is_passed_over_and_said_and_not_downloaded_again() {
    let bench = Bench::new();
    bench.publish(1, &[bench.build("b2", RUNS), bench.build("b1", DIES)]);
    let brought = bench.bring(&["b1", "b2"]).await.unwrap();
    assert_eq!(brought.build, "b2");
    let said = "an accepted build for the processor; passed over: b1 does not run on this machine (a signal ended it)";
    assert_eq!(brought.why, said);
    assert_eq!(bench.installed(), ["b2 current"]);
    assert_eq!(bench.engines().list().unwrap()[0].origin.as_ref().unwrap().why, said);
    assert!(!bench.engines().downloads().exists());

    fs::remove_file(bench.release().join("b1.tar.gz")).unwrap();
    assert_eq!(bench.bring(&["b1", "b2"]).await.unwrap().build, "b2", "it is remembered");
    bench.publish(2, &[bench.build("b1", DIES)]);
    let refused = bench.bring(&["b1"]).await.unwrap_err();
    assert_eq!(refused.exit_code(), ExitCode::SelfCheckFailed);
    assert!(refused.to_string().contains("b1 does not run on this machine"), "{refused}");
}

#[tokio::test]
async fn a_new_build_is_used_and_the_one_before_is_kept() {
    let bench = Bench::new();
    bench.publish(1, &[bench.build("b1", RUNS)]);
    assert_eq!(
        bench.bring(&["b1", "b2"]).await.unwrap().why,
        "the default build for the processor"
    );
    bench.publish(2, &[bench.build("b1", RUNS), bench.build("b2", RUNS)]);
    bench.bring(&["b2", "b1"]).await.unwrap();
    assert_eq!(bench.installed(), ["b1", "b2 current"]);
}

// Holds: S5-5
#[tokio::test]
async fn an_archive_that_is_not_what_the_index_says_leaves_nothing() {
    let bench = Bench::new();
    bench.publish(1, &[bench.build("b1", RUNS)]);
    bench.bring(&["b1"]).await.unwrap();
    let altered = bench.build("b2", RUNS);
    let archive = bench.release().join("b2.tar.gz");
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    bench.publish(2, &[altered]);
    let refused = bench.bring(&["b2"]).await.unwrap_err();
    assert_eq!(refused.exit_code(), ExitCode::ChecksumMismatch, "{refused}");

    let link = bench.pack("b3", |tar| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, "llama-server", "/bin/sh").unwrap();
    });
    bench.publish(3, &[link]);
    let refused = bench.bring(&["b3"]).await.unwrap_err();
    let DownloadError::Engine { source: EngineError::NotPlain(_), .. } = refused else {
        panic!("{refused:?}");
    };

    bench.publish(4, &[bench.build("b4", RUNS)]);
    fs::remove_file(bench.release().join("b4.tar.gz")).unwrap();
    let refused = bench.bring(&["b4"]).await.unwrap_err();
    assert_eq!(refused.exit_code(), ExitCode::DownloadFailed, "{refused}");
    let refused = bench.bring(&["b9"]).await.unwrap_err();
    assert_eq!(refused.exit_code(), ExitCode::UnsupportedPlatform);
    assert!(refused.to_string().ends_with("would do (b9); it has b4"), "{refused}");
    assert_eq!(bench.installed(), ["b1 current"]);
    assert!(!bench.engines().downloads().exists());
}

/// A temporary home, and a folder with an index.
struct Bench {
    dir: tempfile::TempDir,
    roots: Roots,
    key: SigningKey,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("release")).unwrap();
        let roots = Roots::below(&dir.path().join("home"));
        Self { dir, roots, key: SigningKey::from_seed(&[1; 32]) }
    }

    fn release(&self) -> PathBuf {
        self.dir.path().join("release")
    }

    fn engines(&self) -> Engines {
        Engines::of_language_models(&self.roots.engines())
    }

    async fn bring(&self, builds: &[&str]) -> Result<Brought, DownloadError> {
        let builds: Vec<_> = builds.iter().map(ToString::to_string).collect();
        let wanted = Wanted {
            engine: "llama-server".to_owned(),
            executable: "llama-server".to_owned(),
            builds,
        };
        let trust = Trust::new([self.key.verifying().public_key.as_str()]).unwrap();
        let sources = [Source::Local(self.release())];
        let (progress, _seen) = watch::channel(Progress::default());
        let download = Download {
            roots: &self.roots,
            trust: &trust,
            wanted: &wanted,
            sources: &sources,
            again: false,
        };
        download.run(&progress).await
    }

    fn installed(&self) -> Vec<String> {
        let builds = self.engines().list().unwrap().into_iter();
        builds.map(|build| build.name + if build.current { " current" } else { "" }).collect()
    }

    fn publish(&self, serial: u64, builds: &[EngineBuild]) {
        let index = EngineIndex { builds: builds.to_vec() };
        let signed = Issue::new(serial, Timestamp::UNIX_EPOCH, index).seal(&self.key).unwrap();
        fs::write(self.release().join(INDEX_FILE), serde_json::to_vec(&signed).unwrap()).unwrap();
    }

    /// Creates an archive whose engine is `script`.
    fn build(&self, name: &str, script: &str) -> EngineBuild {
        let program = self.dir.path().join("llama-server");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.pack(name, |tar| tar.append_path_with_name(&program, "bin/llama-server").unwrap())
    }

    fn pack(
        &self,
        name: &str,
        fill: impl FnOnce(&mut tar::Builder<GzEncoder<Vec<u8>>>),
    ) -> EngineBuild {
        let mut made = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        fill(&mut made);
        let archive = made.into_inner().unwrap().finish().unwrap();
        let file = format!("{name}.tar.gz");
        fs::write(self.release().join(&file), &archive).unwrap();
        EngineBuild {
            engine: "llama-server".to_owned(),
            build: name.to_owned(),
            system: facts::os().to_owned(),
            processor: facts::arch().to_owned(),
            accelerators: vec![Accelerator::Cpu],
            needs: Vec::new(),
            file: file.parse().unwrap(),
            url: None,
            size_bytes: archive.len() as u64,
            unpacked_bytes: 1000,
            sha256: Sha256Hex::from_digest(&Sha256::digest(&archive)),
            licence: "MIT".to_owned(),
            obtained: None,
            ran: false,
        }
    }
}
