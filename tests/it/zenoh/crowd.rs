//! More devices at once than the router admits concurrently: refused devices retry, and none waits
//! until its timeout.

use std::sync::Arc;

use link_client::zenoh::DeviceSession;
use link_tests::device::free_port;
use tokio::task::JoinSet;

use super::{backend_with_router, hostile::Hostile};

/// Nearly the maximum for an account. The router admits 60 connections at a time, 30 per address.
const CROWD: u8 = 96;
/// The maximum memory of the backend per session, in KiB.
const MEMORY: u64 = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_gets_in_at_once() {
    let backend = backend_with_router("tcp", free_port(), &["--zenoh-reserve", "200"]).await;
    let mut crowd = Vec::new();
    for seed in 0..CROWD {
        crowd.push(Hostile::register(&backend, seed).await);
    }
    let before = memory(backend.pid());
    let mut joining = JoinSet::new();
    for one in crowd {
        joining.spawn(async move { DeviceSession::join(&one.access, Arc::clone(&one.key)).await });
    }
    let joined = joining.join_all().await;
    let sent_away: Vec<_> = joined.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(sent_away.is_empty(), "{sent_away:?}");
    let each = memory(backend.pid()).saturating_sub(before) / u64::from(CROWD);
    eprintln!("{each} KiB of the backend for each session");
    assert!(each < MEMORY, "{each} KiB of the backend for each session");
}

/// Returns the resident memory of a process, in KiB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
