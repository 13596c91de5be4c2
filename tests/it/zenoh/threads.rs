//! A TLS link is never read and written at the same time.

use link_protocol::port::Port;
use link_tests::device::free_port;
use serde_json::json;

use super::{backend_with_router, device_on};

/// The thread pools of the router library, by the beginning of their thread names.
const POOLS: [&str; 5] = ["app-", "acc-", "tx-", "rx-", "net-"];

#[tokio::test]
async fn each_program_reads_and_writes_its_links_on_one_thread() {
    let port: Port = free_port();
    let backend = backend_with_router("tls", port, &[]).await;
    let device = device_on(&backend, &json!({"type": "zenoh"})).await;
    for pid in [backend.pid(), device.agent_pid()] {
        // Other threads of this pool take over while one is blocked. Only one of them works.
        let threads = threads(pid);
        assert!(
            !threads.is_empty() && threads.iter().all(|name| name.starts_with("app-")),
            "{threads:?}"
        );
    }
}

fn threads(pid: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let mut names: Vec<_> = names
        .map(|name| name.trim().to_owned())
        .filter(|name| POOLS.iter().any(|pool| name.starts_with(pool)))
        .collect();
    names.sort_unstable();
    names
}
