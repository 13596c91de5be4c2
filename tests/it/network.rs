//! The network between a device and the backend is cut and comes back: everything that was accepted before or meanwhile
//! is done exactly once. Each device has its own network namespace, whose link is cut without a notice to either side.

#![expect(
    clippy::print_stderr,
    reason = "tells how long a recovery took, or why a test is skipped"
)]

use std::time::{Duration, Instant};

use link_protocol::report::CommandResult;
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::{TestDevice, free_port},
    namespace::Namespace,
};
use serde_json::json;

/// Timeout until the backend has noticed the cut: by then both sides have closed the connection.
const NOTICED: Duration = Duration::from_secs(180);

#[tokio::test]
async fn a_cut_network_loses_no_command_over_http() {
    survives_a_cut("http").await;
}

#[tokio::test]
async fn a_cut_network_loses_no_command_over_zenoh() {
    survives_a_cut("zenoh").await;
}

async fn survives_a_cut(transport: &str) {
    let network = match Namespace::make() {
        Ok(network) => network,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let router = format!("tls/{}:{}", network.host, free_port());
    let listen = format!("{}:0", network.host);
    let backend = TestBackend::start_on(&listen, &["--zenoh-listen", &router]).await;
    let mut device = TestDevice::unregistered();
    device.live_in(&network);
    device.register_at(&backend).await;
    device.configure(&json!({"schema_version": "2.1", "transport": {"type": transport}}));
    device.run(&[]);
    backend.online(device.id, true).await;
    let deployment = backend.serve_tiny(&device).await;

    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    network.cut();
    let cut = Instant::now();
    // The backend does not know yet: the first command is lost on its way.
    let key = uuid::Uuid::now_v7().to_string();
    let first = backend.owner.repair_serving(deployment.model_id, device.id, None, &key).await;
    let offline = async {
        while backend.owner.device(device.id).await.unwrap().online {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(NOTICED, offline).await.expect("the backend notices");
    eprintln!("{transport}: the backend called the device offline after {:?}", cut.elapsed());
    let queued = backend.owner.stop(deployment.model_id, device.id).await.unwrap();
    network.mend();

    let mended = Instant::now();
    backend.online(device.id, true).await;
    eprintln!("{transport}: online {:?} after the network was back", mended.elapsed());
    let commands = [first.unwrap().command_id, queued.command_id];
    for command in commands {
        let result = backend.result(command).await.result.unwrap();
        assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    }
    eprintln!("{transport}: everything done {:?} after the network was back", mended.elapsed());
    backend.serving(deployment.deployment_id, false).await;
    for command in commands {
        let said = device.output();
        let finished = said.lines().filter(|line| line.contains("finished"));
        let times = finished.filter(|line| line.contains(&command.to_string())).count();
        assert_eq!(times, 1, "{command}: {said}");
    }
}
