//! What has waited too long for its device ends in a running backend, which nobody has to ask for it.

use std::time::Duration;

use link_protocol::{backend_api::command::CommandState, deployment::DeploymentState};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    wait::until,
};
use rusqlite::Connection;

// Holds: S3.1-1, S3.3-2, S4.1-9, S8-1, S8-3
#[tokio::test]
async fn a_repair_expires_and_a_deployment_fails_by_themselves_once_their_time_is_over() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::start(&backend).await;
    let served = backend.serve_tiny(&device).await;
    let other = backend.model_at("other", "https://models.example/other.gguf", b"other").await;
    // The backend has not noticed yet that the device is away, so it takes a repair.
    device.kill();
    let repair =
        backend.owner.repair_serving(served.model_id, device.id, None, "once").await.unwrap();
    let waiting = backend.deploy(other.model_id, device.id, free_port(), true).await;

    let database = Connection::open(backend.data().join("link.db")).unwrap();
    let make_older = |statement: &str, id: String, ms: i64| {
        assert_eq!(database.execute(statement, (id, ms)).unwrap(), 1);
    };
    // A minute before their ends nothing has ended, and behind them everything has.
    for older_by in [(86_340_000, 240_000), (120_000, 120_000)] {
        let commands = "UPDATE commands SET issued_ms = issued_ms - ?2, expires_ms = expires_ms - ?2 \
                        WHERE command_id = ?1";
        let deployments =
            "UPDATE deployments SET created_ms = created_ms - ?2 WHERE deployment_id = ?1";
        make_older(commands, repair.command_id.to_string(), older_by.0);
        make_older(deployments, waiting.deployment_id.to_string(), older_by.1);
        if older_by.0 > older_by.1 {
            // More than one sweep.
            tokio::time::sleep(Duration::from_millis(2_500)).await;
            let sent = backend.owner.command(repair.command_id).await.unwrap();
            let queued = backend.owner.deployment(waiting.deployment_id).await.unwrap();
            assert_eq!((sent.state, queued.state), (CommandState::Sent, DeploymentState::Queued));
        }
    }
    until("the repair to expire", || async {
        let found = backend.owner.command(repair.command_id).await.ok()?;
        (found.state == CommandState::Expired).then_some(())
    })
    .await;
    let failed = backend.ended(waiting.deployment_id).await;
    assert_eq!(failed.state, DeploymentState::Failed);
    assert_eq!(failed.reason.as_deref(), Some("the device did not receive it within 5 minutes"));
}
