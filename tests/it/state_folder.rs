//! The state folder of an agent after somebody has tampered with it.

use std::{
    os::unix::fs::{PermissionsExt as _, chown},
    path::Path,
    process::Command,
};

use link_tests::{backend::TestBackend, device::TestDevice, wait::until};

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_the_place_of_a_state_file_neither_hangs_an_agent_nor_keeps_it_from_ending() {
    let backend = TestBackend::start().await;
    for file in
        ["identity.json", "journal.db", "agent.lock", "configs/session_20260101T000000.json"]
    {
        let mut device = TestDevice::register(&backend).await;
        let pipe = device.home().join("state").join(file);
        std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        drop(std::fs::remove_file(&pipe));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        device.run(&[]);
        until("the agent to say what is wrong", || async {
            device.output().contains("not a regular file").then_some(())
        })
        .await;
        // An agent that refused to start has already ended.
        drop(Command::new("kill").args(["-TERM", &device.agent_pid().to_string()]).output());
        device.died().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_folder_that_others_may_write_is_shut_and_what_is_not_ours_in_it_refused() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::register(&backend).await;
    let state = device.home().join("state");
    open_to_all(&state);
    device.run(&[]);
    backend.online(device.id, true).await;
    assert!(device.output().contains("it is now private"), "{}", device.output());
    assert_eq!(state.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    device.kill();

    let planted = state.join("journal.db-wal");
    std::fs::write(&planted, "planted").unwrap();
    if chown(&planted, Some(65534), Some(65534)).is_err() {
        // Only root can change the owner of a file.
        return;
    }
    open_to_all(&state);
    device.run(&[]);
    until("the agent to refuse it", || async {
        device.output().contains("`journal.db-wal` in it belongs to user 65534").then_some(())
    })
    .await;
    device.died().await;
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}
