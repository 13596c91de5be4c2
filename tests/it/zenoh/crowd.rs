//! More devices at once than the router lets in at a time: who is sent away comes again, and nobody
//! waits until it gives up.

use std::sync::Arc;

use link_client::zenoh::DeviceSession;
use link_tests::device::free_port;
use tokio::task::JoinSet;

use super::{backend_with_router, hostile::Hostile};

/// As many as an account may have, nearly; the router lets in 60 at a time, 30 of one address.
const CROWD: u8 = 96;
/// What a session may cost the backend, in KiB.
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
