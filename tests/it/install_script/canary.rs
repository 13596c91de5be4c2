//! A watched key: once the device is registered, the key is stored nowhere.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use link_protocol::key::KeyKind;
use link_tests::{backend::TestBackend, program::Running, wait::until};

use super::scratch::{Scratch, run};

// Holds: S4.4-5, S4.4-1b
#[tokio::test(flavor = "multi_thread")]
async fn a_key_registers_the_device_and_is_then_on_no_disk_and_in_no_process() {
    let backend = TestBackend::start().await;
    for (kind, variable) in
        [(KeyKind::Registration, "LINK_REGISTRATION_KEY"), (KeyKind::Fleet, "LINK_FLEET_KEY")]
    {
        let scratch = Scratch::new();
        let before = scratch.tree();
        let key = backend.key(kind).await;
        // The random part of the key, in case that it is stored without its prefix.
        let canary = &key.expose()[8..28];
        let mut script = scratch.script(&["dash"], &scratch.file_url());
        script.env("LINK_BACKEND_URL", &backend.url).env(variable, key.expose());
        let ran = run(&mut script);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("registered as dev_"), "{ran:?}");
        assert!(!ran.stderr.contains(canary) && !ran.stdout.contains(canary), "{ran:?}");
        let devices = backend.owner.devices().await.unwrap();
        assert_eq!(devices.len(), 1);
        backend.online(devices[0].device_id, true).await;

        assert_eq!(processes_with(canary), [0; 0]);
        for folder in [scratch.path().to_owned(), backend.data()] {
            assert_eq!(files_with(&folder, canary), Vec::<PathBuf>::new());
        }
        assert!(!backend.output().contains(canary));

        scratch.uninstall();
        assert!(scratch.tree() == before, "{:?}", scratch.tree().keys());
        assert!(backend.owner.devices().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_key_that_leaks_would_be_found() {
    let dir = tempfile::tempdir().unwrap();
    let canary = format!("canary-{}", std::process::id());
    std::fs::write(dir.path().join("log"), format!("key {canary}\n")).unwrap();
    assert_eq!(files_with(dir.path(), &canary), [dir.path().join("log")]);
    let mut by_variable = Command::new("sleep");
    by_variable.arg("60");
    by_variable.env("LINK_REGISTRATION_KEY", &canary);
    let mut by_argument = Command::new("sh");
    by_argument.args(["-c", "sleep 60; :", &canary]);
    for command in [by_variable, by_argument] {
        let running = Running::start(command, &dir.path().join("output"));
        until("the process to be found", || async {
            processes_with(&canary).contains(&running.id()).then_some(())
        })
        .await;
    }
}

/// The processes whose arguments or environment contain `text`.
fn processes_with(text: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let has = |file: &str| {
            let found = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&found).contains(text)
        };
        (has("cmdline") || has("environ")).then_some(pid)
    });
    processes.collect()
}

/// The files in a folder that contain `text`.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (vec![], vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                open.push(path);
            } else if metadata.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                let holds = bytes.windows(text.len()).any(|window| window == text.as_bytes());
                found.extend(holds.then_some(path));
            }
        }
    }
    found
}
