//! Follows the README literally: reads each block from the file and types it as a user of a fresh machine. The output
//! must be as in the README, and at the end nothing is left.

use link_protocol::command::Sha256Hex;
use link_tests::{
    booted::{Booted, Flavour, RELEASES},
    engine_index::EngineIndexes,
    engines,
    readme::{Block, blocks, shows},
    release::Releases,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{ALICE, Device};

const OLD: &str = env!("CARGO_PKG_VERSION");
/// The heading of the steps on a person's own machine.
const WAY_IN: &str = "Install, start, ask";
/// The heading of the section whose first block root runs on a server.
const SERVER: &str = "A device elsewhere, a server for several people";
/// The model of the README.
const MODEL: &str = "smollm2-135m";

#[tokio::test]
async fn every_block_of_the_way_in_works_literally_and_prints_what_it_says() {
    let Some(device) = Device::fresh(Flavour::Systemd).await else { return };
    publish(&device.machine).await;
    let blocks = blocks();
    let way_in: Vec<_> = blocks.iter().filter(|block| block.section == WAY_IN).collect();
    let mut printed = String::new();
    let mut count = 0;
    for Block { language, text, .. } in way_in {
        match language.as_str() {
            "sh" => {
                printed = typed(&device.machine, Some(ALICE), text).await;
                count += 1;
            }
            "text" => assert!(shows(&printed, text), "expected\n{text}\nin\n{printed}"),
            other => panic!("nothing is known of a block of `{other}`"),
        }
    }
    assert_eq!(count, 4, "blocks of commands");
    device.has_no_traces().await;

    let server = blocks.iter().find(|block| block.section == SERVER).unwrap();
    let printed = typed(&device.machine, None, &server.text).await;
    assert!(printed.contains("the backend is ready"), "{printed}");
}

/// Types a block into a shell that ends at the first failing command. Without a user, runs it as root.
async fn typed(machine: &Booted, user: Option<&str>, block: &str) -> String {
    let ran = match user {
        Some(user) => machine.login(user, &format!("set -eo pipefail\n{block}")).await,
        None => machine.root(&format!("set -e\n{block}")).await,
    };
    assert_eq!(ran.code, Some(0), "{block}{ran:?}");
    format!("{}\n{}", ran.stdout, ran.stderr)
}

/// Fills the release host with the blocks of the README: a release, an engine index and a catalogue.
async fn publish(machine: &Booted) {
    let (releases, indexes) = (Releases::new(), EngineIndexes::new());
    releases.publish_for("https://releases.example", OLD);
    indexes.publish(1);
    let file = engines::model("tiny.gguf");
    releases.publish_catalogue(&json!({ "models": [{
        "name": MODEL, "summary": "answers in short sentences", "licence": "Apache-2.0",
        "file_name": "tiny.gguf", "url": "https://releases.example/stable/tiny.gguf",
        "sha256": Sha256Hex::from_digest(&Sha256::digest(&file)), "size_bytes": file.len(),
        "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": file.len() },
    }]}));
    let stable = machine.releases().join("stable");
    std::fs::create_dir(&stable).unwrap();
    for from in [releases.folder(), indexes.folder()] {
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, stable.join(path.file_name().unwrap())).unwrap();
        }
    }
    std::fs::write(stable.join("tiny.gguf"), &file).unwrap();
    // The only library that the README requires.
    let library = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";
    std::fs::copy(library, machine.releases().join("libgomp.so.1")).unwrap();
    let install = format!("curl -fsSo {library} {RELEASES}/libgomp.so.1");
    assert_eq!(machine.root(&install).await.code, Some(0));
    // Programs of a development build have no built-in release keys. A shipped build does not need this.
    let keys = format!("LINK_DEV_RELEASE_KEYS={},{}", releases.trusted, indexes.trusted);
    let put = format!(
        "mkdir -p /etc/environment.d && echo {keys} >>/etc/environment && \
         echo {keys} >/etc/environment.d/10-link.conf"
    );
    assert_eq!(machine.root(&put).await.code, Some(0));
}
